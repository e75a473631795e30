import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { createFileServer } from "../../dist/index.js";
import { edits, selectors, xmlDocuments } from "./adversarial.mjs";
import { longestTurn } from "./longest-turn.mjs";
import { printTable } from "./table.mjs";

/** How often a process does its work after the first time. */
const repetitions = 5;

/**
 * Prepares something costly that a server does, in a directory of its own; gives what does it once.
 *
 * @typedef {(root: string) => Promise<() => Promise<void>>} Work
 */

/** @type {(length: number, part: (index: number) => string) => string} */
const parts = (length, part) => Array.from({ length }, (_, index) => part(index)).join("");

const pages = {
  "1 MB": () =>
    parts(
      10_000,
      (i) =>
        `<section id=s${i}><h2>Heading ${i}</h2><p>Some <b>bold</b> words, a <a href=#>link</a>, and others.</section>\n`,
    ),
  "60,000 paragraphs": () =>
    `<!doctype html><title>x</title>${parts(60_000, (i) => `<p id=s${i}>Paragraph ${i}</p>\n`)}`,
  "300,000 siblings": () => `<!doctype html><ul>${parts(300_000, (i) => `<li id=s${i}>${i}</li>`)}</ul>`,
  "5 MB of <div>": () => parts(450_000, (i) => (i === 5000 ? "<div id=s5000></div>" : "<div></div>")),
};

/** @type {Readonly<Record<string, Work>>} */
const works = Object.fromEntries([
  ...Object.entries(pages).flatMap(([name, page]) => [
    [`GET of an element, ${name}`, elements({ page, selector: "#s5000" })],
    [
      `PUT of an element, ${name}`,
      elements({ page, selector: "#s5000", method: "PUT", content: "<p id=s5000>new</p>" }),
    ],
  ]),
  ...edits.map((edit) => [edit.name, elements(edit)]),
  ...xmlDocuments.slice(-1).map((document) => [document.name, elements(document)]),
  ...selectors.map((attack) => [attack.selector, elements(attack)]),
]);

/**
 * A request for elements of one page, which stays in the cache.
 *
 * @param {Omit<import("./adversarial.mjs").Attack, "name">} attack
 * @returns {Work}
 */
function elements({ page, selector, method = "GET", content, isXml }) {
  return async (root) => {
    const name = isXml ? "page.xml" : "page.html";
    await writeFile(join(root, name), page());
    const files = createFileServer({ root, documentCacheSize: 512 * 1024 * 1024 });
    const init = { method, headers: { range: `selector=${selector}` }, ...(content && { body: content }) };
    return () => ask(files, new Request(`http://localhost/${name}`, init));
  };
}

/**
 * @param {import("../../dist/index.js").FileServer} files
 * @param {Request} request
 */
async function ask(files, request) {
  const response = await files.fetch(request);
  if (response.status >= 500) throw new Error(`${request.url}: ${response.status} ${await response.text()}`);
  for await (const _ of response.body ?? []);
}

/**
 * How long single turns of the event loop take, in processor time of its thread, in what holds it longest: at the first
 * request of a process, when code is not compiled yet, and at later ones.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function turns(directory, { rounds }) {
  const names = Object.keys(works).filter((_, index) => rounds > 1 || index % 8 === 0);
  /** @type {string[][]} */
  const rows = [];
  for (const [index, name] of names.entries()) {
    const root = join(directory, `turns-${index}`);
    await mkdir(root);
    const child = fork(import.meta.filename, [name, root]);
    const [[first, ...later]] = await Promise.race([
      once(child, "message"),
      once(child, "exit").then(([code]) => Promise.reject(new Error(`${name}: the process ended with ${code}`))),
    ]);
    await rm(root, { recursive: true });
    rows.push([name.length > 60 ? `${name.slice(0, 57)}...` : name, first.toFixed(0), Math.max(...later).toFixed(0)]);
  }
  const columns = ["request", "first of a process, ms", `longest of ${repetitions} later ones, ms`];
  printTable("Longest turn of the event loop, in processor time", columns, rows);
}

if (process.send && process.argv[1] === import.meta.filename) {
  const [name = "", root = ""] = process.argv.slice(2);
  const work = await works[name]?.(root);
  if (!work) throw new Error(`no work ${name}`);
  const longest = [];
  for (let n = 0; n <= repetitions; n += 1) {
    longest.push(await longestTurn(work));
    await turn();
  }
  process.send(longest);
  process.exit();
}
