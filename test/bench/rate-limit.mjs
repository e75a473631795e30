import { fork } from "node:child_process";
import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { MemoryStore } from "express-rate-limit";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { MemoryBuckets } from "../../build/plugins/rate-limit/memory-buckets.js";
import { longestTurn } from "./longest-turn.mjs";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

/** A client may cost so many bytes of the process, measured with a million of them. */
const mostBytesPerClient = 64;

/** What is asked for each request. @typedef {(key: string) => unknown} Take */

/** @type {Readonly<Record<string, (clients: number) => { take: Take, cleanUp?: () => Promise<void> }>>} */
const limiters = {
  filement(clients) {
    let later = 0;
    const buckets = new MemoryBuckets({
      policy: { requestsPerSecond: 10, burstCapacity: 20 },
      maxClients: clients,
      cleanupInterval: 300,
      now: () => performance.now() + later,
    });
    return {
      take: (key) => buckets.take(key),
      async cleanUp() {
        later += 3_600_000; // as if all clients had been idle for long
        await buckets.cleanUp();
        if (buckets.size > 0) throw new Error(`the cleanup left ${buckets.size} buckets`);
      },
    };
  },
  "express-rate-limit, MemoryStore"() {
    const store = new MemoryStore();
    store.init(/** @type {any} */ ({ windowMs: 3_600_000 }));
    return { take: (key) => store.increment(key) };
  },
  "rate-limiter-flexible, RateLimiterMemory"() {
    const limiter = new RateLimiterMemory({ points: 1e9, duration: 3600 });
    return { take: (key) => limiter.consume(key) };
  },
};

/**
 * @typedef {object} Cost
 * @property {number} perSecond Decisions about known clients.
 * @property {number} bytes Of the process, for each client.
 * @property {number} cleanUpMs Longest turn of the event loop while all were dropped, in milliseconds of the processor.
 */

/**
 * Decisions of a limiter, what each client costs in memory, and how long a cleanup holds the event loop, beside the stores in
 * memory of two others; each in a process that has done nothing else.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function rateLimit(_directory, { rounds, ms }) {
  const clients = rounds > 1 ? 1_000_000 : 50_000; // a single round is a trial
  const rows = [];
  for (const name of Object.keys(limiters)) {
    /** @type {Cost[]} */
    const costs = [];
    for (let round = 0; round < rounds; round += 1) {
      const child = fork(import.meta.filename, [name, String(clients), String(ms)], { execArgv: ["--expose-gc"] });
      const [cost] = await once(child, "message");
      costs.push(cost);
      await once(child, "exit");
    }
    const bytes = median(costs.map((cost) => cost.bytes));
    if (name === "filement" && rounds > 1 && bytes > mostBytesPerClient)
      throw new Error(`a client took ${bytes} bytes`);
    const [perSecond, cleanUpMs] = [
      median(costs.map((cost) => cost.perSecond)),
      median(costs.map((cost) => cost.cleanUpMs)),
    ];
    rows.push([name, Math.round(perSecond).toLocaleString("en"), bytes.toFixed(0), cleanUpMs.toFixed(1)]);
  }
  const columns = ["limiter", "decisions/s", "bytes for each client", "longest turn of a cleanup, ms"];
  printTable(`A rate limit with ${clients.toLocaleString("en")} clients`, columns, rows);
}

/**
 * @param {string} name
 * @param {number} clients
 * @param {number} ms
 */
async function costOf(name, clients, ms) {
  const make = limiters[name];
  if (!make) throw new Error(`there is no limiter ${name}`);
  const { take, cleanUp } = make(clients);
  const before = await residentBytes();
  for (let client = 0; client < clients; client += 1) await take(keyOf(client));
  const bytes = ((await residentBytes()) - before) / clients;
  const perSecond = await decisionsPerSecond(take, clients, ms);
  return { perSecond, bytes, cleanUpMs: cleanUp ? await longestTurn(cleanUp) : 0 };
}

/**
 * @param {Take} take
 * @param {number} clients
 * @param {number} ms
 */
async function decisionsPerSecond(take, clients, ms) {
  const startedAt = performance.now();
  let decisions = 0;
  for (let client = 0; performance.now() < startedAt + ms; decisions += 1000) {
    for (let n = 0; n < 1000; n += 1) {
      client = (client + 7919) % clients; // a prime, so that all come, in an order that no cache knows
      const decision = take(keyOf(client));
      if (decision instanceof Promise) await decision;
    }
  }
  return (decisions * 1000) / (performance.now() - startedAt);
}

/** Without what only waits to be collected. */
async function residentBytes() {
  for (let n = 0; n < 4; n += 1) {
    globalThis.gc?.();
    await turn();
  }
  return process.memoryUsage.rss();
}

/** @param {number} client */
function keyOf(client) {
  return `ip:10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`;
}

if (process.send && process.argv[1] === import.meta.filename) {
  const [name = "", clients, ms] = process.argv.slice(2);
  const cost = await costOf(name, Number(clients), Number(ms));
  process.send(cost, () => process.exit()); // a limiter may have timers that would keep the process for an hour
}
