import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { get, request } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { withServers } from "./server-process.mjs";
import { printTable } from "./table.mjs";

/** A server that holds a file in memory, or lets it pile up there, needs more than this. */
const largestGrowth = 64 * 1024 ** 2;

/** Peak memory of the server while a large file goes in and comes out. @type {import("./rounds.mjs").Measurement} */
export async function memory(directory, { largeBytes }) {
  const root = join(directory, "large");
  await mkdir(root);
  await withServers([["filement", "filement", [root]]], async ([server]) => {
    if (!server) throw new Error("the server is missing");
    const url = `http://127.0.0.1:${server.port}`;
    await put(`${url}/small.bin`, 1024 ** 2); // everything is loaded
    await receive(`${url}/small.bin`);
    const before = await peakMemory(server.pid);
    const rows = [];
    for (const [name, transfer] of /** @type {const} */ ([
      ["PUT", () => put(`${url}/large.bin`, largeBytes)],
      ["GET", () => receive(`${url}/large.bin`)],
    ])) {
      const started = performance.now();
      const bytes = await transfer();
      if (bytes !== largeBytes) throw new Error(`${name}: ${bytes} of ${largeBytes} bytes`);
      const seconds = (performance.now() - started) / 1000;
      const growth = (await peakMemory(server.pid)) - before;
      rows.push([name, Math.round(bytes / 1e6 / seconds).toString(), mebibytes(before), mebibytes(growth)]);
      if (growth > largestGrowth) throw new Error(`${name} took ${mebibytes(growth)} MiB of memory`);
    }
    const columns = ["filement", "MB/s", "peak before, MiB", "growth of the peak, MiB"];
    printTable(`Memory with a file of ${mebibytes(largeBytes)} MiB`, columns, rows);
  });
}

/**
 * @param {string} url
 * @param {number} size
 */
async function put(url, size) {
  const chunk = Buffer.alloc(256 * 1024, "0123456789abcdef");
  const chunks = (function* () {
    for (let sent = 0; sent < size; sent += chunk.length) yield chunk.subarray(0, size - sent);
  })();
  const upload = request(url, { method: "PUT", headers: { "content-length": size } });
  const answered = once(upload, "response");
  await pipeline(Readable.from(chunks), upload);
  const [response] = await answered;
  response.resume();
  if (response.statusCode !== 201) throw new Error(`PUT: ${response.statusCode}`);
  return size;
}

/** @param {string} url */
async function receive(url) {
  const [response] = await once(get(url), "response");
  let size = 0;
  for await (const chunk of response) size += chunk.length;
  return size;
}

/** Most memory a process has had at once, in bytes. @param {number} pid */
async function peakMemory(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** @param {number} bytes */
function mebibytes(bytes) {
  return (bytes / 1024 ** 2).toFixed(bytes % 1024 ** 2 === 0 ? 0 : 1);
}
