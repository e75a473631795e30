import { load } from "./load.mjs";
import { hasWrk, loadWithWrk } from "./wrk.mjs";

const drive = hasWrk ? loadWithWrk : load;

/** What drives the servers, as a sentence. */
export const driver = hasWrk
  ? "Driven by wrk, one thread."
  : "wrk is not installed: driven by Node, which saturates before the fastest servers do.";

/**
 * How long to measure.
 *
 * @typedef {object} Effort
 * @property {number} rounds
 * @property {number} ms Time for each server in each round.
 * @property {number} largeBytes Size of the file with which memory is measured.
 * @property {string} [before] Compiled library of an earlier version, to compare with.
 */

/**
 * Measures several servers with one task, in turns, so that whatever else the machine does meets all of them alike.
 * The medians of the rounds, in the order of the servers.
 *
 * @param {readonly import("./server-process.mjs").ServerProcess[]} servers
 * @param {import("./load.mjs").Task | ((port: number) => Promise<import("./load.mjs").Task>)} asked A task, or the one for a server.
 * @param {Effort} effort
 * @returns {Promise<{ name: string, load: import("./load.mjs").Load }[]>}
 */
export async function measure(servers, asked, { rounds, ms }) {
  /** @type {Map<string, import("./load.mjs").Load[]>} */
  const loads = new Map(servers.map(({ name }) => [name, []]));
  const tasks = await Promise.all(
    servers.map(async ({ name, port }) => ({
      name,
      port,
      task: typeof asked === "function" ? await asked(port) : asked,
    })),
  );
  // Compiled and warm, and each status is looked at.
  for (const { port, task } of tasks) await load(port, task, ms / 2);
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, port, task } of tasks) loads.get(name)?.push(await drive(port, task, ms));
  }
  return [...loads].map(([name, each]) => ({
    name,
    load: {
      requestsPerSecond: median(each.map((one) => one.requestsPerSecond)),
      megabytesPerSecond: median(each.map((one) => one.megabytesPerSecond)),
      p99: median(each.map((one) => one.p99)),
    },
  }));
}

/**
 * @param {readonly number[]} values
 * @returns {number}
 */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[middle]];
  return (low + high) / 2;
}
