import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createFileServer, memoryStorage } from "filement";
import { parseDocument } from "htmlparser2";
import { lolHtml } from "./element-libraries.mjs";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

const directory = fileURLToPath(new URL("../../node_modules/htmlparser-benchmark/files/", import.meta.url));
const markup = /<(?:a|div|li|p|span|ul)\b[^>]*\sid="([A-Za-z][\w-]*)"/g;
const smallElement = 600;

/**
 * Something that is done to a page: what is timed, and what is done before and after it. `before` makes what the client has,
 * such as its request.
 *
 * @typedef {object} Work
 * @property {string} name
 * @property {(page: Page, round: number) => any} before
 * @property {(made: any) => unknown} run
 * @property {(page: Page) => unknown} [after]
 */

/** @typedef {{ path: string, bytes: Buffer, target: string, html: string }} Page */

/**
 * Requests for elements in processor time of all threads, beside `htmlparser2.parseDocument` of the same 258 pages: of a page
 * that was not parsed before, of one in the cache, and edits of one small element in the middle of a page. The first two
 * columns are those of the median page.
 *
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function elementRequests({ rounds }) {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".html")).sort();
  const chosen = rounds > 1 ? names : names.filter((_, index) => index % 32 === 0);
  const contents = Object.fromEntries(
    await Promise.all(chosen.map(async (name) => [`/${name}`, await contentOf(name)])),
  );
  const warm = createFileServer({ storage: memoryStorage(contents), documentCacheSize: 1024 ** 3 });
  const cold = createFileServer({ storage: memoryStorage(contents), documentCacheSize: 1 });
  const pages = await Promise.all(Object.entries(contents).map(([path, bytes]) => pageOf(warm, path, bytes)));

  /** @type {Work[]} */
  const works = [
    {
      name: "htmlparser2.parseDocument",
      before: ({ bytes }) => bytes,
      run: (bytes) => parseDocument(bytes.toString()),
    },
    {
      name: "lol-html, p a[href]",
      before: ({ bytes, path }) => [bytes, path],
      run: ([bytes]) => lolHtml.read(bytes, 0),
    },
    asking(cold, "GET p a[href], page not parsed before", ({ path }) => request(path, "p a[href]")),
    asking(warm, "GET p a[href], page in the cache", ({ path }) => request(path, "p a[href]")),
    asking(warm, "GET title, page in the cache", ({ path }) => request(path, "title")),
    asking(warm, "PUT title", ({ path }, round) => request(path, "title", "PUT", `<title>${round}</title>`)),
    asking(warm, "PUT of a small element", ({ path, target, html }) => request(path, target, "PUT", html)),
    {
      ...asking(warm, "POST to a small element", ({ path, target }) => request(path, target, "POST", "<b>1</b>")),
      after: ({ path, target, html }) => answered(warm, request(path, target, "PUT", html)),
    },
  ];
  /** @type {Map<Work, number[][]>} */
  const times = new Map(works.map((work) => [work, pages.map(() => [])]));
  const warming = rounds > 1 ? 4 : 1; // code is compiled, and pages are parsed
  for (let round = -warming; round < rounds; round += 1) {
    for (const work of works) {
      for (const [index, page] of pages.entries()) {
        const made = work.before(page, round);
        const begun = process.cpuUsage();
        await work.run(made);
        const { user, system } = process.cpuUsage(begun);
        if (round >= 0) times.get(work)?.[index]?.push(user + system);
        await work.after?.(page);
      }
    }
  }
  const [units = [], ...others] = works.map((work) => (times.get(work) ?? []).map(median));
  const rows = [units, ...others].map((ofPages, index) => {
    const ratio = median(ofPages.map((time, page) => time / (units[page] ?? time)));
    const name = works[index]?.name ?? "";
    return [name, (median(ofPages) / 1000).toFixed(3), ratio.toFixed(3), (sum(ofPages) / sum(units)).toFixed(3)];
  });
  const title = `Processor time of requests for elements, ${pages.length} pages`;
  printTable(title, ["", "ms", "of htmlparser2.parseDocument", "all pages together"], rows);
  await Promise.all([warm.close(), cold.close()]);
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** @param {string} name */
function contentOf(name) {
  return readFile(directory + name);
}

/**
 * A page, and a small element of it with an id, as near to its middle as there is one; where there is none, its title.
 *
 * @param {import("filement").FileServer} files
 * @param {string} path
 * @param {Buffer} bytes
 * @returns {Promise<Page>}
 */
async function pageOf(files, path, bytes) {
  const text = bytes.toString("latin1");
  const found = [...text.matchAll(markup)].sort((a, b) => distance(a, text) - distance(b, text));
  for (const [, id] of found) {
    const target = `#${id}`;
    const { matches, html } = await answered(files, request(path, target));
    if (matches !== "1" || html.length > smallElement) continue;
    const edits = [request(path, target, "POST", "<b>1</b>"), request(path, target, "PUT", html)];
    const statuses = [];
    for (const edit of edits) statuses.push((await answered(files, edit)).status);
    if (statuses.every((status) => status === 206)) return { path, bytes, target, html };
  }
  const { html } = await answered(files, request(path, "title"));
  return {
    path,
    bytes,
    target: "title",
    html: html.length > 0 && html.length <= smallElement ? html : "<title>a</title>",
  };
}

/** @type {(match: RegExpMatchArray, text: string) => number} */
const distance = ({ index = 0 }, text) => Math.abs(index - text.length / 2);

/**
 * @param {import("filement").FileServer} files
 * @param {string} name
 * @param {Work["before"]} before
 * @returns {Work}
 */
function asking(files, name, before) {
  return { name, before, run: (asked) => answered(files, asked) };
}

/**
 * @param {string} path
 * @param {string} selector
 * @param {string} [method]
 * @param {string} [body]
 */
function request(path, selector, method = "GET", body) {
  const headers = { range: `selector=${selector}` };
  return new Request(`http://localhost${path}`, { method, headers, ...(body !== undefined && { body }) });
}

/**
 * @param {import("filement").FileServer} files
 * @param {Request} asked
 */
async function answered(files, asked) {
  const { method } = asked;
  const reply = await files.fetch(asked);
  if (reply.status >= 500) throw new Error(`${method} was answered ${reply.status}`);
  return { status: reply.status, matches: reply.headers.get("x-selector-matches"), html: await reply.text() };
}
