import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { s3Storage } from "../../src/storage/s3/s3-storage.ts";
import { campaignMsLeft, isCampaign, msForOneTest, seededRandom } from "../helpers/effort.ts";
import type { Need } from "../helpers/needs.ts";
import { type RunningNode, runNode } from "../helpers/run-node.ts";
import { type Answer, type Sending, send } from "../helpers/send.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { Follower, moment } from "../redis/followers.ts";
import { type RedisServer, redisServer } from "../redis/redis-server.ts";
import { textAt } from "../storage/content.ts";

const serverCount = 4;
const writersOfServer = 8;
const followersOfServer = 2;
const pages = 4;
const countersOfPage = 2;
/** Each writer ends after this many; in a campaign, with its time. */
const writesOfWriter = isCampaign ? Number.POSITIVE_INFINITY : 2;
/** Answered writes between two faults, at most. */
const writesBetween = isCampaign ? 40 : 12;
/** A campaign goes on for this many faults, which take ten minutes or so, or until the time of the test is spent. */
const maxFaults = 600;
/** For starts and ends on a busy machine, in milliseconds. */
const marginMs = 120_000;
/** Of these servers alone: the port of one that was killed may become that of another test's server. */
const address = "127.0.0.3";

/** What went wrong in every run of the tests; a campaign goes on at random. */
const usualFaults = ["kill", "restart", "cut"] as const;
type Fault = (typeof usualFaults)[number] | "flush";

const totals = { faults: 0, answered: 0, gaps: 0 };

afterAll(() => {
  const { faults, answered, gaps } = totals;
  // Not by the console, of which a campaign shows only what failed.
  process.stdout.write(`${faults} faults, ${answered} writes answered, ${gaps} gaps told to sockets\n`);
});

/** Where all servers keep their files, and what is really there. */
interface SharedRoot {
  /** For the servers: a directory, or a bucket. */
  readonly location: string;
  textAt(path: string): Promise<string | undefined>;
}

/** Pages with counters. Each has the names of the writes that made it what it is. */
const counters = Array.from({ length: countersOfPage }, (_, index) => `<b id="c${index}" title="">0</b>`).join("\n");
const firstFiles = {
  "/log.txt": "",
  ...Object.fromEntries(Array.from({ length: pages }, (_, page) => [`/page-${page}.html`, counters])),
};

async function inBucket(): Promise<SharedRoot> {
  const { testBucket } = await import("../helpers/test-bucket.ts");
  const { options } = await testBucket(firstFiles);
  const storage = s3Storage(options);
  return {
    location: `s3://${options.bucket}/${options.prefix}?endpoint=${options.endpoint}`,
    textAt: (path) => textAt(storage, path),
  };
}

async function inDirectory(): Promise<SharedRoot> {
  const root = await temporaryDirectory(firstFiles);
  await mkdir(join(root, "new"));
  return { location: root, textAt: (path) => readFile(join(root, path), "utf8").catch(() => undefined) };
}

/** Servers that are killed and started again. */
class Servers {
  readonly #start: () => RunningNode;
  readonly #running: Promise<{ process: RunningNode; origin: string }>[];

  constructor(root: SharedRoot, redis: RedisServer) {
    const script = join(projectRoot, "test/redis/serve-shared-feed.mjs");
    this.#start = () => runNode([script, root.location, redis.url, address]);
    this.#running = Array.from({ length: serverCount }, () => this.#begin());
  }

  /** Where the server of this number is, once it listens. */
  async originOf(index: number): Promise<string> {
    const { origin = "" } = (await this.#running[index % serverCount]) ?? {};
    return origin;
  }

  async kill(index: number): Promise<void> {
    const running = await this.#running[index];
    running?.process.kill("SIGKILL");
    this.#running[index] = this.#begin();
    await this.#running[index];
  }

  async #begin(): Promise<{ process: RunningNode; origin: string }> {
    const process = this.#start();
    const [, origin = ""] = await process.waitFor(/listening on (\S+)/);
    return { process, origin };
  }
}

/** A write that was made for all that is known, or that may have been made. */
interface Write {
  readonly id: string;
  /** What it changed: the path, or with a `#` one of its elements. */
  readonly target: string;
  readonly sentAt: number;
  readonly outcome: "answered" | "unknown";
}

/** What clients know of their writes. Emits "answered". */
class Journal extends EventEmitter {
  readonly writes: Write[] = [];
  readonly torn: string[] = [];

