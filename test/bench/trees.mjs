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
 * What trees cost in time and memory, over the 258 pages of `htmlparser-benchmark`.
 *
 * @param {string} _directory
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function trees(_directory, { rounds }) {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".html")).sort();
  const chosen = rounds > 1 ? names : names.filter((_, index) => index % 32 === 0);
  const pages = await Promise.all(chosen.map((name) => readFile(directory + name)));

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
