import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { createFileServer } from "../../dist/index.js";
import { longestTurn, processorMs } from "./longest-turn.mjs";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

/** An entry of a listing that nobody reads may cost so many bytes of the heap. */
const mostBytesPerName = 400;

/** Listings of one directory, and what to ask for. */
const kinds = [
  { name: "JSON, everything", search: "", accept: "application/json" },
  { name: "JSON, by size", search: "?sort=size", accept: "application/json" },
  { name: "JSON, ?limit=1000", search: "?limit=1000", accept: "application/json" },
  { name: "HTML", search: "", accept: "text/html" },
];

/**
 * @typedef {object} Cost
 * @property {string} name
 * @property {number} ms
 * @property {number} processorMs Of the thread that runs the event loop; so the next.
 * @property {number} longestTurnMs
 * @property {number} heapBytes Of a listing of which nothing has been read, for each entry of its page.
 */

/**
 * What listings of a large directory on the disk cost in time, in turns of the event loop, and in memory.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function listings(directory, { rounds }) {
  const entries = rounds > 1 ? 100_000 : 2_000; // a single round is a trial
  const root = join(directory, "listings");
  await mkdir(root);
  for (let n = 0; n < entries; n += 100) {
    const names = Array.from({ length: 100 }, (_, i) => `photo ${((n + i) * 7919) % entries} of a holiday.jpeg`);
    await Promise.all(names.map((name) => writeFile(join(root, name), "")));
  }
  /** @type {Cost[]} */
  const costs = [];
  for (let round = 0; round < Math.min(rounds, 3); round += 1) {
    const child = fork(import.meta.filename, [root], { execArgv: ["--expose-gc"] });
    const [measured] = await once(child, "message");
    costs.push(...measured);
    await once(child, "exit");
  }
  const rows = kinds.map(({ name }) => {
    const own = costs.filter((cost) => cost.name === name);
    const heapBytes = median(own.map((cost) => cost.heapBytes));
    if (rounds > 1 && heapBytes > mostBytesPerName) throw new Error(`${name}: an entry took ${heapBytes} bytes`);
    return [
      name,
      median(own.map(({ ms }) => ms)).toFixed(0),
      median(own.map(({ processorMs }) => processorMs)).toFixed(0),
      median(own.map(({ longestTurnMs }) => longestTurnMs)).toFixed(1),
      heapBytes.toFixed(0),
    ];
  });
  const columns = ["listing", "ms", "processor ms", "longest turn, processor ms", "heap for each entry unread, bytes"];
  printTable(`Listings of ${entries.toLocaleString("en")} entries`, columns, rows);
}

/** @param {string} root */
async function costsOf(root) {
  const files = createFileServer({ root });
  /** @param {{ search: string, accept: string }} kind */
  const ask = ({ search, accept }) => files.fetch(new Request(`http://localhost/${search}`, { headers: { accept } }));
  const costs = [];
  for (const kind of kinds) {
    const text = await (await ask(kind)).text(); // everything is loaded
    const shown = text.split(kind.accept === "text/html" ? '<th scope="row">' : '"name":').length - 1;
    const before = await heap();
    const unread = await ask(kind);
    const heapBytes = ((await heap()) - before) / shown;
    await unread.body?.cancel();
    const startedAt = performance.now();
    const startedWith = processorMs();
    const longestTurnMs = await longestTurn(async () => {
      for await (const _ of (await ask(kind)).body ?? []);
    });
    const cost = { ms: performance.now() - startedAt, processorMs: processorMs() - startedWith };
    costs.push({ name: kind.name, ...cost, longestTurnMs, heapBytes });
  }
  await files.close();
  return costs;
}

/** What is in use, without what only waits to be collected. */
async function heap() {
  for (let n = 0; n < 4; n += 1) {
    globalThis.gc?.();
    await turn();
  }
  return process.memoryUsage().heapUsed;
}

if (process.send && process.argv[1] === import.meta.filename) {
  const [root = ""] = process.argv.slice(2);
  process.send(await costsOf(root));
  process.disconnect();
}