  /** Notes what became of a request, where it may have changed something. */
  note(id: string, target: string, sentAt: number, status: number | undefined, refusals: readonly number[]): void {
    if (status !== undefined && refusals.includes(status)) return;
    // 503: the store did not say whether the change was made.
    const outcome = status === undefined || status === 503 ? "unknown" : "answered";
    if (outcome === "answered") expect([200, 201, 206]).toContain(status);
    this.writes.push({ id, target, sentAt, outcome });
    if (outcome === "answered") this.emit("answered");
  }

  of(target: string): { readonly sent: Write[]; readonly answered: string[] } {
    const sent = this.writes.filter((write) => write.target === target);
    return { sent, answered: sent.filter(({ outcome }) => outcome === "answered").map(({ id }) => id) };
  }
}

const counterPattern = /^<b id="c\d" title="([^"]*)">(\d+)<\/b>$/;

/** One client of one server, which waits for it where it starts again. */
class Writer {
  readonly #origin: () => Promise<string>;
  readonly #journal: Journal;
  readonly #random: () => number;

  constructor(origin: () => Promise<string>, journal: Journal, random: () => number) {
    this.#origin = origin;
    this.#journal = journal;
    this.#random = random;
  }

  async write(): Promise<void> {
    const die = this.#random();
    if (die < 0.6) await this.#increment(this.#pick(pages), this.#pick(countersOfPage));
    else if (die < 0.8) await this.#append();
    else await this.#create();
  }

  /** Adds one to a counter and its name to the writes before, as often as it takes where others are first. */
  async #increment(page: number, counter: number): Promise<void> {
    const [id, sentAt] = [randomUUID(), moment()];
    const range = { range: `selector=#c${counter}` };
    const path = `/page-${page}.html`;
    for (;;) {
      const read = await this.#send("GET", path, { headers: range });
      if (read?.status !== 206) return;
      const [, names = "", count = ""] = counterPattern.exec(read.text) ?? [];
      if (count === "") this.#journal.torn.push(read.text);
      const body = `<b id="c${counter}" title="${names} ${id}">${Number(count) + 1}</b>`;
      const headers = { ...range, "if-match": read.headers.etag ?? "", "x-request-id": id };
      const status = (await this.#send("PUT", path, { headers, body }))?.status;
      if (status === 412 || status === 409) continue; // others were first, once or again and again
      return this.#journal.note(id, `${path}#c${counter}`, sentAt, status, []);
    }
  }

  async #append(): Promise<void> {
    const [id, sentAt] = [randomUUID(), moment()];
    const sending = { headers: { "x-request-id": id }, body: `${id}\n` };
    const answer = await this.#send("POST", "/log.txt", sending);
    this.#journal.note(id, "/log.txt", sentAt, answer?.status, [409]);
  }

  /** Makes a file that others try to make at the same time. */
  async #create(): Promise<void> {
    const [id, sentAt] = [randomUUID(), moment()];
    const path = `/new/${Math.floor(this.#journal.writes.length / 4)}.txt`;
    const headers = { "x-request-id": id, "if-none-match": "*" };
    const answer = await this.#send("PUT", path, { headers, body: id });
    this.#journal.note(id, path, sentAt, answer?.status, [412, 409]);
  }

  /** `undefined` where the server was killed. */
  async #send(method: string, target: string, sending: Sending): Promise<Answer | undefined> {
    const origin = await this.#origin();
    return send(origin, method, target, sending).catch(() => undefined);
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

/** The files are what the writes have made of them, each of which counts once. */
async function verifyFiles(root: SharedRoot, journal: Journal): Promise<void> {
  expect(journal.torn).toEqual([]);
  for (let page = 0; page < pages; page += 1) {
    const text = (await root.textAt(`/page-${page}.html`)) ?? "";
    for (const [index, element] of text.split("\n").entries()) {
      const [, names = "", count = ""] = counterPattern.exec(element) ?? [];
      const made = names.split(" ").filter((name) => name !== "");
      expect(Number(count)).toBe(made.length);
      expectEach(made, journal.of(`/page-${page}.html#c${index}`));
    }
  }
  const lines = ((await root.textAt("/log.txt")) ?? "").split("\n");
  expect(lines.pop()).toBe("");
  expectEach(lines, journal.of("/log.txt"));
  for (const target of new Set(journal.writes.map((write) => write.target))) {
    if (!target.startsWith("/new/")) continue;
    const content = await root.textAt(target);
    expectEach(content === undefined ? [] : [content], journal.of(target));
  }
}

