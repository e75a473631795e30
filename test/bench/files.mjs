import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { requestBytes } from "./load.mjs";
import { measure } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printLoads } from "./table.mjs";

/** @typedef {Parameters<typeof import("./server-process.mjs").startServer>} Wanted */

const sizes = [
  { title: "GET 1 KB", path: "/1kb.txt", bytes: 1000, connections: 32 },
  { title: "GET 100 KB", path: "/100kb.txt", bytes: 100_000, connections: 32 },
  { title: "GET 10 MB", path: "/10mb.txt", bytes: 10_000_000, connections: 8 },
];
const manyFiles = 1000;
const references = ["bare node:http", "nginx", "filement before"];

/** Reading of whole files, beside other file servers. @type {import("./rounds.mjs").Measurement} */
export async function files(directory, effort) {
  const root = join(directory, "read");
  await mkdir(join(root, "many"), { recursive: true });
  for (const { path, bytes } of sizes) await writeFile(root + path, text(bytes));
  for (let i = 0; i < manyFiles; i += 1) await writeFile(join(root, `many/${i}.txt`), text(4000));
  /** @type {readonly Wanted[]} */
  const validating = [
    ["filement", "filement", [root]],
    [
      "filement, log, metrics, limit",
      "filement-plugins",
      [root, join(directory, "log"), "accessLog", "metrics", "rateLimit"],
    ],
    ...versionBefore(effort, root),
    ["express.static", "express-static", [root]],
    ["sirv", "sirv", [root]],
    ["@fastify/static", "fastify-static", [root]],
    ...installed("dufs", root),
    ...installed("nginx", root),
  ];
  await withServers([...validating, ["bare node:http", "bare-memory", [root]]], async (servers) => {
    for (const { title, path, connections } of sizes) {
      const task = { requests: [requestBytes("GET", path)], status: 200, connections };
      printLoads(title, await measure(servers, task, effort), references);
    }
    // In an order without pattern that is the same in each run.
    const shuffled = Array.from({ length: manyFiles }, (_, i) => i).sort((a, b) => scattered(a) - scattered(b));
    const many = shuffled.map((i) => requestBytes("GET", `/many/${i}.txt`));
    const anyOfMany = { requests: many, status: 200, connections: 32 };
    printLoads("GET 4 KB, 1,000 files at random", await measure(servers, anyOfMany, effort), references);

    const unchanged = async (/** @type {number} */ port) => {
      const fields = { "if-none-match": await entityTag(port, "/1kb.txt") };
      return { requests: [requestBytes("GET", "/1kb.txt", fields)], status: 304, connections: 32 };
    };
    const compared = servers.filter(({ name }) => name !== "bare node:http"); // which has no entity tags
    printLoads("304", await measure(compared, unchanged, effort), references);
  });
}

/**
 * The earlier version that is to be compared with, if any.
 *
 * @param {import("./rounds.mjs").Effort} effort
 * @param {string} root
 * @param {string} [durability]
 * @returns {readonly Wanted[]}
 */
export function versionBefore({ before }, root, durability = "fsync") {
  return before === undefined ? [] : [["filement before", "filement", [root, durability, before]]];
}

/**
 * A server in another language, where it is on the path.
 *
 * @param {string} command
 * @param {string} root
 * @returns {readonly Wanted[]}
 */
export function installed(command, root) {
  const { error } = spawnSync(command, ["-v"]);
  if (error) console.log(`${command} is not installed, and not compared with.\n`);
  return error ? [] : [[command, command, [root]]];
}

/**
 * @param {number} port
 * @param {string} path
 */
function entityTag(port, path) {
  return new Promise((resolve, reject) => {
    const asked = request({ port, path, method: "HEAD", host: "127.0.0.1" }, (response) => {
      response.resume();
      resolve(response.headers.etag ?? "");
    });
    asked.once("error", reject).end();
  });
}

/** @param {number} bytes */
function text(bytes) {
  return Buffer.alloc(bytes, "0123456789abcdef\n");
}

/** @param {number} value */
function scattered(value) {
  return (value * 2_654_435_761) % 4_294_967_296; // Knuth's multiplicative hash
}
