import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { seededRandom, timesOf } from "../helpers/effort.ts";
import { runNode } from "../helpers/run-node.ts";
import { type Answer, type Sending, send } from "../helpers/send.ts";
import { projectRoot } from "../helpers/source-files.ts";

const processes = 3;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Where each server listens. */
let origins: readonly string[] = [];
let root = "";

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "filement-several-"));
  const servers = numbers(processes).map(() =>
    runNode([join(projectRoot, "test/helpers/serve-root.mjs"), root], { isShared: true }),
  );
  origins = await Promise.all(servers.map(async ({ waitFor }) => (await waitFor(/listening on (\S+)/))[1] ?? ""));
  return async () => {
    for (const server of servers) server.kill("SIGKILL");
    await rm(root, { recursive: true });
  };
});

interface SharedDirectory {
  readonly directory: string;
  /** Its address at each of the servers. */
  readonly urls: readonly string[];
  /** Sends to one of the servers after the other. */
  send(method: string, target: string, sending?: Sending): Promise<Answer>;
}

/** A directory of one test, which several processes serve. */
async function sharedDirectory(files: Readonly<Record<string, string>>): Promise<SharedDirectory> {
  const directory = await mkdtemp(join(root, "test-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const urls = origins.map((origin) => `${origin}/${basename(directory)}`);
  let next = 0;
  return {
    directory,
    urls,
    send: (method, target, sending) => sendTo(urls[next++ % processes] ?? "", method, target, sending),
  };
}

function sendTo(url: string, method: string, target: string, sending?: Sending): Promise<Answer> {
  const { origin, pathname } = new URL(url);
  return send(origin, method, pathname + target, sending);
}

describe("several processes with one root", { tags: ["linux"] }, () => {
  it("lose none of many elements that are added to one page", async () => {
    const { directory, send } = await sharedDirectory({ "a.html": "<!doctype html><ul></ul>" });
    const count = timesOf(30, 150);
    const adding = numbers(count).map((n) =>
      send("POST", "/a.html", { headers: { range: "selector=ul" }, body: `<li>${n}</li>` }),
    );
    expect(new Set((await Promise.all(adding)).map(({ status }) => status))).toEqual(new Set([206]));
    const page = await readFile(join(directory, "a.html"), "utf8");
    const found = [...page.matchAll(/<li>(\d+)<\/li>/g)].map(([, n]) => Number(n));
    expect(found.sort((a, b) => a - b)).toEqual(numbers(count));
    await expect.poll(() => readdir(directory)).toEqual(["a.html"]); // spare files stay for a moment
  });

  it("append every content whole, and show no reader half of one", async () => {
    const { directory, send } = await sharedDirectory({ "log.txt": "" });
    const line = (n: number): string => `${n} ${"x".repeat(9000)} ${n}\n`;
    const reads: Promise<Answer>[] = [];
    const count = timesOf(20, 60);
    const appending = numbers(count).map((n) => {
      reads.push(send("GET", "/log.txt"));
      return send("POST", "/log.txt", { body: line(n) });
    });
    expect(new Set((await Promise.all(appending)).map(({ status }) => status))).toEqual(new Set([200]));
    const lines = (await readFile(join(directory, "log.txt"), "utf8")).split(/(?<=\n)/);
    expect(lines.sort()).toEqual(numbers(count).map(line).sort());
    for (const { status, text } of await Promise.all(reads)) {
      expect([status, text.split("\n").every((each) => /^(?:(\d+) x{9000} \1)?$/.test(each))]).toEqual([200, true]);
    }
    await expect.poll(() => readdir(directory)).toEqual(["log.txt"]); // a note stays for a moment
  });

  it("show readers whole versions only, each by a tag of its own, whatever is moved and replaced", async () => {
    const { directory, urls, send } = await sharedDirectory({});
    const { pathname } = new URL(urls[0] ?? "");
    const random = seededRandom(5);
    const anyPath = (): string => ["/a.txt", "/b.txt", "/in/a.txt", "/in/b.txt"][Math.floor(random() * 4)] ?? "";
    const contents = new Map<unknown, string>();
    const step = async (): Promise<void> => {
      const body = `(${"x".repeat(random() * 60)})`;
      const [method = "GET"] = ["PUT", "POST", "POST", "MOVE"].slice(random() * 8);
      const headers = { destination: pathname + anyPath() };
      const { status, text, headers: had } = await send(method, anyPath(), method === "MOVE" ? { headers } : { body });
      expect([200, 201, 204, 403, 404, 409]).toContain(status);
      if (method !== "GET" || status !== 200) return;
      expect([/^(?:\(x*\))+$/.test(text), contents.get(had.etag) ?? text]).toEqual([true, text]);
      contents.set(had.etag, text);
    };
    const client = async (): Promise<void> => {
      for (let left = timesOf(10, 500); left > 0; left -= 1) await step();
    };
    await Promise.all(numbers(24).map(client));
    const leftovers = async () => (await readdir(directory, { recursive: true })).filter((name) => /\.tmp$/.test(name));
    await expect.poll(leftovers).toEqual([]); // notes and spare files stay for a moment
  });

  it("let one of them create a file that none may replace, and one delete it", async () => {
    const { directory, send } = await sharedDirectory({});
    const count = timesOf(8, 20);
    const creating = numbers(count).map(async (n) => {
      const headers = { "if-none-match": "*" };
      const attempts = numbers(processes).map((by) => send("PUT", `/${n}.txt`, { headers, body: String(by) }));
      const made = (await Promise.all(attempts)).map(({ status }) => status);
      const deleted = await Promise.all(numbers(processes).map(() => send("DELETE", `/${n}.txt`)));
      return [...made.sort(), ...deleted.map(({ status }) => status).sort()];
    });
    for (const statuses of await Promise.all(creating)) expect(statuses).toEqual([201, 412, 412, 204, 404, 404]);
    await expect.poll(() => readdir(directory)).toEqual([]);
  });

  it("count exactly to a number by If-Match, with sixteen clients", async () => {
    const { directory, urls } = await sharedDirectory({ "count.txt": "0" });
    const total = timesOf(40, 1_000);
    let increments = 0;
    const client = async (url: string): Promise<void> => {
      for (;;) {
        const { text, headers } = await sendTo(url, "GET", "/count.txt");
        if (Number(text) === total) return;
        const sending = { headers: { "if-match": headers.etag ?? "" }, body: String(Number(text) + 1) };
        const { status } = await sendTo(url, "PUT", "/count.txt", sending);
        expect([200, 412]).toContain(status);
        if (status === 200) increments += 1;
      }
    };
    await Promise.all(numbers(16).map((n) => client(urls[n % urls.length] ?? "")));
    expect([await readFile(join(directory, "count.txt"), "utf8"), increments]).toEqual([String(total), total]);
  });

  it("move a directory while others write to it: each file is at its old or its new path, and whole", async () => {
    const { directory, urls, send } = await sharedDirectory({});
    const [first = "", ...others] = urls;
    const pathOf = (round: number): string => `/${round % 2 === 0 ? "one" : "two"}`;
    for (let round = 0; round < timesOf(3, 60); round += 1) {
      const [from, to] = [pathOf(round), pathOf(round + 1)];
      await send("PUT", `${from}/a.txt`, { body: "old" });
      const { pathname } = new URL(first + to);
      const moving = sendTo(first, "MOVE", `${from}/`, { headers: { destination: pathname } });
      const headers = { "if-match": "*" }; // which makes no new directory
      const writing = others.flatMap((url) =>
        numbers(4).map((n) => sendTo(url, "PUT", `${from}/a.txt`, { headers, body: `new ${n}` })),
      );
      const statuses = (await Promise.all(writing)).map(({ status }) => status);
      expect((await moving).status).toBe(201);
      expect(statuses.every((status) => [200, 412].includes(status))).toBe(true);
      expect(await readFile(join(directory, to, "a.txt"), "utf8")).toMatch(
        statuses.includes(200) ? /^new \d$/ : /^old$/,
      );
      expect((await readdir(directory)).join()).toBe(to.slice(1));
    }
  });
});
