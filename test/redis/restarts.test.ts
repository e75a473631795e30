import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { campaignMsLeft, isCampaign, seededRandom } from "../helpers/effort.ts";
import { type RunningNode, runNode } from "../helpers/run-node.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { Follower, moment } from "./followers.ts";
import { type RedisServer, redisServer } from "./redis-server.ts";

/** A campaign goes on for this many, or until its time is spent. */
const faults = isCampaign ? 400 : 2;
const serverCount = isCampaign ? 4 : 2;
const writersOfServer = isCampaign ? 8 : 2;
const counters = 5;

/** An increment of a counter by a writer. */
interface Write {
  readonly requestId: string;
  readonly counter: number;
  readonly sentAt: number;
  outcome: "answered" | "unknown";
}

interface RunningServer {
  readonly process: RunningNode;
  readonly origin: Promise<string>;
}

/** Servers that are killed and started again. */
class Servers {
  readonly #start: () => RunningNode;
  readonly #running: RunningServer[];

  constructor(count: number, start: () => RunningNode) {
    this.#start = start;
    this.#running = Array.from({ length: count }, () => this.#begin());
  }

  /** Where the server of this number is, once it listens. */
  originOf(index: number): Promise<string> {
    return this.#running[index % this.#running.length]?.origin ?? Promise.reject(new Error("no servers"));
  }

  async kill(index: number): Promise<void> {
    await this.originOf(index);
    this.#running[index]?.process.kill("SIGKILL");
    this.#running[index] = this.#begin();
    await this.originOf(index);
  }

  #begin(): RunningServer {
    const process = this.#start();
    return { process, origin: process.waitFor(/listening on (\S+)/).then(([, origin = ""]) => origin) };
  }
}

/** Adds one to a counter, as often as it takes where others are first. */
async function increment(origin: string, write: Write): Promise<"answered" | "unknown" | "not made"> {
  const target = `${origin}/counter-${write.counter}.html`;
  const range = { range: "selector=b" };
  for (;;) {
    const read = await fetch(target, { headers: range }).catch(() => undefined);
    const element = await read?.text().catch(() => undefined);
    if (!read?.ok || element === undefined) return "not made";
    const body = `<b>${Number(element.replace(/\D/g, "")) + 1}</b>`;
    const headers = { ...range, "if-match": read.headers.get("etag") ?? "", "x-request-id": write.requestId };
    const reply = await fetch(target, { method: "PUT", headers, body }).catch(() => undefined);
    await reply?.arrayBuffer().catch(() => undefined);
    if (!reply) return "unknown";
    if (reply.status === 206) return "answered";
    if (reply.status !== 412) throw new Error(`PUT: ${reply.status}`);
  }
}

async function disturb(
  random: () => number,
  redis: RedisServer,
  servers: Servers,
  followers: Follower[],
): Promise<void> {
  const die = random();
  if (die < 0.35) {
    await redis.kill();
    await pause(random() < 0.5 ? 50 : 900); // shorter and longer than the servers' patience
    await redis.start();
  } else if (die < 0.45) await redis.ask("FLUSHALL");
  else if (die < 0.75) await servers.kill(Math.floor(random() * serverCount));
  else for (const follower of followers) if (random() < 0.5) follower.cut();
}

describe("servers with one feed", { tags: ["redis-server", "linux"] }, () => {
  it("lose no write, and tell each change once and in order or of a gap, whoever is killed", async () => {
    const random = seededRandom(14);
    const redis = await redisServer({ keeps: random() < 0.5 });
    const root = await temporaryDirectory();
    for (let index = 0; index < counters; index += 1) await writeFile(join(root, `counter-${index}.html`), "<b>0</b>");
    const script = join(projectRoot, "test/redis/serve-shared-feed.mjs");
    const servers = new Servers(serverCount, () => runNode([script, root, redis.url]));
    let turn = 0;
    const nextOrigin = (): Promise<string> => {
      turn += 1;
      return servers.originOf(turn);
    };
    const followers = Array.from({ length: 2 * serverCount }, () => new Follower(nextOrigin));
    onTestFinished(() => {
      for (const follower of followers) follower.close();
    });
    await Promise.all(followers.map((follower) => follower.isFollowing));

    const writes: Write[] = [];
    let isOver = false;
    const writers = Array.from({ length: serverCount * writersOfServer }, async (_, index) => {
      while (!isOver) {
        await pause(random() * 40);
        const origin = await servers.originOf(index);
        const counter = Math.floor(random() * counters);
        const write: Write = { requestId: randomUUID(), counter, sentAt: moment(), outcome: "unknown" };
        const outcome = await increment(origin, write);
        if (outcome !== "not made") writes.push(Object.assign(write, { outcome }));
      }
    });
    for (let count = 0; count < faults && campaignMsLeft() > 0; count += 1) {
      await pause(random() * 300);
      await disturb(random, redis, servers, followers);
    }
    isOver = true;
    await Promise.all(writers);

    const answered = writes.filter(({ outcome }) => outcome === "answered");
    for (let index = 0; index < counters; index += 1) {
      const value = Number((await readFile(join(root, `counter-${index}.html`), "utf8")).replace(/\D/g, ""));
      const mine = writes.filter(({ counter }) => counter === index);
      expect(value).toBeGreaterThanOrEqual(mine.filter(({ outcome }) => outcome === "answered").length);
      expect(value).toBeLessThanOrEqual(mine.length);
    }
    expect(answered.length).toBeGreaterThan(10);
    const unheardBy = ({ heard, lastGapAt }: Follower): Write[] =>
      answered.filter(({ requestId, sentAt }) => !heard.has(requestId) && sentAt > lastGapAt);
    await expect.poll(() => followers.flatMap(unheardBy)).toEqual([]);
    expect(followers.flatMap((follower) => follower.faults)).toEqual([]);
  });
});
