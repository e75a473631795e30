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

/**
 * A limiter in memory: what is asked for each request.
 *
 * @typedef {object} Limiter
 * @property {(key: string) => unknown} take
 * @property {() => void} close
 * @property {() => Promise<void>} [cleanUp] Drops all buckets, as if everybody had been idle for long.
 */

/** @type {Readonly<Record<string, (clients: number) => Limiter>>} */
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
      close: () => buckets.close(),
      async cleanUp() {
        later += 3_600_000;
        await buckets.cleanUp();
        if (buckets.size > 0) throw new Error(`the cleanup left ${buckets.size} buckets`);
      },
    };
  },
  "express-rate-limit, MemoryStore"() {
    const store = new MemoryStore();
    store.init(/** @type {any} */ ({ windowMs: 3_600_000 }));
    return { take: (key) => store.increment(key), close: () => store.shutdown() };
  },
  "rate-limiter-flexible, RateLimiterMemory"() {
    const limiter = new RateLimiterMemory({ points: 1e9, duration: 3600 });
    return { take: (key) => limiter.consume(key), close: () => {} };
  },
};

/**
 * Decisions of a limiter, what each client costs in memory, and how long it ever holds the event loop, beside the
 * stores in memory of two others.
 *
 * @param {string} _directory
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function rateLimit(_directory, { rounds, ms }) {
  const clients = rounds > 1 ? 1_000_000 : 50_000; // a single round is a trial
  const sizes = [1, 1000, clients];
  const speeds = new Map(Object.keys(limiters).map((name) => [name, /** @type {number[]} */ ([])]));
  for (const size of sizes) {
    const keys = Array.from({ length: size }, (_, client) => keyOf(client));
    for (const [name, make] of Object.entries(limiters)) {
      const limiter = make(clients);
      for (const key of keys) await limiter.take(key);
      /** @type {number[]} */
      const each = [];
      for (let round = 0; round < rounds; round += 1) each.push(await decisionsPerSecond(limiter, keys, ms));
      limiter.close();
      speeds.get(name)?.push(median(each));
    }
  }
  printTable(
    "Decisions of a rate limit per second",
    ["limiter", ...sizes.map((size) => `clients: ${count(size)}`)],
    [...speeds].map(([name, each]) => [name, ...each.map(count)]),
  );

  const names = Object.keys(limiters);
  const costs = [];
  for (const name of names) costs.push(await inNewProcess(name, clients, rounds));
  for (const { name, residentBytes } of costs) {
    if (name === "filement" && rounds > 1 && residentBytes > mostBytesPerClient) {
      throw new Error(`a client took ${residentBytes} bytes`);
    }
  }
  printTable(
    `Memory of a rate limit with ${count(clients)} clients`,
    ["bytes for each client", "process", "heap", "array buffers"],
    costs.map(({ name, residentBytes, heapBytes, bufferBytes }) => [
      name,
      residentBytes.toFixed(0),
      heapBytes.toFixed(0),
      bufferBytes.toFixed(0),
    ]),
  );
  const pauses = costs.map(({ name, longestTakeMs }) => [`${name}, a new client`, longestTakeMs.toFixed(1)]);
  for (const { name, longestTurnMs } of costs) {
    if (longestTurnMs !== undefined) pauses.push([`${name}, in a cleanup of all`, longestTurnMs.toFixed(1)]);
  }
  printTable(`Longest hold of the event loop with ${count(clients)} clients`, ["limiter", "processor ms"], pauses);
}

/**
 * @param {Limiter} limiter
 * @param {readonly string[]} keys
 * @param {number} ms
 */
async function decisionsPerSecond(limiter, keys, ms) {
  const startedAt = performance.now();
  const endsAt = startedAt + ms;
  let decisions = 0;
  for (let at = 0; performance.now() < endsAt; ) {
    for (let n = 0; n < 1000; n += 1) {
      at = (at + 7919) % keys.length; // a prime, so that all keys come, in an order that no cache knows
      const decision = limiter.take(keys[at] ?? "");
      if (decision instanceof Promise) await decision;
    }
    decisions += 1000;
  }
  return (decisions * 1000) / (performance.now() - startedAt);
}

