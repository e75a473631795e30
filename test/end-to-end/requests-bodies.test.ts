import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { RequestHandler } from "express";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { HttpError } from "../../src/http/http-error.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { fastClock } from "../helpers/fast-clock.ts";
import { send } from "../helpers/send.ts";
import { exchangeBytes, listen, openSocket } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { onDisk, storages, type TestSite, testSite } from "../helpers/test-site.ts";

const require = createRequire(import.meta.url);
const smuggled = "DELETE /a.txt HTTP/1.1\r\nHost: a\r\n\r\n";

/** Refuses before any content was read: `/401`, `/413`... with that status. */
const refusing: Plugin = {
  name: "refusing",
  handle({ path }, next) {
    const status = Number(path.slice(1));
    if (Number.isInteger(status) && status > 0) throw new HttpError(status, "REFUSED", "Not like this.");
    return next();
  },
};

const site = async (config: Omit<FileServerConfig, "root" | "storage"> = {}): Promise<TestSite> =>
  testSite(await onDisk(await temporaryDirectory(), { "/a.txt": "a" }), { plugins: [refusing], ...config });

const statuses = (answers: string): string[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status ?? "");
const bytes = (length: number): string => "x".repeat(length);

describe.each([
  ["Express 5", "express"],
  ["Express 4", "express4"],
])("content that a body parser of %s has read", (_version, name) => {
  const express: typeof import("express") = require(name);
  const all = { type: () => true, limit: "1mb" };
  const discarding: RequestHandler = (request, _response, next) => void request.resume().once("end", next);

  it.each([
    ["raw", express.raw(all), '{"a":1}'],
    ["raw, empty", express.raw(all), ""],
    ["text", express.text(all), "gr\u00fc\u00dfe"],
  ])("is used where it is still the content: %s", async (_parser, parser, content) => {
    const storage = memoryStorage({ "/old.txt": "old" });
    const url = `http://127.0.0.1:${await listen(createServer(express().use(parser, createFileServer({ storage }))))}`;
    expect((await send(url, "PUT", "/new.txt", { body: content })).status).toBe(201);
    expect((await send(url, "GET", "/new.txt")).text).toBe(content);
    expect((await send(url, "POST", "/old.txt", { body: content })).status).toBe(200);
    expect((await send(url, "GET", "/old.txt")).text).toBe(`old${content}`);
  });

  it.each([
    ["json", express.json(all), "application/json", '{"a":1}'],
    ["json, a mere string", express.json({ ...all, strict: false }), "application/json", '"text"'],
    ["json, an empty object", express.json(all), "application/json", "{}"],
    ["urlencoded", express.urlencoded({ ...all, extended: false }), "application/x-www-form-urlencoded", "a=1&b=2"],
    ["text of another encoding", express.text(all), "text/plain; charset=latin1", "gr\xfc\xdfe"],
    ["nothing that is left", discarding, "text/plain", "text"],
  ])("is 500 BODY_CONSUMED where it is something else now, and never an empty file: %s", async (...row) => {
    const [, parser, type, content] = row;
    const told: unknown[] = [];
    const files = createFileServer({
      storage: memoryStorage({ "/a.txt": "old" }),
      onError: (error) => told.push(error),
    });
    const url = `http://127.0.0.1:${await listen(createServer(express().use(parser, files)))}`;
    const sending = { headers: { "content-type": type }, body: Buffer.from(content, "latin1") };
    for (const [method, target] of [
      ["PUT", "/a.txt"],
      ["POST", "/a.txt"],
      ["PUT", "/new.txt"],
    ] as const) {
      const answer = await send(url, method, target, sending);
      expect([answer.status, JSON.parse(answer.text).code]).toEqual([500, "BODY_CONSUMED"]);
      expect(JSON.parse(answer.text).details).toMatch(/before/);
    }
    expect((await send(url, "GET", "/a.txt")).text).toBe("old");
    expect((await send(url, "GET", "/new.txt")).status).toBe(404);
    expect(told).toHaveLength(3);
  });

  it("does not matter to requests without content, nor to a parser that left it alone", async () => {
    const files = createFileServer({ storage: memoryStorage({ "/a.txt": "a" }) });
    const url = `http://127.0.0.1:${await listen(createServer(express().use(express.json(), files)))}`;
    expect((await send(url, "GET", "/a.txt")).text).toBe("a");
    const headers = { "content-type": "text/plain" };
    expect((await send(url, "PUT", "/new.txt", { headers, body: "plain" })).status).toBe(201);
    expect((await send(url, "DELETE", "/new.txt")).status).toBe(204);
  });
});

