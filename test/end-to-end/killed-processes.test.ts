import { EventEmitter, once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { s3Storage } from "../../src/storage/s3/s3-storage.ts";
import { campaignMsLeft, isCampaign, seededRandom, timeForMore, timesOf } from "../helpers/effort.ts";
import { type Faults, faultyProxy } from "../helpers/faulty-proxy.ts";
import type { Need } from "../helpers/needs.ts";
import { type RunningNode, runNode } from "../helpers/run-node.ts";
import { type Answer, type Sending, send } from "../helpers/send.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { namesAt, textAt } from "../storage/content.ts";

/** Processes of one round and the next. */
const processCounts = [1, 2, 4];
/** A campaign goes on to the thousandth kill, or until its time is spent. */
const usualKills = 4;
const maxKills = timesOf(usualKills, 1_000);
const killsOfRound = isCampaign ? 24 : 2;
const clients = 6;
/** For the end of a round on a busy machine, in milliseconds: the last start of a server, and looking at every file. */
const endOfRoundMs = 120_000;
/** Of these servers alone: the port of one that was killed may become that of another test's server. */
const address = "127.0.0.2";

const totals = { rounds: 0, kills: 0, answered: 0 };

afterAll(() => {
  const { rounds, kills, answered } = totals;
  // Not by the console, of which a campaign shows only what failed.
  process.stdout.write(`${kills} kills in ${rounds} rounds, ${answered} writes answered\n`);
});

/** Where the servers of a round keep their files, and what is really there afterwards. */
interface SharedRoot {
  /** For the servers: a directory, or a bucket. */
  readonly location: string;
  textAt(path: string): Promise<string | undefined>;
  namesIn(path: string): Promise<string[]>;
  /** What has been left behind that is no file of a client. */
  leftovers(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

const cards = ["c0", "c1", "c2", "c3", "c4", "c5"];
const board = `<ul id=one></ul><ul id=two></ul><ol id=l0>${cards.map((id) => `<li id=${id}></li>`).join("")}</ol><ol id=l1></ol>`;
const firstFiles = { "log.txt": "", "a.html": "<!doctype html><ul></ul>", "board.html": board };

async function inDirectory(): Promise<SharedRoot> {
  const root = await temporaryDirectory(firstFiles);
  return {
    location: root,
    textAt: (path) => readFile(join(root, path), "utf8").catch(() => undefined),
    namesIn: (path) => readdir(join(root, path)).catch(() => []),
    async leftovers() {
      await diskStorage(root).start?.();
      return (await readdir(root, { recursive: true })).filter((name) => name.includes(".filement-"));
    },
    remove: () => rm(root, { recursive: true }),
  };
}

/** The servers reach the store by a way that fails now and then. */
async function inBucket(random: () => number): Promise<SharedRoot> {
  const { testBucket } = await import("../helpers/test-bucket.ts");
  const paths = Object.entries(firstFiles).map(([name, text]) => [`/${name}`, text]);
  const { options, unfinished } = await testBucket(Object.fromEntries(paths));
  const way = await faultyProxy(options.endpoint);
  const storage = s3Storage(options);
  way.fail({ ...someWrites(random), times: Number.POSITIVE_INFINITY });
  return {
    location: `s3://${options.bucket}/${options.prefix}?endpoint=${way.url}`,
    textAt: (path) => textAt(storage, path),
    namesIn: (path) => namesAt(storage, path).catch(() => []),
    async leftovers() {
      return (await unfinished()) === 0 ? [] : ["an upload"];
    },
    async remove() {
      expect(way.failures).toBeGreaterThan(0);
    },
  };
}

/** Loses one write of five to twenty on its way, or its answer; never the trial write of a start. */
function someWrites(random: () => number): Pick<Faults, "cutRequest" | "cutAnswer"> {
  let passing = 5;
  let losesAnswer = false;
  const isLost = (request: string): boolean => {
    if (!/^PUT (?!\S*\.filement-probe)/.test(request)) return false;
    passing -= 1;
    if (passing > 0) return false;
    passing = 5 + Math.floor(random() * 16);
    losesAnswer = random() < 0.5;
    return true;
  };
  return {
    cutRequest: { test: (request) => !losesAnswer && isLost(request) },
    cutAnswer: { test: (request) => losesAnswer && isLost(request) },
  };
}

/** What a client knows of a change: it was answered, or nobody knows whether it was made. */
type Outcome = "answered" | "unknown";

/** Servers of one directory, of which one after the other is killed and started again. */
class Servers {
  /** Whether they may say that they cannot tell, as they do when their store does not answer. */
  readonly mayLackStore: boolean;
  readonly #root: string;
  readonly #random: () => number;
  /** Where a server starts again, clients wait for it: what they had sent to the one before is enough to lose. */
  readonly #running: Promise<{ url: string; process: RunningNode }>[];

  constructor(root: string, count: number, random: () => number) {
    this.mayLackStore = root.startsWith("s3://");
    this.#root = root;
    this.#random = random;
    this.#running = Array.from({ length: count }, () => this.#begin());
  }

  async send(method: string, target: string, sending?: Sending): Promise<Answer> {
    const server = await this.#running[this.#pick()];
    return send(server?.url ?? "", method, target, sending);
  }

  async killOne(): Promise<void> {
    const index = this.#pick();
    const server = await this.#running[index];
    server?.process.kill("SIGKILL");
    this.#running[index] = this.#begin();
    await this.#running[index];
  }

  async killAll(): Promise<void> {
    for (const { process } of await Promise.all(this.#running)) {
      process.kill("SIGKILL");
      await process.ended;
    }
  }

  #pick(): number {
    return Math.floor(this.#random() * this.#running.length);
  }

  async #begin(): Promise<{ url: string; process: RunningNode }> {
    const process = runNode([join(projectRoot, "test/helpers/serve-root.mjs"), this.#root, "fsync", address]);
    const [, url = ""] = await process.waitFor(/listening on (\S+)/);
    return { url, process };
  }
}

/** What was sent, and what became of it as far as clients know. Emits "reply" for each. */
class Journal extends EventEmitter {
  readonly lines = new Map<string, Outcome>();
  readonly items = new Map<string, Outcome>();
  readonly lists = new Map<string, Outcome>();
  /** For each client's own file: the last content that was answered, if any, then the contents sent after it. */
  readonly files = new Map<string, Array<string | undefined>>();
  readonly created = new Map<string, Outcome>();
  readonly torn: string[] = [];
}

const line = (id: string): string => `<${id} ${"x".repeat((Number(id.replace(/\D/g, "")) * 977) % 9000)} ${id}>\n`;
const wholeLines = /^(?:<(\S+) x* \1>\n)*$/;

/** Changes files one after the other until it is told to end. */
async function client(name: string, servers: Servers, journal: Journal, state: { isOver: boolean }): Promise<void> {
  /** `undefined` where the server was killed. */
  const request = async (method: string, target: string, sending?: Sending): Promise<number | undefined> => {
    try {
      const { status, text } = await servers.send(method, target, sending);
      journal.emit("reply");
      if (method === "GET" && status === 200 && !wholeLines.test(text)) journal.torn.push(text);
      return status;
    } catch {
      return undefined;
    }
  };
  const outcomeOf = (status: number | undefined): Outcome => {
    if (status === undefined || (status === 503 && servers.mayLackStore)) return "unknown";
    expect([200, 201, 204, 206]).toContain(status);
    totals.answered += 1;
    return "answered";
  };
  for (let count = 1; !state.isOver; count += 1) {
    const id = `${name}${count}`;
    journal.lines.set(id, outcomeOf(await request("POST", "/log.txt", { body: line(id) })));
    await request("GET", "/log.txt");
    const range = { range: "selector=ul" };
    const item = `<li>${id}</li>`;
    journal.items.set(id, outcomeOf(await request("POST", "/a.html", { headers: range, body: item })));
    const [card, list] = [cards[(count * 5) % cards.length], count % 2];
    const edits = [
      { op: "insert", selector: "#one", position: "beforeend", html: item },
      { op: "move", selector: `#${card}`, to: `#l${list}`, position: count % 3 === 0 ? "afterbegin" : "beforeend" },
      { op: "insert", selector: "#two", position: "afterbegin", html: item },
    ];
    const asJson = { headers: { "content-type": "application/json" }, body: JSON.stringify(edits) };
    journal.lists.set(id, outcomeOf(await request("PATCH", "/board.html", asJson)));
    const contents = journal.files.get(name) ?? [undefined];
    contents.push(line(id));
    journal.files.set(name, contents);
    if (outcomeOf(await request("PUT", `/${name}.txt`, { body: line(id) })) === "answered")
      contents.splice(0, contents.length - 1);
    const creation = { body: line(id), headers: { "if-none-match": "*" } };
    journal.created.set(id, outcomeOf(await request("PUT", `/new/${id}.txt`, creation)));
  }
}

async function verify(root: SharedRoot, journal: Journal): Promise<void> {
  expect(await root.leftovers()).toEqual([]);
  expect(journal.torn).toEqual([]);

  const log = (await root.textAt("/log.txt")) ?? "";
  expect(wholeLines.test(log)).toBe(true);
  expectEach(
    [...log.matchAll(/<(\S+) /g)].map(([, id = ""]) => id),
    journal.lines,
  );

  const page = (await root.textAt("/a.html")) ?? "";
  expect(page).toMatch(/^<!doctype html><ul>(?:<li>\w+<\/li>)*<\/ul>$/);
  expectEach(
    [...page.matchAll(/<li>(\w+)/g)].map(([, id = ""]) => id),
    journal.items,
  );

  const [one = [], two = [], moved = []] = ((await root.textAt("/board.html")) ?? "")
    .split("<ul id=two>")
    .flatMap((part) => part.split("<ol id=l0>"))
    .map((part) => [...part.matchAll(/<li(?: id=|>)(\w+)/g)].map(([, id = ""]) => id));
  expect(two).toEqual(one.toReversed()); // never half a list
  expect(moved.toSorted()).toEqual(cards);
  expectEach(one, journal.lists);

  for (const [name, contents] of journal.files) {
    expect(contents).toContain(await root.textAt(`/${name}.txt`));
  }
  const created = await root.namesIn("/new");
  expectEach(
    created.map((name) => name.replace(".txt", "")),
    journal.created,
  );
  for (const name of created) expect(await root.textAt(`/new/${name}`)).toMatch(wholeLines);
}

/** Everything that was answered is there once; what nobody knows of is there at most once; nothing else is there. */
function expectEach(found: readonly string[], sent: ReadonlyMap<string, Outcome>): void {
  expect(found.filter((id, index) => found.indexOf(id) !== index)).toEqual([]);
  expect(found.filter((id) => !sent.has(id))).toEqual([]);
  const there = new Set(found);
  expect([...sent].filter(([id, outcome]) => outcome === "answered" && !there.has(id))).toEqual([]);
}

/** Has clients change files, and kills one server after the other, until all kills are made or time is over. */
async function killUnderLoad(
  { location }: SharedRoot,
  count: number,
  random: () => number,
  isOver: () => boolean,
): Promise<Journal> {
  const servers = new Servers(location, count, random);
  const journal = new Journal();
  const state = { isOver: false };
  const names = Array.from({ length: clients }, (_, index) => String.fromCharCode(97 + index));
  const working = Promise.all(names.map((name) => client(name, servers, journal, state)));
  try {
    for (let kill = 0; kill < killsOfRound && totals.kills < maxKills && !isOver(); kill += 1) {
      for (let replies = 1 + Math.floor(random() * 20); replies > 0; replies -= 1)
        await Promise.race([once(journal, "reply"), working]);
      await servers.killOne();
      totals.kills += 1;
    }
  } finally {
    state.isOver = true;
    await servers.killAll();
  }
  await working;
  return journal;
}

describe("processes with one root that are killed", { tags: ["linux"] }, () => {
  const timeout = isCampaign ? { timeout: campaignMsLeft() + endOfRoundMs } : {};

  const tags: Need[] = ["versitygw", "campaign"];
  it("lose nothing that was answered to a bucket whose answers are lost now and then", {
    tags,
    ...timeout,
  }, async () => {
    const random = seededRandom(11);
    const isTimeFor = timeForMore(usualKills);
    const root = await inBucket(random);
    await verify(root, await killUnderLoad(root, 4, random, () => !isTimeFor(totals.kills)));
    await root.remove();
  });

  it("lose nothing that was answered, tear nothing and leave nothing", timeout, async ({ signal }) => {
    const isTimeFor = timeForMore(usualKills);
    const isOver = (): boolean => signal.aborted || !isTimeFor(totals.kills);
    const random = seededRandom(7);
    while (totals.kills < maxKills && !isOver()) {
      const count = processCounts[totals.rounds % processCounts.length] ?? 1;
      const root = await inDirectory();
      await verify(root, await killUnderLoad(root, count, random, isOver));
      await root.remove();
      totals.rounds += 1;
    }
    expect(totals.answered).toBeGreaterThan(0);
  });
});