/**
 * @typedef {object} Cost
 * @property {string} name
 * @property {number} residentBytes Of the process, for each client; so the next two.
 * @property {number} heapBytes
 * @property {number} bufferBytes
 * @property {number} longestTakeMs Longest decision while the clients came; time of the processor, as below.
 * @property {number | undefined} longestTurnMs Longest turn of the event loop while all were dropped.
 */

/**
 * What clients cost, each time in a process that has done nothing else; the medians.
 *
 * @param {string} name
 * @param {number} clients
 * @param {number} rounds
 * @returns {Promise<Cost>}
 */
async function inNewProcess(name, clients, rounds) {
  /** @type {Cost[]} */
  const each = [];
  for (let round = 0; round < rounds; round += 1) {
    const child = fork(import.meta.filename, [name, String(clients)], { execArgv: ["--expose-gc"] });
    const [cost] = await once(child, "message");
    each.push(cost);
    await once(child, "exit");
  }
  const turns = each.flatMap(({ longestTurnMs }) => longestTurnMs ?? []);
  return {
    name,
    residentBytes: median(each.map((cost) => cost.residentBytes)),
    heapBytes: median(each.map((cost) => cost.heapBytes)),
    bufferBytes: median(each.map((cost) => cost.bufferBytes)),
    longestTakeMs: median(each.map((cost) => cost.longestTakeMs)),
    longestTurnMs: turns.length > 0 ? median(turns) : undefined,
  };
}

/**
 * @param {string} name
 * @param {number} clients
 * @returns {Promise<Cost>}
 */
async function costOf(name, clients) {
  const make = limiters[name];
  if (!make) throw new Error(`there is no limiter ${name}`);
  const warm = make(1000); // everything is loaded
  await fill(warm, 1000);
  warm.close();

  const first = make(clients);
  const before = await memory();
  await fill(first, clients);
  const after = await memory();
  await first.cleanUp?.();
  first.close();

  // Once more for the pauses: the first time, what the compiler does aside would be counted as well.
  const second = make(clients);
  const longestTakeMs = await fill(second, clients);
  const longestTurnMs = second.cleanUp && (await longestTurn(second.cleanUp));
  second.close();
  return {
    name,
    residentBytes: (after.rss - before.rss) / clients,
    heapBytes: (after.heapUsed - before.heapUsed) / clients,
    bufferBytes: (after.arrayBuffers - before.arrayBuffers) / clients,
    longestTakeMs,
    longestTurnMs,
  };
}

/**
 * Has so many clients ask once, and returns the longest that one of them took, in milliseconds of the processor.
 *
 * @param {Limiter} limiter
 * @param {number} clients
 */
async function fill(limiter, clients) {
  let longest = 0;
  for (let client = 0; client < clients; client += 1) {
    const key = keyOf(client);
    const startedAt = processorMs();
    const decision = limiter.take(key);
    longest = Math.max(longest, processorMs() - startedAt);
    if (decision instanceof Promise) await decision;
  }
  return longest;
}

/** Time that the process has had of a processor: cheap enough for a look before and after each of a million decisions. */
function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** What is in use, without what only waits to be collected. */
async function memory() {
  for (let n = 0; n < 4; n += 1) {
    globalThis.gc?.();
    await turn();
  }
  return process.memoryUsage();
}

/** @param {number} client */
function keyOf(client) {
  return `ip:10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`;
}

/** @param {number} value */
function count(value) {
  return value.toLocaleString("en", { maximumFractionDigits: 0 });
}

if (process.send && process.argv[1] === import.meta.filename) {
  const [, , name = "", clients] = process.argv;
  const cost = await costOf(name, Number(clients));
  process.send(cost, () => process.exit()); // a limiter may have timers that would keep the process for an hour
}
