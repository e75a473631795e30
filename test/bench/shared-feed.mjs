import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createFileServer, memoryStorage } from "filement";
import { redisFeed } from "filement/redis";
import { WebSocket } from "ws";
import { printTable } from "./table.mjs";

const rates = [100, 1_000];

/**
 * How long a change takes from its commit at one server to a web socket at another, by way of Redis.
 *
 * @param {string} directory
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function sharedFeed(directory, { rounds, ms }) {
  const redis = await startRedis(directory);
  if (!redis) return console.log("redis-server is not installed: nothing is measured of the shared feed.\n");
  const { send, close, committedAt } = await startSender(redis.url);
  const other = fork(fileURLToPath(new URL("servers/shared-feed.mjs", import.meta.url)), [redis.url]);
  try {
    const [{ port }] = await once(other, "message");
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
    /** @type {number[]} */
    const times = [];
    socket.on("message", (data) => {
      const { type, requestId } = JSON.parse(String(data));
      if (type === "change") times.push(performance.now() - (committedAt.get(requestId) ?? Number.NaN));
    });
    await once(socket, "message"); // hello
    await sendAt(rates[0] ?? 1, 500, send); // compiled and warm
    const rows = [];
    for (const rate of rates) {
      await pause(200);
      times.length = 0;
      const sent = await sendAt(rate, rounds * ms, send);
      while (times.length < sent) await pause(10);
      times.sort((a, b) => a - b);
      rows.push([`${rate.toLocaleString("en")} changes a second`, ...[0.5, 0.99].map((part) => share(times, part))]);
    }
    printTable("From the commit to a socket at another server, in milliseconds", ["rate", "p50", "p99"], rows);
    socket.terminate();
  } finally {
    other.disconnect();
    await close();
    redis.stop();
  }
}

/** A server in this process, and when each change was committed. @param {string} url */
async function startSender(url) {
  /** @type {Map<string, number>} */
  const committedAt = new Map();
  const shared = redisFeed(url);
  /** @type {import("filement").SharedFeed} */
  const feed = {
    start: (end) => shared.start(end),
    send(change, origin) {
      committedAt.set(change.requestId, performance.now());
      shared.send(change, origin);
    },
    close: () => shared.close(),
  };
  const files = createFileServer({ storage: memoryStorage({}), feed });
  await files.ready();
  const send = async () => {
    const reply = await files.fetch(new Request("http://localhost/a.txt", { method: "PUT", body: "text" }));
    await reply.arrayBuffer();
  };
  return { send, close: () => files.close(), committedAt };
}

/**
 * Sends evenly for some time, whatever becomes of what was sent; gives how many.
 *
 * @param {number} rate
 * @param {number} ms
 * @param {() => Promise<void>} send
 */
async function sendAt(rate, ms, send) {
  const begun = performance.now();
  const sent = [];
  for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - begun) {
    while (sent.length < (elapsed / 1000) * rate) sent.push(send());
    await pause(1);
  }
  await Promise.all(sent);
  return sent.length;
}

/** @param {readonly number[]} sorted @param {number} part */
function share(sorted, part) {
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(1);
}

/** @param {string} directory */
async function startRedis(directory) {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (probe.address());
  probe.close();
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory];
  const server = spawn("redis-server", args, { stdio: "ignore" });
  const isThere = await once(server, "spawn").then(
    () => true,
    () => false,
  );
  return isThere ? { url: `redis://127.0.0.1:${port}`, stop: () => server.kill() } : undefined;
}
