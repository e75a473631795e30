import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseDocument as parseHtmlparser2 } from "htmlparser2";
import { parse as parse5 } from "parse5";
import { atOnce } from "../../build/event-loop/sliced-work.js";
import { parseDocument } from "../../build/html/document/parse-document.js";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

const directory = fileURLToPath(new URL("../../node_modules/htmlparser-benchmark/files/", import.meta.url));

/** @type {Readonly<Record<string, (page: Buffer) => unknown>>} */
const parsers = {
  filement: (page) => atOnce(parseDocument("html", page)),
  "parse5 with positions": (page) => parse5(page.toString(), { sourceCodeLocationInfo: true }),
  parse5: (page) => parse5(page.toString()),
  "htmlparser2 with positions": (page) =>
    parseHtmlparser2(page.toString(), { withStartIndices: true, withEndIndices: true }),
};

/**
 * Why HTML is parsed by code of our own: how far the trees of htmlparser2 agree with the browser's, and what trees
 * cost in time and memory, over the 258 pages of `htmlparser-benchmark`.
 *
 * @param {string} _directory
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function trees(_directory, { rounds }) {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".html")).sort();
  const chosen = rounds > 1 ? names : names.filter((_, index) => index % 32 === 0);
  const pages = await Promise.all(chosen.map((name) => readFile(directory + name)));

  let elements = 0;
  let agreeing = 0;
  let withPlace = 0;
  let identical = 0;
  for (const page of pages) {
    const { root } = atOnce(parseDocument("html", page));
    const other = parseHtmlparser2(page.toString(), { withStartIndices: true });
    const all = count(root, () => true);
    const agreed = agreement(root, other);
    elements += all;
    agreeing += agreed;
    withPlace += count(root, ({ startIndex }) => startIndex !== null);
    if (agreed === all) identical += 1;
  }
  const share = (/** @type {number} */ part) => `${((100 * part) / elements).toFixed(1)} %`;
  printTable(
    "Trees",
    [`${elements.toLocaleString("en")} elements of ${pages.length} pages`, "number", "share"],
    [
      [
        "of htmlparser2's tree with the path that they have in a browser",
        agreeing.toLocaleString("en"),
        share(agreeing),
      ],
      [
        "of Filement's tree with characters of their own in the source",
        withPlace.toLocaleString("en"),
        share(withPlace),
      ],
      [
        "pages whose tree htmlparser2 makes as a browser does",
        String(identical),
        `${Math.round((100 * identical) / pages.length)} %`,
      ],
    ],
  );

  /** @type {Map<string, number[]>} */
  const times = new Map(Object.keys(parsers).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, parse] of Object.entries(parsers)) {
      const startedAt = performance.now();
      for (const page of pages) await parse(page);
      if (round > 0) times.get(name)?.push(performance.now() - startedAt);
    }
  }
  const bytes = pages.reduce((sum, { length }) => sum + length, 0);
  const rows = [];
  for (const [name, parse] of Object.entries(parsers)) {
    const megabytes = (await memoryOf(() => Promise.all(pages.map(parse)))) / 1e6;
    const seconds = median(times.get(name) ?? []) / 1000;
    rows.push([name, (bytes / 1e6 / seconds).toFixed(1), megabytes.toFixed(0), (megabytes / (bytes / 1e6)).toFixed(1)]);
  }
  printTable("Cost of a tree", ["", "MB/s", "MB for all pages", "bytes for one of the page"], rows);
}

/**
 * @typedef {object} AnyElement
 * @property {string} type
 * @property {string} name
 * @property {number | null} startIndex
 * @property {readonly AnyNode[]} children
 */
/** @typedef {{ readonly type: string, readonly children?: readonly AnyNode[] }} AnyNode */

/**
 * @param {AnyNode} root
 * @param {(element: AnyElement) => boolean} isCounted
 */
function count(root, isCounted) {
  let counted = 0;
  const waiting = elementsOf(root);
  for (let element = waiting.pop(); element; element = waiting.pop()) {
    if (isCounted(element)) counted += 1;
    waiting.push(...elementsOf(element));
  }
  return counted;
}

/**
 * How many elements a path such as `html:nth-child(1) > body:nth-child(2)` leads to in both trees: the same element, which
 * begins at the same place.
 *
 * @param {AnyNode} standard
 * @param {AnyNode} other
 */
function agreement(standard, other) {
  let agreeing = 0;
  /** @type {[AnyNode, AnyNode][]} */
  const waiting = [[standard, other]];
  for (let pair = waiting.pop(); pair; pair = waiting.pop()) {
    const [ours, theirs] = pair.map(elementsOf);
    for (const [index, element] of (ours ?? []).entries()) {
      const counterpart = theirs?.[index];
      if (!counterpart || counterpart.name !== element.name) continue;
      if (element.startIndex !== null && element.startIndex !== counterpart.startIndex) continue;
      agreeing += 1;
      waiting.push([/** @type {any} */ (element), /** @type {any} */ (counterpart)]);
    }
  }
  return agreeing;
}

/**
 * @param {AnyNode} node
 * @returns {AnyElement[]}
 */
function elementsOf({ children = [] }) {
  return /** @type {AnyElement[]} */ (/** @type {unknown} */ (children.filter((child) => "attribs" in child)));
}

/**
 * Bytes that stay in use while the result of some work does.
 *
 * @param {() => Promise<unknown>} work
 */
async function memoryOf(work) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const inUse = () => {
    for (let i = 0; i < 3; i += 1) collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = inUse();
  const result = await work();
  const after = inUse();
  return result ? after - before : 0;
}
