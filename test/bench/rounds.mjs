import { load } from "./load.mjs";

/**
 * How long to measure.
 *
 * @typedef {object} Effort
 * @property {number} rounds
 * @property {number} ms Time for each server in each round.
 * @property {number} largeBytes Size of the file with which memory is measured.
 */

/**
 * Measures several servers with one task, in turns, so that whatever else the machine does meets all of them alike.
 * The medians of the rounds, in the order of the servers.
 *
 * @param {readonly import("./server-process.mjs").ServerProcess[]} servers
 * @param {import("./load.mjs").Task} task
 * @param {Effort} effort
 * @returns {Promise<{ name: string, load: import("./load.mjs").Load }[]>}
 */
export async function measure(servers, task, { rounds, ms }) {
  /** @type {Map<string, import("./load.mjs").Load[]>} */
  const loads = new Map(servers.map(({ name }) => [name, []]));
  for (const { port } of servers) await load(port, task, ms / 2); // compiled and warm
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, port } of servers) loads.get(name)?.push(await load(port, task, ms));
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
