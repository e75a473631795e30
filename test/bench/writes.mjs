import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { typicalPage } from "./elements.mjs";
import { installed, versionBefore } from "./files.mjs";
import { requestBytes } from "./load.mjs";
import { measure } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printLoads } from "./table.mjs";

/** @typedef {Parameters<typeof import("./server-process.mjs").startServer>} Wanted */

/**
 * Changes: of many files beside a bare server with the same rename and the same fsync, and of one file by many clients.
 *
 * @param {string} directory
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function writes(directory, effort) {
  const root = join(directory, "writes");
  await mkdir(root);
  const paths = Array.from({ length: 16 }, (_, i) => `/${i}.txt`);
  for (const path of paths) await writeFile(root + path, "x".repeat(1000));
  await writeFile(join(root, "page.html"), await typicalPage());
  await writeFile(join(root, "log.txt"), "");
  const puts = paths.map((path) => requestBytes("PUT", path, {}, Buffer.alloc(1000, "0123456789abcdef\n")));
  const range = { range: "selector=title" };
  const edits = paths.map((path) => requestBytes("PUT", "/page.html", range, `<title>${path}</title>`));
  const posts = [requestBytes("POST", "/log.txt", {}, Buffer.alloc(100, "a line of a log\n"))];
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
    });
  }
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
