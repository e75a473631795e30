import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { diskStorage } from "filement";
import { machineLocks } from "../../build/storage/disk/disk-locks.js";
import { typicalPage } from "./elements.mjs";
import { installed, versionBefore } from "./files.mjs";
import { load, requestBytes } from "./load.mjs";
import { measure } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printLoads, printTable } from "./table.mjs";

/** @typedef {Parameters<typeof import("./server-process.mjs").startServer>} Wanted */

/**
 * Changes: of many files beside a bare server with the same rename and the same fsync, and of one file by many clients;
 * and what readers notice of them.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function writes(directory, effort) {
  const root = join(directory, "writes");
  await mkdir(root);
  const paths = Array.from({ length: 16 }, (_, i) => `/${i}.txt`);
  for (const path of paths) await writeFile(root + path, "x".repeat(1000));
  await writeFile(join(root, "page.html"), await typicalPage());
  await writeFile(join(root, "log.txt"), "");
  await writeFile(join(root, "read.txt"), "x".repeat(1000));
  const puts = paths.map((path) => requestBytes("PUT", path, {}, Buffer.alloc(1000, "0123456789abcdef\n")));
  const range = { range: "selector=title" };
  const edits = paths.map((path) => requestBytes("PUT", "/page.html", range, `<title>${path}</title>`));
  const posts = [requestBytes("POST", "/log.txt", {}, Buffer.alloc(100, "a line of a log\n"))];
  await lockCost(root, effort.ms);
  for (const durability of ["rename", "fsync"]) {
    /** @type {readonly Wanted[]} */
    const wanted = [
      ["filement", "filement", [root, durability]],
      ...versionBefore(effort, root, durability),
      ["bare node:http", "bare-rename", [root, durability]],
      ...(durability === "rename" ? installed("dufs", root) : []), // it syncs nothing
    ];
    await withServers(wanted, async (all) => {
      const own = all.filter(({ name }) => name.startsWith("filement"));
      for (const connections of [1, 16]) {
        const task = (/** @type {readonly Buffer[]} */ requests, /** @type {number} */ status) => ({
          requests,
          status,
          connections,
        });
        const put = async (/** @type {number} */ port) => task(puts, isDufs(all, port) ? 201 : 200);
        const told = `${durability}, connections: ${connections}`;
        const others = ["bare node:http", "filement before"];
        printLoads(`PUT 1 KB, 16 files, ${told}`, await measure(all, put, effort), others);
        printLoads(
          `PUT selector=title, one page of 90 KB, ${told}`,
          await measure(own, task(edits, 206), effort),
          others,
        );
        printLoads(`POST 100 bytes to one file, ${told}`, await measure(own, task(posts, 200), effort), others);
        await writeFile(join(root, "log.txt"), "");
      }
      const get = { requests: [requestBytes("GET", "/read.txt")], status: 200, connections: 16 };
      for (const server of own) {
        printLoads(`GET 1 KB, ${server.name}, ${durability}, no writers`, await measure([server], get, effort));
        const writers = load(
          server.port,
          { requests: puts, status: 200, connections: 8 },
          effort.ms * (effort.rounds + 1),
        );
        printLoads(`GET 1 KB, ${server.name}, ${durability}, beside 8 writers`, await measure([server], get, effort));
        await writers;
      }
    });
  }
}

/**
 * What the lock between processes costs of a write, in time of the processor, so that other programs do not count.
 *
 * @param {string} root
 * @param {number} ms
 */
async function lockCost(root, ms) {
  const locks = machineLocks();
  const storage = diskStorage(root, { durability: "rename" });
  const one = async function* () {
    yield Buffer.alloc(1000, "0123456789abcdef\n");
  };
  const lock = await processorMicroseconds(ms, async () => (await locks?.acquire(root))?.release());
  const write = await processorMicroseconds(ms, () => storage.write("/0.txt", one()));
  const rows = [
    ["a lock between processes, taken and released", lock.toFixed(0)],
    ["a write of 1 KB to the disk, without fsync, with its lock", write.toFixed(0)],
  ];
  printTable("The lock, in microseconds of the processor", ["", "each"], rows);
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
 * Whether a server answers 201 also where it has replaced a file.
 *
 * @param {readonly import("./server-process.mjs").ServerProcess[]} servers
 * @param {number} port
 */
export function isDufs(servers, port) {
  return servers.some(({ name, port: own }) => name === "dufs" && own === port);
}
