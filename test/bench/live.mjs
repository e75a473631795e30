import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

/**
 * How fast a change is told to many clients, beside a bare loop over the clients of `ws`.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function live(_directory, effort) {
  const isTrial = effort.rounds === 1;
  const most = (await openFilesLimit()) - 200;
  for (const wanted of isTrial ? [100] : [1_000, 10_000]) {
    const clients = Math.min(wanted, most);
    if (clients < wanted) console.log(`The limit of open files allows ${clients} of ${wanted} clients (ulimit -n).\n`);
    await broadcast(clients, isTrial ? 3 : 20);
  }
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
 */
async function gather(program, count) {
  const server = start(program);
  const { port } = await message(server);
  const before = await heapOf(server);
  const clients = start("live-clients", [port, count]);
  await message(clients);
  return { server, clients, bytesPerClient: ((await heapOf(server)) - before) / count };
}

/**
 * Makes a change; resolves to the milliseconds until the first and the last client had it. Both processes read one clock.
 *
 * @param {Audience} audience
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

/** What a process says next. @param {import("node:child_process").ChildProcess} child */
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

async function openFilesLimit() {
  const limits = await readFile("/proc/self/limits", "utf8").catch(() => "");
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}
