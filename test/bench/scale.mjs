import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { s3Credentials } from "../helpers/s3-credentials.mjs";
import { startS3Server } from "../helpers/s3-server.mjs";
import { load, requestBytes } from "./load.mjs";
import { median } from "./rounds.mjs";
import { processorTime, withServers } from "./server-process.mjs";
import { printTable } from "./table.mjs";

const connections = 16;
const content = Buffer.alloc(1000, "0123456789abcdef\n");
const large = Buffer.alloc(100_000, "0123456789abcdef\n");
/** More large files than are kept in memory, so that none is when its turn comes again. */
const largeFiles = 400;

/** @typedef {{ name: string, programs: readonly string[] }} Setup */

/** @type {readonly Setup[]} */
const setups = [
  { name: "the SDK behind node:http", programs: ["bare-s3"] },
  ...[1, 2, 4].map((count) => ({
    name: count === 1 ? "filement" : `filement, ${count} instances`,
    programs: Array(count).fill("filement-s3"),
  })),
];

/** @type {Readonly<Record<string, { status: number, requests: readonly Buffer[] }>>} */
const tasks = {
  "GET 1 KB from a bucket": { status: 200, requests: each(connections, (i) => requestBytes("GET", `/${i}.txt`)) },
  "GET 100 KB from a bucket, 400 files in turn": {
    status: 200,
    requests: each(largeFiles, (i) => requestBytes("GET", `/large-${i}.txt`)),
  },
  "GET of an element from a bucket": {
    status: 206,
    requests: each(connections, (i) => requestBytes("GET", `/${i}.html`, { range: "selector=title" })),
  },
  "PUT 1 KB to a bucket": {
    status: 200,
    requests: each(connections, (i) => requestBytes("PUT", `/${i}.txt`, {}, content)),
  },
  "PUT of an element in a bucket": {
    status: 206,
    requests: each(2 * connections, (i) =>
      requestBytes("PUT", `/${i % connections}.html`, { range: "selector=title" }, `<title>${i}</title>`),
    ),
  },
};

/**
 * Files in an S3 bucket: one server and several, beside the SDK alone. The store runs on the same machine.
 *
 * @param {string} _directory
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function scale(_directory, { rounds, ms }) {
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true"; // also for the servers
  const store = await startS3Server().catch(() => undefined);
  if (!store) return console.log("versitygw is not installed: nothing is measured of a bucket.\n");
  try {
    await fill(store);
    for (const [title, work] of Object.entries(tasks)) await measureTask(store, title, work, { rounds, ms });
  } finally {
    await store.stop();
  }
}

/**
 * @param {import("../helpers/s3-server.mjs").S3Server} store
 * @param {string} title
 * @param {{ status: number, requests: readonly Buffer[] }} work
 * @param {{ rounds: number, ms: number }} effort
 */
async function measureTask({ endpoint, bucket }, title, work, { rounds, ms }) {
  /** @type {Map<string, ServerLoad[]>} */
  const results = new Map(setups.map(({ name }) => [name, []]));
  const args = [endpoint, bucket, s3Credentials.accessKeyId, s3Credentials.secretAccessKey];
  /** @type {Parameters<typeof withServers>[0]} */
  const wanted = setups.flatMap(({ programs }) => programs.map((program) => [program, program, args]));
  await withServers(wanted, async (servers) => {
    const groups = setups.map(({ name, programs }, index) => {
      const before = setups.slice(0, index).flatMap((setup) => setup.programs).length;
      return { name, group: servers.slice(before, before + programs.length) };
    });
    for (const { group } of groups) await loadAll(group, work, 2 * ms); // compiled and warm
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, group } of groups) results.get(name)?.push(await loadAll(group, work, ms));
    }
  });
  const perSecond = (/** @type {readonly ServerLoad[]} */ loads) =>
    median(loads.map(({ requestsPerSecond }) => requestsPerSecond));
  const [bare = []] = results.values();
  const rows = [...results].map(([name, loads]) => [
    name,
    Math.round(perSecond(loads)).toLocaleString("en"),
    (perSecond(loads) / perSecond(bare)).toFixed(2),
    median(loads.map(({ p99 }) => p99)).toFixed(1),
    median(loads.map(({ processorMs }) => processorMs)).toFixed(2),
  ]);
  printTable(title, ["server", "requests/s", "of the SDK", "p99 ms", "processor ms each"], rows);
}

/**
 * What servers did together, and how much time of the processor each request took them: of that, other programs take less.
 *
 * @typedef {import("./load.mjs").Load & { processorMs: number }} ServerLoad
 */

/**
 * Shares connections and requests out among servers.
 *
 * @param {readonly import("./server-process.mjs").ServerProcess[]} servers
 * @param {{ status: number, requests: readonly Buffer[] }} work
 * @param {number} ms
 * @returns {Promise<ServerLoad>}
 */
async function loadAll(servers, { status, requests }, ms) {
  const before = await processorTimeOf(servers);
  const loads = await Promise.all(
    servers.map(({ port }, server) => {
      const share = requests.filter((_, i) => i % servers.length === server);
      return load(port, { requests: share, status, connections: connections / servers.length }, ms);
    }),
  );
  const spent = (await processorTimeOf(servers)) - before; // in microseconds
  const count = loads.reduce((sum, one) => sum + one.requests, 0);
  return {
    requests: count,
    processorMs: spent / 1000 / count,
    requestsPerSecond: loads.reduce((sum, one) => sum + one.requestsPerSecond, 0),
    megabytesPerSecond: loads.reduce((sum, one) => sum + one.megabytesPerSecond, 0),
    p99: Math.max(...loads.map(({ p99 }) => p99)),
  };
}

/** @param {readonly import("./server-process.mjs").ServerProcess[]} servers */
async function processorTimeOf(servers) {
  const times = await Promise.all(servers.map(({ pid }) => processorTime(pid)));
  return times.reduce((/** @type {number} */ sum, time) => sum + (time ?? Number.NaN), 0);
}

/** @param {import("../helpers/s3-server.mjs").S3Server} store */
async function fill({ endpoint, bucket: Bucket }) {
  const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials: s3Credentials });
  const put = (/** @type {string} */ Key, /** @type {Buffer | string} */ Body) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body }));
  for (let i = 0; i < connections; i += 1) {
    await put(`${i}.txt`, content);
    await put(`${i}.html`, `<!doctype html><title>old</title>${"<p>text</p>".repeat(20)}`);
  }
  for (let i = 0; i < largeFiles; i += 1) await put(`large-${i}.txt`, large);
  client.destroy();
}

/**
 * @template Item
 * @param {number} length
 * @param {(index: number) => Item} make
 * @returns {Item[]}
 */
function each(length, make) {
  return Array.from({ length }, (_, index) => make(index));
}
