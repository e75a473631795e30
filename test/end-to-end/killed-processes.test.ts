import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { isCampaign, seededRandom, untilCampaignEnds } from "../helpers/effort.ts";
import { type RunningNode, runNode } from "../helpers/run-node.ts";
import { type Answer, type Sending, send } from "../helpers/send.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

/** Kills for each number of processes; 1,000 in a campaign. */
const rounds = isCampaign ? 14 : 1;
const killsOfRound = isCampaign ? 24 : 3;
const clients = 6;

/** What a client knows of a change: it was answered, or nobody knows whether it was made. */
type Outcome = "answered" | "unknown";

/** Servers of one directory, of which one after the other is killed and started again. */
class Servers {
  readonly #root: string;
  readonly #random: () => number;
  readonly #running: { url: string; process: RunningNode }[] = [];

  private constructor(root: string, random: () => number) {
    this.#root = root;
    this.#random = random;
  }

  static async start(root: string, count: number, random: () => number): Promise<Servers> {
    const servers = new Servers(root, random);
    const starting = Array.from({ length: count }, () => servers.#begin());
    servers.#running.push(...(await Promise.all(starting)));
    return servers;
  }

  send(method: string, target: string, sending?: Sending): Promise<Answer> {
    return send(this.#running[this.#pick()]?.url ?? "", method, target, sending);
  }

  async killOne(): Promise<void> {
    const index = this.#pick();
    this.#running[index]?.process.kill("SIGKILL");
    this.#running[index] = await this.#begin();
  }

  async killAll(): Promise<void> {
    for (const { process } of this.#running) process.kill("SIGKILL");
    await Promise.all(this.#running.map(({ process }) => process.ended));
  }

  #pick(): number {
    return Math.floor(this.#random() * this.#running.length);
  }

  async #begin(): Promise<{ url: string; process: RunningNode }> {
    const process = runNode([join(projectRoot, "test/helpers/serve-root.mjs"), this.#root]);
    const [, url = ""] = await process.waitFor(/listening on (\S+)/);
    return { url, process };
  }
}

/** What was sent, and what became of it as far as clients know. */
class Journal {
  readonly lines = new Map<string, Outcome>();
  readonly items = new Map<string, Outcome>();
  /** Of each client's own file, the last content that was answered and those after it. */
  readonly files = new Map<string, string[]>();
  readonly created = new Map<string, Outcome>();
  readonly torn: string[] = [];
}

const line = (id: string): string => `<${id} ${"x".repeat((Number(id.replace(/\D/g, "")) * 977) % 9000)} ${id}>\n`;
const wholeLines = /^(?:<(\S+) x* \1>\n)*$/;

/** Changes files one after the other until it is told to end. */
async function client(name: string, servers: Servers, journal: Journal, state: { isOver: boolean; replies: number }) {
  /** `undefined` where the server was killed. */
  const request = async (method: string, target: string, sending?: Sending): Promise<number | undefined> => {
    try {
      const { status, text } = await servers.send(method, target, sending);
      state.replies += 1;
      if (method === "GET" && status === 200 && !wholeLines.test(text)) journal.torn.push(text);
      return status;
    } catch {
      return undefined;
    }
  };
  const outcomeOf = (status: number | undefined): Outcome => {
    if (status !== undefined) expect([200, 201, 204, 206]).toContain(status);
    return status === undefined ? "unknown" : "answered";
  };
  for (let count = 1; !state.isOver; count += 1) {
    const id = `${name}${count}`;
    journal.lines.set(id, outcomeOf(await request("POST", "/log.txt", { body: line(id) })));
    await request("GET", "/log.txt");
    const range = { range: "selector=ul" };
    const item = `<li>${id}</li>`;
    journal.items.set(id, outcomeOf(await request("POST", "/a.html", { headers: range, body: item })));
    const contents = journal.files.get(name) ?? [];
    contents.push(line(id));
    journal.files.set(name, contents);
    if (outcomeOf(await request("PUT", `/${name}.txt`, { body: line(id) })) === "answered")
      contents.splice(0, contents.length - 1);
    const creation = { body: line(id), headers: { "if-none-match": "*" } };
    journal.created.set(id, outcomeOf(await request("PUT", `/new/${id}.txt`, creation)));
  }
}

async function verify(root: string, journal: Journal): Promise<void> {
  await diskStorage(root).start?.();
  const left = (await readdir(root, { recursive: true })).filter((name) => name.includes(".filement-"));
  expect(left).toEqual([]);
  expect(journal.torn).toEqual([]);

  const log = await readFile(join(root, "log.txt"), "utf8");
  expect(wholeLines.test(log)).toBe(true);
  expectEach(
    [...log.matchAll(/<(\S+) /g)].map(([, id = ""]) => id),
    journal.lines,
  );

  const page = await readFile(join(root, "a.html"), "utf8");
  expect(page).toMatch(/^<!doctype html><ul>(?:<li>\w+<\/li>)*<\/ul>$/);
  expectEach(
    [...page.matchAll(/<li>(\w+)/g)].map(([, id = ""]) => id),
    journal.items,
  );

  for (const [name, contents] of journal.files) {
    const text = await readFile(join(root, `${name}.txt`), "utf8").catch(() => undefined);
    // Where nothing was answered yet, nothing needs to be there.
    expect([...contents, ...(contents.length > 1 ? [undefined] : [])]).toContain(text);
  }
  const created = await readdir(join(root, "new")).catch(() => []);
  expectEach(
    created.map((name) => name.replace(".txt", "")),
    journal.created,
  );
  for (const name of created) expect(await readFile(join(root, "new", name), "utf8")).toMatch(wholeLines);
}

/** Everything that was answered is there once; what nobody knows of is there at most once; nothing else is there. */
function expectEach(found: readonly string[], sent: ReadonlyMap<string, Outcome>): void {
  expect(found.filter((id, index) => found.indexOf(id) !== index)).toEqual([]);
  expect(found.filter((id) => !sent.has(id))).toEqual([]);
  const there = new Set(found);
  expect([...sent].filter(([id, outcome]) => outcome === "answered" && !there.has(id))).toEqual([]);
}

describe("processes with one root that are killed", { tags: ["linux"] }, () => {
  it.each([1, 2, 4])("lose nothing that was answered, tear nothing and leave nothing, %i at a time", async (count) => {
    const { interruptAfterTimeLimit = Number.POSITIVE_INFINITY } = untilCampaignEnds();
    const endsAt = Date.now() + interruptAfterTimeLimit;
    const random = seededRandom(count);
    for (let round = 0; round < rounds && Date.now() < endsAt; round += 1) {
      const root = join(await temporaryDirectory(), "root");
      await mkdir(root);
      await writeFile(join(root, "log.txt"), "");
      await writeFile(join(root, "a.html"), "<!doctype html><ul></ul>");
      const servers = await Servers.start(root, count, random);
      const journal = new Journal();
      const state = { isOver: false, replies: 0 };
      const names = Array.from({ length: clients }, (_, index) => String.fromCharCode(97 + index));
      const working = Promise.all(names.map((name) => client(name, servers, journal, state)));
      for (let kill = 0; kill < killsOfRound; kill += 1) {
        const enough = state.replies + 1 + Math.floor(random() * 20);
        await expect.poll(() => state.replies >= enough, { interval: 1 }).toBe(true);
        await servers.killOne();
      }
      state.isOver = true;
      await servers.killAll();
      await working;
      expect([...journal.lines.values()]).toContain("answered");
      await verify(root, journal);
    }
  });
});
