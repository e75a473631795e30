import { load } from "./load.mjs";
import { processorTime } from "./server-process.mjs";
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

/** @typedef {(directory: string, effort: Effort) => Promise<void>} Measurement */

/**
 * What a server managed in the median round, its rate in each, and the microseconds of a request in the best one.
 *
 * @typedef {import("./load.mjs").Load & { processor: number | undefined, rates: readonly number[] }} Managed
 */

/**
 * Measures several servers with one task, in turns, so that whatever else the machine does meets all of them alike.
 * The medians of the rounds, in the order of the servers.
 *
 * @param {readonly import("./server-process.mjs").ServerProcess[]} servers
 * @param {import("./load.mjs").Task | ((port: number) => Promise<import("./load.mjs").Task>)} asked A task, or the one for a server.
 * @param {Effort} effort
 */
export async function measure(servers, asked, { rounds, ms }) {
  /** @type {Map<string, Omit<Managed, "rates">[]>} */
  const loads = new Map(servers.map(({ name }) => [name, []]));
  const tasks = await Promise.all(
    servers.map(async ({ name, port, pid }) => ({
      name,
      port,
      pid,
      task: typeof asked === "function" ? await asked(port) : asked,
    })),
  );
  // Compiled and warm, and each status is looked at.
  for (const { port, task } of tasks) await load(port, task, ms / 2);
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, port, pid, task } of round % 2 ? [...tasks].reverse() : tasks) {
      const before = await processorTime(pid);
      const managed = await drive(port, task, ms);
      const after = await processorTime(pid);
      const processor = before === undefined || after === undefined ? undefined : (after - before) / managed.requests;
      loads.get(name)?.push({ ...managed, processor });
    }
  }
  return [...loads].map(([name, each]) => ({
    name,
    load: {
      requests: median(each.map((one) => one.requests)),
      requestsPerSecond: median(each.map((one) => one.requestsPerSecond)),
      megabytesPerSecond: median(each.map((one) => one.megabytesPerSecond)),
      p99: median(each.map((one) => one.p99)),
      rates: each.map((one) => one.requestsPerSecond),
      // The least: other work of the machine only adds to it.
      processor: each.flatMap(({ processor }) => processor ?? []).sort((a, b) => a - b)[0],
    },
  }));
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[middle]];
  return (low + high) / 2;
}
