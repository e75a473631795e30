import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runNode } from "../helpers/run-node.ts";
import { type Answer, type Sending, send } from "../helpers/send.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const processes = 3;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

interface SharedRoot {
  readonly root: string;
  /** Where they listen. */
  readonly urls: readonly string[];
  /** Sends to one of the servers after the other. */
  send(method: string, target: string, sending?: Sending): Promise<Answer>;
}

/** Several servers, each a process of its own, with one directory. */
async function sharedRoot(files: Readonly<Record<string, string>>): Promise<SharedRoot> {
  const root = join(await temporaryDirectory(), "root");
  await mkdir(root);
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
  const urls = await Promise.all(numbers(processes).map(() => serveRoot(root)));
  let next = 0;
  return {
    root,
    urls,
    send: (method, target, sending) => send(urls[next++ % processes] ?? "", method, target, sending),
  };
}

async function serveRoot(root: string): Promise<string> {
  const server = runNode([join(projectRoot, "test/helpers/serve-root.mjs"), root]);
  const [, url = ""] = await server.waitFor(/listening on (\S+)/);
  return url;
}

describe("several processes with one root", { tags: ["linux"] }, () => {
  it("lose none of 150 elements that are added to one page", async () => {
    const { root, send } = await sharedRoot({ "a.html": "<!doctype html><ul></ul>" });
    const adding = numbers(150).map((n) =>
      send("POST", "/a.html", { headers: { range: "selector=ul" }, body: `<li>${n}</li>` }),
    );
    expect(new Set((await Promise.all(adding)).map(({ status }) => status))).toEqual(new Set([206]));
    const page = await readFile(join(root, "a.html"), "utf8");
    const found = [...page.matchAll(/<li>(\d+)<\/li>/g)].map(([, n]) => Number(n));
    expect(found.sort((a, b) => a - b)).toEqual(numbers(150));
    expect(await readdir(root)).toEqual(["a.html"]);
  });

  it("append every content whole, and show no reader half of one", async () => {
    const { root, send } = await sharedRoot({ "log.txt": "" });
    const line = (n: number): string => `${n} ${"x".repeat(9000)} ${n}\n`;
    const reads: Promise<Answer>[] = [];
    const appending = numbers(60).map((n) => {
      reads.push(send("GET", "/log.txt"));
      return send("POST", "/log.txt", { body: line(n) });
    });
    expect(new Set((await Promise.all(appending)).map(({ status }) => status))).toEqual(new Set([200]));
    const lines = (await readFile(join(root, "log.txt"), "utf8")).split(/(?<=\n)/);
    expect(lines.sort()).toEqual(numbers(60).map(line).sort());
    for (const { status, text } of await Promise.all(reads)) {
      expect([status, text.split("\n").every((each) => /^(?:(\d+) x{9000} \1)?$/.test(each))]).toEqual([200, true]);
    }
    expect(await readdir(root)).toEqual(["log.txt"]);
  });

  it("let one of them create a file that none may replace", async () => {
    const { root, send } = await sharedRoot({});
    const creating = numbers(20).map(async (n) => {
      const headers = { "if-none-match": "*" };
      const attempts = numbers(processes).map((by) => send("PUT", `/${n}.txt`, { headers, body: String(by) }));
      const statuses = (await Promise.all(attempts)).map(({ status }) => status);
      return statuses.sort();
    });
    for (const statuses of await Promise.all(creating)) expect(statuses).toEqual([201, 412, 412]);
    expect(await readdir(root)).toHaveLength(20);
  });

  it("count every increment that If-Match let through", async () => {
    const { root, urls } = await sharedRoot({ "count.txt": "0" });
    const increments = await Promise.all(
      urls.map(async (url) => {
        let done = 0;
        for (let attempt = 0; attempt < 40; attempt += 1) {
          const { text, headers } = await send(url, "GET", "/count.txt");
          const sending = { headers: { "if-match": headers.etag ?? "" }, body: String(Number(text) + 1) };
          const { status } = await send(url, "PUT", "/count.txt", sending);
          expect([200, 412]).toContain(status);
          if (status === 200) done += 1;
        }
        return done;
      }),
    );
    expect(await readFile(join(root, "count.txt"), "utf8")).toBe(String(increments.reduce((a, b) => a + b)));
  });

  it("delete a file once", async () => {
    const { root, send } = await sharedRoot(Object.fromEntries(numbers(20).map((n) => [`${n}.txt`, "old"])));
    const deleting = numbers(20).map(async (n) => {
      const attempts = numbers(processes).map(() => send("DELETE", `/${n}.txt`));
      return (await Promise.all(attempts)).map(({ status }) => status).sort();
    });
    expect(await Promise.all(deleting)).toEqual(numbers(20).map(() => [204, 404, 404]));
    expect(await readdir(root)).toEqual([]);
  });
});