/** Everything that was answered is there once; what nobody knows of is there at most once; nothing else is there. */
function expectEach(found: readonly string[], { sent, answered }: ReturnType<Journal["of"]>): void {
  const there = new Set(found);
  expect(there.size).toBe(found.length);
  expect(answered.filter((id) => !there.has(id))).toEqual([]);
  const names = new Set(sent.map(({ id }) => id));
  expect(found.filter((id) => !names.has(id))).toEqual([]);
}

/** Each has heard of each write that was answered, or was told of a gap since; and nothing twice or out of order. */
async function verifyFeed(followers: readonly Follower[], journal: Journal): Promise<void> {
  const unheardBy = ({ heard, lastGapAt }: Follower): Write[] =>
    journal.writes.filter(({ id, sentAt, outcome }) => outcome === "answered" && !heard.has(id) && sentAt > lastGapAt);
  await expect.poll(() => followers.flatMap(unheardBy)).toEqual([]);
  expect(followers.flatMap((follower) => follower.faults)).toEqual([]);
}

function randomFault(random: () => number): Fault {
  const die = random();
  if (die < 0.35) return "restart";
  if (die < 0.45) return "flush";
  return die < 0.75 ? "kill" : "cut";
}

describe("servers with one root and one Redis", { tags: ["redis-server", "linux"] }, () => {
  const timeout = isCampaign ? { timeout: campaignMsLeft() + marginMs } : {};
  const inSuite: Need[] = ["versitygw"];
  const onlyInCampaign: Need[] = ["campaign"];
  const variants = [
    { where: "a bucket", make: inBucket, tags: inSuite },
    { where: "a directory", make: inDirectory, tags: onlyInCampaign },
  ];

  for (const { where, make, tags } of variants) {
    const title = `lose no write to ${where}, and tell each once and in order or of a gap, whoever is killed`;
    it(title, { tags, ...timeout }, async () => {
      const random = seededRandom(14);
      const redis = await redisServer({ keeps: random() < 0.5 });
      const root = await make();
      const servers = new Servers(root, redis);
      const followers = Array.from({ length: serverCount * followersOfServer }, (_, index) => {
        let turn = index;
        return new Follower(() => servers.originOf(turn++)); // another one when it loses this
      });
      onTestFinished(() => {
        for (const follower of followers) follower.close();
      });
      await Promise.all(followers.map((follower) => follower.isFollowing));

      const journal = new Journal();
      let isOver = false;
      const working = Array.from({ length: serverCount * writersOfServer }, async (_, index) => {
        const writer = new Writer(() => servers.originOf(index), journal, random);
        for (let count = 0; count < writesOfWriter && !isOver; count += 1) await writer.write();
      });
      const bringAbout: Readonly<Record<Fault, () => Promise<unknown>>> = {
        kill: () => servers.kill(Math.floor(random() * serverCount)),
        async restart() {
          await redis.kill();
          await pause(random() < 0.5 ? 50 : 900); // shorter and longer than the servers' patience
          await redis.start();
        },
        flush: () => redis.ask("FLUSHALL"),
        async cut() {
          for (const follower of followers) if (random() < 0.5) follower.cut();
        },
      };
      const endsAt = Date.now() + msForOneTest();
      const mayGoOn = (faults: number): boolean =>
        isCampaign ? faults < maxFaults && Date.now() < endsAt : faults < usualFaults.length;
      for (let faults = 0; mayGoOn(faults); faults += 1) {
        for (let writes = 1 + Math.floor(random() * writesBetween); writes > 0; writes -= 1) {
          await Promise.race([once(journal, "answered"), Promise.all(working)]);
        }
        totals.faults += 1;
        await bringAbout[isCampaign ? randomFault(random) : (usualFaults[faults] ?? "cut")]();
      }
      isOver = true;
      await Promise.all(working);

      await verifyFiles(root, journal);
      await verifyFeed(followers, journal);
      const { length: answered } = journal.writes.filter(({ outcome }) => outcome === "answered");
      expect(answered).toBeGreaterThan(10);
      totals.answered += answered;
      totals.gaps += followers.reduce((sum, { gaps }) => sum + gaps, 0);
    });
  }
});
