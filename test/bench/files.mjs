import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requestBytes } from "./load.mjs";
import { measure } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printLoads } from "./table.mjs";

const sizes = [
  { title: "GET 1 KB", path: "/1kb.txt", bytes: 1000, connections: 32 },
  { title: "GET 100 KB", path: "/100kb.txt", bytes: 100_000, connections: 32 },
  { title: "GET 10 MB", path: "/10mb.txt", bytes: 10_000_000, connections: 8 },
];

/**
 * Whole files: reading beside other file servers, writing beside a server that gives no guarantees.
 *
 * @param {string} directory
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function files(directory, effort) {
  await read(join(directory, "read"), effort);
  await write(join(directory, "written"), effort);
}

/** @type {typeof files} */
async function read(root, effort) {
  await mkdir(root);
  for (const { path, bytes } of sizes) await writeFile(root + path, Buffer.alloc(bytes, "0123456789abcdef\n"));
  await withServers(
    [
      ["filement", "filement", [root]],
      ["express.static", "express-static", [root]],
      ["sirv", "sirv", [root]],
      ["@fastify/static", "fastify-static", [root]],
      ["bare node:http", "bare-http", [root]],
    ],
    async (servers) => {
      for (const { title, path, connections } of sizes) {
        const request = requestBytes("GET", path);
        printLoads(title, await measure(servers, { request: () => request, status: 200, connections }, effort));
      }
    },
  );
}

/** @type {typeof files} */
async function write(root, effort) {
  await mkdir(root);
  const content = Buffer.alloc(1000, "0123456789abcdef\n");
  const created = Array.from({ length: 16 }, (_, i) => `/${i}.txt`);
  for (const path of created) await writeFile(root + path, content);
  await withServers(
    [
      ["filement", "filement", [root]],
      ["filement, durability: rename", "filement", [root, "rename"]],
      ["bare node:http, writeFile", "bare-http", [root]],
    ],
    async (servers) => {
      const requests = created.map((path) => requestBytes("PUT", path, {}, content));
      const task = {
        request: (/** @type {number} */ connection) => /** @type {Buffer} */ (requests[connection]),
        status: 200,
        connections: created.length,
      };
      printLoads("PUT 1 KB over an existing file", await measure(servers, task, effort));
    },
  );
}
