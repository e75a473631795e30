import { mkdir, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { withServers } from "./server-process.mjs";
import { printTable } from "./table.mjs";

/**
 * A request that is built to be slow.
 *
 * @typedef {object} Attack
 * @property {string} name
 * @property {() => string} page The document, HTML unless `isXml`.
 * @property {string} selector
 * @property {string} [method] `"GET"` unless it is another one.
 * @property {string} [content] Of the request.
 * @property {boolean} [isXml]
 */

/**
 * What came of it.
 *
 * @typedef {object} Outcome
 * @property {string} name
 * @property {number} status
 * @property {string} code Of the error; `""` for none.
 * @property {number} ms Until the answer was there.
 * @property {number} neighbourMs The longest that anybody else waited meanwhile.
 */

const mebi = 1024 * 1024;

/** @type {(count: number, part: (index: number) => string, separator?: string) => string} */
const parts = (count, part, separator = "") => Array.from({ length: count }, (_, index) => part(index)).join(separator);
/** @type {(text: string, length: number) => string} */
const fill = (text, length) => text.repeat(Math.ceil(length / text.length));

const attack = (/** @type {any} */ [name, page]) => ({ name, page, selector: "p" });

/** Documents in which error recovery, one endless token, or sheer number is expensive. @type {readonly Attack[]} */
export const documents = [
  ["200,000 nested elements", () => "<div>".repeat(200_000)],
  ["200,000 nested svg", () => "<svg>".repeat(200_000)],
  ["200,000 nested templates", () => "<template>".repeat(200_000)],
  ["1,000,000 attributes of one element", () => `<a ${parts(1_000_000, (i) => `a${i}`, " ")}>`],
  ["1,000,000 times one attribute", () => `<a ${fill("b ", 2_000_000)}>`],
  ["100,000 tag names", () => parts(100_000, (i) => `<x${i}></x${i}>`)],
  ["100,000 ids", () => parts(100_000, (i) => `<p id=x${i}>`)],
  ["formatting reopened in each paragraph", () => fill("<b><p>", mebi / 4)],
  ["500 kinds of formatting reopened", () => parts(500, (i) => `<p><font size=${i}>`)],
  ["mis-nested formatting, 400 levels", () => parts(400, (i) => `<b id=${i}>`) + fill("<p></b>", mebi)],
  ["links in links", () => fill("<a><p>", mebi / 2)],
  ["tables in tables", () => fill("<table><table>", mebi)],
  ["text moved out of tables", () => `<table>${fill("<p>a", mebi / 2)}`],
  ["500,000 end tags of nothing", () => fill("</p>", 2 * mebi)],
  ["end tags of nothing, 500 levels deep", () => "<div>".repeat(500) + fill("</x>", mebi)],
  ["list items, 500 levels deep", () => "<div>".repeat(500) + fill("<li>", mebi / 2)],
  ["a select full of junk", () => `<select>${fill("<option>a<b>", mebi)}`],
  ["an endless comment", () => `<!--${fill("x", 4 * mebi)}`],
  ["a million beginnings of comments", () => fill("<!--", 4 * mebi)],
  ["an endless attribute of references", () => `<a b="${fill("&amp;", 4 * mebi)}">`],
  ["an endless tag name", () => `<${fill("x", 4 * mebi)}`],
  ["a million beginnings of tags", () => fill("<a ", 3 * mebi)],
  ["a million NULs", () => fill("\0", 4 * mebi)],
  ["a million carriage returns", () => fill("\r", 2 * mebi)],
  ["16 MiB of plain text", () => fill("some words\n", 16 * mebi - 100)],
  ["16 MiB of elements", () => fill("<b></b>", 16 * mebi - 100)],
].map(attack);

/** The same for XML. @type {readonly Attack[]} */
export const xmlDocuments = [
  ["XML: 200,000 nested elements", () => "<a>".repeat(200_000)],
  ["XML: a billion laughs", () => `<!DOCTYPE a [<!ENTITY l0 "lol">${laughs(30)}]><a>&l30;</a>`],
  [
    "XML: a long entity, a million times",
    () => `<!DOCTYPE a [<!ENTITY l "${fill("x", 60_000)}">]><a>${fill("&l;", mebi)}</a>`,
  ],
  ["XML: an endless doctype", () => `<!DOCTYPE a [${fill("<!ENTITY ", 4 * mebi)}`],
  [
    "XML: 20,000 namespaces",
    () => `<r><a ${parts(3900, (i) => `xmlns:a${i}="u"`, " ")}>${fill("<b xmlns='x'/>", mebi)}</a></r>`,
  ],
].map((each) => ({ ...attack(each), isXml: true }));

const siblings = () => `<!doctype html><main>${parts(20_000, (i) => `<p class="a b${i}"></p>`)}</main>`;
const nested = () => `<!doctype html>${fill(`${"<div>".repeat(480)}${"</div>".repeat(480)}`, 200_000)}`;
const longAttribute = () =>
  `<!doctype html>${parts(200, () => `<p class="${fill("ab ", 20_000)}" lang=en dir=auto>x</p>`)}`;

/** Selectors that take long where they are evaluated without care. @type {readonly Attack[]} */
export const selectors = [
  ["p:nth-child(2n+1)", siblings],
  ["p:nth-of-type(3n)", siblings],
  ["p:nth-last-child(2n of .a)", siblings],
  ["p:nth-child(2 of p:nth-child(n of p:nth-last-child(n of p)))", siblings],
  ["p:last-of-type, p:first-of-type, p:only-of-type", siblings],
  ["p:has(+ p)", siblings],
  ["p:has(~ p:last-child)", siblings],
  ["p:has(~ p ~ p ~ p ~ .nowhere)", siblings],
  ["main:has(p:not(:has(~ p)))", siblings],
  ["p ~ p ~ p ~ p ~ .nowhere", siblings],
  ["p + p + p + p + p + p + p + p + p ~ p ~ p", siblings],
  [`${":is(".repeat(60)}p${")".repeat(60)}`, siblings],
  [parts(60, (i) => `:not(.b${i})`), siblings],
  [`p${fill("[class~=a]", 4000)}`, siblings],
  [parts(60, () => "p", " ~ "), siblings],
  [parts(60, () => "div", " "), nested],
  [parts(60, () => "div", " > "), nested],
  ["div:has(div div div div div div div div .nowhere)", nested],
  ["div:not(:has(div))", nested],
  [":has(:has(:has(p)))", nested],
  ["div:nth-child(n):nth-last-child(n):nth-of-type(n) div", nested],
  ["[class$='ab ab'], [class*='b a b'], .nowhere", longAttribute],
  [":lang(en-US), :dir(rtl), :lang('*-DE')", longAttribute],
  ["*", siblings],
].map(([selector, page]) => ({
  name: /** @type {string} */ (selector),
  page: /** @type {() => string} */ (page),
  selector: /** @type {string} */ (selector),
}));

/** Edits that touch much. @type {readonly Attack[]} */
export const edits = [
  { name: "POST to *", method: "POST", selector: "*", page: siblings, content: "<i>x</i>" },
  { name: "POST to p, 9,000 of them", method: "POST", selector: "p:nth-child(-n+9000)", page: siblings, content: "x" },
  { name: "PUT of p, 9,000 of them", method: "PUT", selector: "p:nth-child(-n+9000)", page: siblings, content: "<p>x" },
  { name: "DELETE of p, 9,000 of them", method: "DELETE", selector: "p:nth-child(-n+9000)", page: siblings },
  { name: "PUT of 100,000 tags", method: "PUT", selector: ".b1", page: siblings, content: fill("<i></i>", 700_000) },
  {
    name: "POST of 10,000 nested tags",
    method: "POST",
    selector: ".b1",
    page: siblings,
    content: "<i>".repeat(10_000),
  },
];

/** @param {number} count */
function laughs(count) {
  return parts(count, (i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`);
}

/**
 * Sends each of them to a server, one after the other, while others ask for something small.
 *
 * @param {string} root A directory for the documents, which the server serves.
 * @param {readonly Attack[]} attacks
 */
export async function withstand(root, attacks) {
  await mkdir(root, { recursive: true });
  await writeFile(join(root, "health.txt"), "healthy");
  const paths = new Map(attacks.map((attack, index) => [attack, `/attack-${index}.${attack.isXml ? "xml" : "html"}`]));
  for (const [{ page }, path] of paths) await writeFile(join(root, path), page());
  return withServers([["filement", "filement", [root, "rename"]]], async ([server]) => {
    if (!server) throw new Error("the server is missing");
    const { port } = server;
    await send(port, "GET", "/health.txt");
    /** @type {Outcome[]} */
    const outcomes = [];
    for (const [attack, path] of paths) outcomes.push(await outcomeOf(port, attack, path));
    return outcomes;
  });
}

/**
 * @param {number} port
 * @param {Attack} attack
 * @param {string} path
 */
async function outcomeOf(port, { name, method = "GET", selector, content }, path) {
  let isAnswered = false;
  const startedAt = performance.now();
  const answer = send(port, method, path, { range: `selector=${selector}` }, content).finally(() => {
    isAnswered = true;
  });
  let neighbourMs = 0;
  do {
    const askedAt = performance.now();
    await send(port, "GET", "/health.txt");
    neighbourMs = Math.max(neighbourMs, performance.now() - askedAt);
  } while (!isAnswered);
  const { status, body, endedAt } = await answer;
  const code = status >= 400 ? JSON.parse(body).code : "";
  return { name, status, code, ms: endedAt - startedAt, neighbourMs };
}

const agent = new Agent({ keepAlive: true });

/**
 * @param {number} port
 * @param {string} method
 * @param {string} path
 * @param {Readonly<Record<string, string>>} [headers]
 * @param {string} [content]
 */
function send(port, method, path, headers = {}, content) {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", method, path, headers, agent }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
        if (body.length < 10_000) body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body, endedAt: performance.now() }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(content);
  });
}

/**
 * Requests that are built to be slow: how long each takes, and how long everybody else waits meanwhile.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function adversarial(directory, { rounds }) {
  const groups = /** @type {const} */ ([
    ["Documents built to be slow", [...documents, ...xmlDocuments]],
    ["Selectors built to be slow", selectors],
    ["Edits built to be slow", edits],
  ]);
  for (const [title, attacks] of groups) {
    const chosen = rounds > 1 ? attacks : attacks.filter((_, index) => index % 8 === 0);
    const outcomes = await withstand(join(directory, title.replaceAll(" ", "-")), chosen);
    const rows = outcomes.map(({ name, status, code, ms, neighbourMs }) => [
      name.length > 60 ? `${name.slice(0, 57)}...` : name,
      `${status} ${code}`.trim(),
      ms.toFixed(0),
      neighbourMs.toFixed(0),
    ]);
    printTable(title, ["request", "answer", "ms", "others waited, ms"], rows);
  }
}
