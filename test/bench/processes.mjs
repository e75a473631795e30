import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { diskStorage } from "filement";
import { machineLocks } from "../../build/storage/disk/disk-locks.js";
import { load, requestBytes } from "./load.mjs";
import { median } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printTable } from "./table.mjs";

/** How many processes serve one root; connections are shared out among them. */
const counts = [1, 2, 4];
const connections = 16;
const content = Buffer.alloc(1000, "0123456789abcdef\n");

/** @typedef {{ name: string, programs: readonly string[], durability: "fsync" | "rename" }} Setup */

/** @type {readonly Setup[]} */
const setups = /** @type {const} */ (["rename", "fsync"]).flatMap((durability) => [
  { name: `1, no lock between processes, ${durability}`, programs: ["filement-alone"], durability },
  ...counts.map((count) => ({ name: `${count}, ${durability}`, programs: Array(count).fill("filement"), durability })),
]);

/**
 * @typedef {object} Work
 * @property {number} status
 * @property {(file: number, version: number) => Buffer} request
 */

/** @type {Readonly<Record<string, Work>>} */
const tasks = {
  "PUT 1 KB, a file for each client": { status: 200, request: (file) => putFile(file) },
  "PUT 1 KB, one file for all": { status: 200, request: () => putFile(0) },
  "PUT of an element, a page for each client": { status: 206, request: (page, version) => putElement(page, version) },
  "PUT of an element, one page for all": { status: 206, request: (_, version) => putElement(0, version) },
};

/**
 * Several processes with one root, and what the lock between them costs.
 *
 * @param {string} directory
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function processes(directory, { rounds, ms }) {
  const root = join(directory, "shared");
  await mkdir(root);
  for (let i = 0; i < connections; i += 1) {
    await writeFile(join(root, `${i}.txt`), content);
    await writeFile(join(root, `${i}.html`), `<!doctype html><title>old</title>${"<p>text</p>".repeat(20)}`);
  }
  await lockCost(root, ms);
  for (const [title, work] of Object.entries(tasks)) {
    /** @type {Map<string, Awaited<ReturnType<typeof loadAll>>[]>} */
    const results = new Map(setups.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const setup of setups) results.get(setup.name)?.push(await measureOnce(root, setup, work, ms));
    }
    const rows = [...results].map(([name, each]) => [
      name,
      Math.round(median(each.map(({ requestsPerSecond }) => requestsPerSecond))).toLocaleString("en"),
      median(each.map(({ p99 }) => p99)).toFixed(1),
    ]);
    printTable(title, ["processes", "requests/s", "p99 ms"], rows);
  }
}

/**
 * What the lock costs of a write, in time of the processor, so that other programs do not count.
 *
 * @param {string} root
 * @param {number} ms
 */
async function lockCost(root, ms) {
  const locks = machineLocks();
  const storage = diskStorage(root, { durability: "rename" });
  const one = async function* () {
    yield content;
  };
  const lock = await processorMicroseconds(ms, async () => (await locks?.acquire(root))?.release());
  const write = await processorMicroseconds(ms, () => storage.write("/0.txt", one()));
  printTable(
    "The lock, in microseconds of the processor",
    ["", "each"],
    [
      ["a lock between processes, taken and released", lock.toFixed(0)],
      ["a write of 1 KB to the disk, without fsync, with its lock", write.toFixed(0)],
    ],
  );
}

/**
 * @param {number} ms
 * @param {() => Promise<unknown>} task
 */
async function processorMicroseconds(ms, task) {
  for (let warm = 0; warm < 200; warm += 1) await task();
  let count = 0;
  const before = process.cpuUsage();
  for (const end = performance.now() + ms; performance.now() < end; count += 1) await task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

/**
 * @param {string} root
 * @param {Setup} setup
 * @param {Work} work
 * @param {number} ms
 */
function measureOnce(root, { programs, durability }, work, ms) {
  /** @type {Parameters<typeof withServers>[0]} */
  const wanted = programs.map((program) => [program, program, [root, durability]]);
  return withServers(wanted, async (servers) => {
    await loadAll(servers, work, ms / 2); // compiled and warm
    return loadAll(servers, work, ms);
  });
}

/**
 * @param {readonly import("./server-process.mjs").ServerProcess[]} servers
 * @param {Work} work
 * @param {number} ms
 */
async function loadAll(servers, { request, status }, ms) {
  const share = connections / servers.length;
  const loads = await Promise.all(
    servers.map(({ port }, server) => {
      // Sent in turns: each connection alternates between two contents of a file of its own.
      const requests = Array.from({ length: 2 * share }, (_, i) =>
        request(server * share + (i % share), Math.floor(i / share)),
      );
      return load(port, { requests, status, connections: share }, ms);
    }),
  );
  return {
    requestsPerSecond: loads.reduce((sum, each) => sum + each.requestsPerSecond, 0),
    p99: Math.max(...loads.map(({ p99 }) => p99)),
  };
}

/** @param {number} file */
function putFile(file) {
  return requestBytes("PUT", `/${file}.txt`, {}, content);
}

/**
 * @param {number} page
 * @param {number} version
 */
function putElement(page, version) {
  return requestBytes("PUT", `/${page}.html`, { range: "selector=title" }, `<title>${version}</title>`);
}
