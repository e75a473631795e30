import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { gate } from "../helpers/gate.ts";
import { type Answer, open } from "../helpers/send.ts";
import { exchangeBytes, openSocket } from "../helpers/serve.ts";
import { type TestSite, telling, testSite } from "../helpers/test-site.ts";

const health: Plugin = {
  name: "health",
  alwaysOn: true,
  handle: ({ path }, next) => (path === "/health" ? { status: 200, headers: {}, body: "well" } : next()),
};

function site(
  config: Omit<FileServerConfig, "root" | "storage"> = {},
  storage: Storage = memoryStorage({ "/a.txt": "a" }),
): Promise<TestSite> {
  return testSite({ storage, everything: async () => [] }, config);
}

const codeOf = ({ status, headers, text: body }: Answer): unknown => [
  status,
  JSON.parse(body).code,
  headers["retry-after"],
];

/** Everybody is refused with that code, with content and without, except who asks for the health check. */
async function expectOutage({ send }: TestSite, code: string, retryAfter: string): Promise<void> {
  expect(codeOf(await send("GET", "/a.txt"))).toEqual([503, code, retryAfter]);
  expect(codeOf(await send("PUT", "/a.txt", { body: "new" }))).toEqual([503, code, retryAfter]);
  expect(codeOf(await send("DELETE", "/missing"))).toEqual([503, code, retryAfter]);
  expect(await send("HEAD", "/a.txt")).toMatchObject({ status: 503, text: "" });
  expect(await send("GET", "/health")).toMatchObject({ status: 200, text: "well" });
}

describe("an overloaded server", () => {
  it("answers 503 OVERLOADED beyond maxConcurrentRequests, and recovers", async () => {
    const { plugin, entered, release } = gate();
    const to = await site({ maxConcurrentRequests: 1, plugins: [health, plugin] });
    const slow = to.send("GET", "/slow");
    await entered;
    await expectOutage(to, "OVERLOADED", "1");
    release();
    expect(await slow).toMatchObject({ status: 200, text: "at last" });
    await to.ended(6);
    expect((await to.send("GET", "/a.txt")).status).toBe(200);
    expect(await to.textAt("/a.txt")).toBe("a");
  });

  it("has room again when a client has left", async () => {
    const { plugin, entered, release } = gate();
    const to = await site({ maxConcurrentRequests: 1, plugins: [plugin] });
    const leaving = open(to.url, "GET", "/slow");
    leaving.on("error", () => {}).end();
    await entered;
    expect((await to.send("GET", "/a.txt")).status).toBe(503);
    leaving.destroy();
    release();
    await to.ended(2);
    expect((await to.send("GET", "/a.txt")).status).toBe(200);
  });
});

describe("a server under maintenance", () => {
  it("answers 503 MAINTENANCE, while a function says so or always", async () => {
    let isDown = false;
    const to = await site({ maintenance: () => isDown, plugins: [health] });
    expect((await to.send("GET", "/a.txt")).status).toBe(200);
    isDown = true;
    await expectOutage(to, "MAINTENANCE", "60");
    isDown = false;
    expect((await to.send("GET", "/a.txt")).status).toBe(200);
    await expectOutage(await site({ maintenance: true, plugins: [health] }), "MAINTENANCE", "60");
  });

  it("is a failure where the function throws, not a server that is up", async () => {
    const errors: unknown[] = [];
    const maintenance = (): boolean => {
      throw new Error("no such flag");
    };
    const to = await site({ maintenance, onError: (error) => errors.push(error) });
    expect(codeOf(await to.send("GET", "/a.txt"))).toEqual([500, "INTERNAL_ERROR", undefined]);
    expect(errors).toEqual([new Error("no such flag")]);
  });
});

describe("a closing server", () => {
  it("answers 503 CLOSING, and finishes what is in flight", async () => {
    const { plugin, entered, release } = gate();
    const to = await site({ plugins: [health, plugin] });
    const slow = to.send("GET", "/slow");
    await entered;
    let isClosed = false;
    const closed = to.files.close().then(() => {
      isClosed = true;
    });
    await expectOutage(to, "CLOSING", "5");
    expect(isClosed).toBe(false);
    release();
    expect(await slow).toMatchObject({ status: 200, text: "at last" });
    await closed;
    await expectOutage(to, "CLOSING", "5");
  });

  it("finishes an upload that has begun", async () => {
    const { storage, arrived } = telling(memoryStorage());
    const to = await site({}, storage);
    const upload = open(to.url, "PUT", "/new.txt", { headers: { "content-length": "6" } });
    const response = once(upload, "response") as Promise<[IncomingMessage]>;
    upload.write("one");
    await arrived;
    const closed = to.files.close();
    upload.end("two");
    const [answer] = await response;
    expect([answer.statusCode, JSON.parse(await text(answer)).size]).toEqual([201, 6]);
    await closed;
    expect(to.changes.map(({ kind, path }) => [kind, path])).toEqual([["created", "/new.txt"]]);
  });

  it("closes connections after their reply", async () => {
    const to = await site();
    const socket = await openSocket(to.port);
    socket.write("GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n");
    const [first] = await once(socket, "data");
    await to.files.close();
    socket.write("GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n");
    const rest = await text(socket); // to the end: the server closes it
    expect(String(first)).toMatch(/^HTTP\/1\.1 200 .*keep-alive/is);
    expect(rest).toMatch(/^HTTP\/1\.1 503 .*connection: close.*CLOSING/is);
  });
});

describe("an unexpected failure", () => {
  const failing = (thrown: unknown): Plugin => ({ name: "failing", handle: () => Promise.reject(thrown) });

  it.each([new Error("secret"), "secret", { status: 404, code: "NOT_FOUND", message: "secret" }, null, undefined])(
    "is 500 INTERNAL_ERROR with the request's id, whatever was thrown: %j",
    async (thrown) => {
      const told: unknown[] = [];
      const onError: FileServerConfig["onError"] = (error, exchange) =>
        told.push([error, exchange?.id, exchange?.path]);
      const to = await site({ plugins: [failing(thrown)], onError });
      const answer = await to.send("GET", "/a.txt", { headers: { "x-request-id": "r-1" } });
      expect(codeOf(answer)).toEqual([500, "INTERNAL_ERROR", undefined]);
      expect(JSON.parse(answer.text).details).toContain("r-1");
      expect(answer.text).not.toContain("secret");
      const reported = thrown ?? expect.objectContaining({ code: "INTERNAL_ERROR" });
      expect(told).toEqual([[reported, "r-1", "/a.txt"]]);
    },
  );

  it("is answered also where onError fails itself", async () => {
    const onError = (): never => {
      throw new Error("onError");
    };
    const to = await site({ plugins: [failing(new Error("x"))], onError });
    expect((await to.send("GET", "/a.txt")).status).toBe(500);
    expect((await to.send("GET", "/a.txt")).status).toBe(500);
  });

  it("cuts the connection where it comes after the header section: half a file is never a whole one", async () => {
    const told: unknown[] = [];
    const half = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from("half");
      throw new Error("the disk broke");
    };
    const plugin: Plugin = {
      name: "half",
      handle: () => ({ status: 200, headers: { "content-length": "8" }, body: Readable.from(half()) }),
    };
    const to = await site({ plugins: [plugin], onError: (error) => told.push(error) });
    const answer = await exchangeBytes(to.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await to.ended(1);
    expect(answer.split("\r\n\r\n").slice(1).join("").length).toBeLessThan(8);
    expect([told, to.outcomes[0]?.aborted]).toEqual([[new Error("the disk broke")], true]);
  });
});