describe("content that nobody reads", () => {
  const head = (status: number, length: number | "chunked"): string =>
    `PUT /${status} HTTP/1.1\r\nHost: a\r\n${length === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`}\r\n\r\n`;

  it.each([401, 403, 413, 429, 503])("keeps the connection where it is small: %i", async (status) => {
    const { port } = await site();
    const last = "GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    const answers = await exchangeBytes(
      port,
      head(status, smuggled.length) + smuggled + head(status, 65_536) + bytes(65_536) + last,
    );
    expect(statuses(answers)).toEqual([`${status}`, `${status}`, "200"]);
  });

  it.each([401, 413])("closes the connection where it is large, after the reply: %i", async (status) => {
    fastClock();
    const { port, changes, textAt, server } = await site();
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const socket = await openSocket(port);
    const whole = text(socket);
    socket.write(head(status, 10_000_000) + bytes(70_000) + smuggled.repeat(130_000));
    const answer = await whole;
    expect([statuses(answer), changes]).toEqual([[`${status}`], []]);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "REFUSED" });
    expect(await textAt("/a.txt")).toBe("a");
    const [{ bytesRead }] = await accepted;
    expect(bytesRead).toBeLessThan(5 * 65_536); // 64 KiB, and what node and the stream hold ready
  });

  it("closes the connection where nobody knows how much there is, and does nothing that comes after it", async () => {
    const { port, textAt, ended, outcomes } = await site();
    const socket = await openSocket(port);
    socket.write(`${head(401, "chunked")}5\r\nhello\r\n`);
    const [first] = await once(socket, "data");
    expect(String(first)).toMatch(/^HTTP\/1\.1 401 .*connection: close/is);
    socket.write(`0\r\n\r\n${smuggled}`); // a request of its own, but on a connection that is over
    expect(statuses(await text(socket))).toEqual([]);
    await ended(1);
    expect([await textAt("/a.txt"), outcomes.length]).toEqual(["a", 1]);
  });

  it("is not waited for: the reply comes before any of it", async () => {
    const { port, ended, outcomes } = await site();
    const socket = await openSocket(port);
    socket.write(head(401, 10_000_000));
    const [first] = await once(socket, "data");
    expect(String(first)).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
    await ended(1);
    expect(outcomes).toHaveLength(1);
  });

  it("is never a request, however it is cut into packets", async () => {
    const { port, textAt, changes } = await site();
    const socket = await openSocket(port);
    const answer = text(socket);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }); // the connection stays while the client sends
    onTestFinished(() => void vi.useRealTimers());
    socket.setNoDelay(true).write(head(401, 1_000_000));
    for (const part of [bytes(65_536), smuggled, smuggled, "GET / HTTP/1.1\r\n", "Host: a\r\n\r\n"]) {
      await new Promise<void>((resolve) => socket.write(part, () => resolve()));
    }
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    vi.runAllTimers();
    expect([statuses(await answer), await textAt("/a.txt"), changes]).toEqual([["401"], "a", []]);
  });
});

describe.each(storages)("content that is cut off $where", ({ make }) => {
  it("changes no element", async () => {
    const to = await testSite(await make({ "/p.html": "<p>old</p>" }));
    const socket = await openSocket(to.port);
    const fields = "Host: a\r\nRange: selector=p\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n";
    socket.write(`PUT /p.html HTTP/1.1\r\n${fields}`);
    await once(socket, "data"); // "go on": the content is being read
    socket.end("<p>half</p>");
    await to.ended(1);
    expect([await to.textAt("/p.html"), to.changes]).toEqual(["<p>old</p>", []]);
  });
});
