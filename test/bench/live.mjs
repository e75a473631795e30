import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

/** What a server needs to stay within, with clients that do not read, in bytes. */
const largestGrowth = 400 * 1024 ** 2;

/**
 * How fast a change is told to many clients, beside a bare loop over the clients of `ws`, and what becomes of clients that
 * do not read.
 *
 * @param {string} _directory
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function live(_directory, effort) {
  const isTrial = effort.rounds === 1;
  const most = (await openFilesLimit()) - 200;
  for (const wanted of isTrial ? [100] : [1_000, 10_000]) {
    const clients = Math.min(wanted, most);
    if (clients < wanted) console.log(`The limit of open files allows ${clients} of ${wanted} clients (ulimit -n).\n`);
    await broadcast(clients, isTrial ? 3 : 20);
  }
  await slowReaders(isTrial ? 500 : 15_000);
}

/**
 * @param {number} count
 * @param {number} rounds
 */
async function broadcast(count, rounds) {
  const names = ["filement", "bare ws"];
  const programs = ["live-filement", "live-bare-ws"];
  /** @type {Audience[]} */
  const audiences = [];
  try {
    for (const program of programs) audiences.push(await gather(program, count));
    /** @type {Map<Audience, { first: number[], last: number[] }>} */
    const times = new Map(audiences.map((audience) => [audience, { first: [], last: [] }]));
    for (let round = -2; round < rounds; round += 1) {
      // In turns; the one that comes first has a colder cache.
      for (const audience of round % 2 === 0 ? audiences : [...audiences].reverse()) {
        const { first, last } = await tell(audience, `<li>round ${String(round).padStart(3)}</li>`);
        if (round < 0) continue; // compiled and warm
        times.get(audience)?.first.push(first);
        times.get(audience)?.last.push(last);
      }
    }
    const medians = audiences.map((audience) => {
      const { first = [], last = [] } = times.get(audience) ?? {};
      return { first: median(first), last: median(last), bytes: audience.bytesPerClient };
    });
    const best = medians.at(-1)?.last ?? 0;
    const rows = medians.map(({ first, last, bytes }, i) => [
      names[i] ?? "",
      first.toFixed(1),
      last.toFixed(1),
      Math.round((1000 * count) / last).toLocaleString("en"),
      `${Math.round((100 * best) / last)} %`,
      (bytes / 1024).toFixed(1),
    ]);
    const columns = ["server", "first ms", "last ms", "messages/s", "of the last", "KiB per idle client"];
    printTable(`One change to ${count.toLocaleString("en")} clients`, columns, rows);
  } finally {
    for (const { server, clients } of audiences) for (const each of [server, clients]) each.kill("SIGKILL");
  }
}

/**
 * 1 MB of changes per second, with and without clients that do not read.
 *
 * @param {number} ms
 */
async function slowReaders(ms) {
  const rows = [];
  for (const [name, unread] of /** @type {const} */ ([
    ["all read", 0],
    ["100 more do not", 100],
  ])) {
    const { server, clients } = await gather("live-filement", 100, unread);
    try {
      const before = await memoryOf(server.pid);
      const delays = [];
      let peak = before;
      const html = `<li>${"x".repeat(10_000)}</li>`;
      const end = performance.now() + ms;
      for (let due = performance.now(); due < end; due += 10) {
        await sleep(Math.max(0, due - performance.now()));
        delays.push((await tell({ server, clients }, html.replace("x", String(due)))).last);
        if (delays.length % 100 === 0) peak = Math.max(peak, await memoryOf(server.pid));
      }
      peak = Math.max(peak, await memoryOf(server.pid));
      delays.sort((a, b) => a - b);
      const growth = peak - before;
      if (growth > largestGrowth) throw new Error(`${name}: memory grew by ${mebibytes(growth)} MiB`);
      const p99 = delays[Math.floor(delays.length * 0.99)] ?? 0;
      rows.push([name, median(delays).toFixed(1), p99.toFixed(1), mebibytes(before), mebibytes(growth)]);
    } finally {
      for (const each of [server, clients]) each.kill("SIGKILL");
    }
  }
  const columns = ["100 clients", "last ms", "p99 ms", "memory before, MiB", "growth, MiB"];
  printTable("Changes of 10 KB, 100 per second", columns, rows);
}

/**
 * A server and its clients.
 *
 * @typedef {object} Audience
 * @property {import("node:child_process").ChildProcess} server
 * @property {import("node:child_process").ChildProcess} clients
 * @property {number} bytesPerClient On the heap of the server.
 */

/**
 * Starts a server and connects clients to it.
 *
 * @param {string} program
 * @param {number} count
 * @param {number} [unread] How many more that do not read.
 * @returns {Promise<Audience>}
 */
async function gather(program, count, unread = 0) {
  const server = start(program);
  const { port } = await message(server);
  const before = await heapOf(server);
  const clients = start("live-clients", [port, count, unread]);
  await message(clients);
  return { server, clients, bytesPerClient: ((await heapOf(server)) - before) / (count + unread) };
}

/**
 * Makes a change; resolves to the milliseconds until the first and the last client had it. Both processes read one clock.
 *
 * @param {Pick<Audience, "server" | "clients">} audience
 * @param {string} html
 */
async function tell({ server, clients }, html) {
  const ready = message(clients);
  clients.send(1);
  await ready;
  const told = message(clients);
  const made = message(server);
  server.send({ change: html });
  const [{ at }, { first, last }] = await Promise.all([made, told]);
  return { first: Number(BigInt(first) - BigInt(at)) / 1e6, last: Number(BigInt(last) - BigInt(at)) / 1e6 };
}

/**
 * @param {string} program
 * @param {readonly unknown[]} args
 */
function start(program, args = []) {
  const file = fileURLToPath(new URL(`servers/${program}.mjs`, import.meta.url));
  return fork(file, args.map(String), { execArgv: [] });
}

/**
 * What a process says next.
 *
 * @param {import("node:child_process").ChildProcess} child
 */
async function message(child) {
  const settled = new AbortController();
  const { signal } = settled;
  const ended = once(child, "exit", { signal }).then(([code]) => Promise.reject(new Error(`ended with ${code}`)));
  try {
    const [answer] = await Promise.race([once(child, "message", { signal }), ended]);
    return answer;
  } finally {
    ended.catch(() => {});
    settled.abort();
  }
}

/**
 * What is on the heap of a server, without garbage, in bytes.
 *
 * @param {import("node:child_process").ChildProcess} server
 */
async function heapOf(server) {
  const answer = message(server);
  server.send({});
  return (await answer).bytes;
}

/**
 * Memory of a process, in bytes.
 *
 * @param {number | undefined} pid
 */
async function memoryOf(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

async function openFilesLimit() {
  const limits = await readFile("/proc/self/limits", "utf8").catch(() => "");
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** @param {number} bytes */
function mebibytes(bytes) {
  return (bytes / 1024 ** 2).toFixed(1);
}
