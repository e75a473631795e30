import { once } from "node:events";
import { createServer } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../src/config.ts";
import { createFileServer, type FileServer } from "../src/file-server.ts";
import { HttpError } from "../src/http/http-error.ts";
import { rateLimit } from "../src/plugins/rate-limit.ts";
import type { Exchange } from "../src/server/exchange.ts";
import type { Outcome, Plugin } from "../src/server/plugin.ts";
import type { Reply } from "../src/server/reply.ts";
import { memoryStorage } from "../src/storage/memory/memory-storage.ts";
import type { Storage } from "../src/storage/storage.ts";
import { deferred } from "./helpers/deferred.ts";
import { gate } from "./helpers/gate.ts";
import { type Sending, send } from "./helpers/send.ts";
import { listen, openHttp2, rawRequest, serve } from "./helpers/serve.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";

const page = "<!doctype html><title>T</title><ul><li>One</li><li>Two</li></ul>";

/** A plugin that answers everything. */
const answering = (reply: (exchange: Exchange) => Reply | Promise<Reply>): Plugin => ({
  name: "answering",
  handle: reply,
});

const ok = (body?: Reply["body"], headers: Reply["headers"] = {}): Reply => ({
  status: 200,
  headers,
  ...(body !== undefined && { body }),
});

/** A server in this process, closed when the test is over, and what it reports and its observer hears. */
function inProcess(config: FileServerConfig = {}) {
  const reported: unknown[] = [];
  const heard: { exchange: Exchange; outcome: Outcome }[] = [];
  const told = deferred();
  const observer: Plugin = {
    name: "observer",
    observe(exchange, outcome) {
      heard.push({ exchange, outcome });
      told.resolve();
    },
  };
  const files = createFileServer({
    ...(config.root === undefined && { storage: memoryStorage({ "/a.txt": "text", "/page.html": page }) }),
    onError: (error) => reported.push(error),
    ...config,
    plugins: [observer, ...(config.plugins ?? [])],
  });
  onTestFinished(() => files.close().catch(() => {}));
  const ask = (target: string, init: RequestInit = {}) => files.fetch(new Request(`http://localhost${target}`, init));
  return { files, reported, heard, firstTold: told.promise, ask };
}

describe("starting", () => {
  it("refuses at the start, and in the types, what is no plugin but could pass for one", async () => {
    const storage = memoryStorage();
    const middleware = (_request: unknown, _response: unknown, next: () => void): void => next();
    // @ts-expect-error a factory that was not called
    expect(() => createFileServer({ storage, plugins: [rateLimit] })).toThrow("call rateLimit(...)");
    // @ts-expect-error middleware
    expect(() => createFileServer({ storage, plugins: [middleware] })).toThrow("say fromMiddleware(middleware)");
    // @ts-expect-error a misspelt member
    expect(() => createFileServer({ storage, plugins: [{ name: "a", handel() {} }] })).toThrow(
      'did you mean "handle"?',
    );
    expect(() => createFileServer({})).toThrow("the configuration has no root: expected a directory to serve");
  });

  it("tells observers how much a client sent, in chunks as well", async () => {
    const heard: number[] = [];
    const observer: Plugin = { name: "observer", observe: (_exchange, { received }) => void heard.push(received) };
    const { url } = await serve({ storage: memoryStorage(), plugins: [observer], maxFileSize: 5 });
    const chunks = async function* () {
      yield "ab";
      yield "c";
    };
    expect((await send(url, "PUT", "/a.txt", { body: "hello" })).status).toBe(201);
    expect((await send(url, "PUT", "/b.txt", { body: chunks() })).status).toBe(201);
    expect((await send(url, "GET", "/a.txt")).status).toBe(200);
    expect(heard).toEqual([5, 3, 0]);
  });

  it("tells the program how large a file is after each change", async () => {
    const files = createFileServer({ storage: memoryStorage({ "/a.html": "<p>1</p>" }) });
    const told: unknown[] = [];
    files.changes.subscribe((change) => {
      if (change.kind === "elements-replaced") told.push([change.selector, change.size]);
      else told.push([change.kind, change.kind === "deleted" ? "gone" : change.size]);
    });
    const ask = (method: string, body?: string, headers = {}) =>
      files.fetch(new Request("http://x/a.html", { method, headers, ...(body !== undefined && { body }) }));
    await ask("PUT", "<p>22</p>", { range: "selector=p" });
    await ask("POST", "!");
    await ask("PUT", "");
    await ask("DELETE");
    expect(told).toEqual([
      ["p", 9],
      ["appended", 10],
      ["replaced", 0],
      ["deleted", "gone"],
    ]);
    await files.close();
  });

  it("takes a root as a URL", async () => {
    const directory = await temporaryDirectory({ "a b.txt": "a" });
    const root = pathToFileURL(`${directory}/`);
    const files = createFileServer({ root });
    expect(await (await files.fetch("/a%20b.txt")).text()).toBe("a");
    await files.close();
    // @ts-expect-error no directory
    expect(() => createFileServer({ root: 3 })).toThrow("root is 3");
    expect(() => createFileServer({ root: new URL("http://localhost/") })).toThrow("expected a file: URL, or a path");
  });

  it("happens once, plugin by plugin, however often ready() is called", async () => {
    const log: string[] = [];
    const starting = (name: string): Plugin => ({
      name,
      async start() {
        log.push(`${name} begins`);
        await Promise.resolve();
        log.push(`${name} ends`);
      },
    });
    const { files } = inProcess({ plugins: [starting("a"), starting("b")] });
    await Promise.all([files.ready(), files.ready()]);
    await files.ready();
    expect(log).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  });

  it("happens at the first request where nobody has called ready()", async () => {
    let started = 0;
    const { ask } = inProcess({ plugins: [{ name: "starting", start: () => void started++ }] });
    await Promise.all([ask("/a.txt"), ask("/a.txt")]);
    expect(started).toBe(1);
  });

  it("fails with what a plugin throws: ready() rejects, requests get 500, and close() closes all the same", async () => {
    const broken = new Error("no such database");
    const closed: string[] = [];
    const { files, ask, reported } = inProcess({
      plugins: [
        { name: "first", close: () => void closed.push("first") },
        { name: "broken", start: () => Promise.reject(broken), close: () => void closed.push("broken") },
      ],
    });
    await expect(files.ready()).rejects.toBe(broken);
    await expect(files.ready()).rejects.toBe(broken);
    const response = await ask("/a.txt");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("database");
    expect(reported).toEqual([broken]);
    await files.close();
    expect(closed).toEqual(["broken", "first"]);
  });

  it("is refused after closing", async () => {
    let started = 0;
    const { files, ask } = inProcess({ plugins: [{ name: "starting", start: () => void started++ }] });
    await files.close();
    await expect(files.ready()).rejects.toThrow("closed");
    expect((await ask("/a.txt")).status).toBe(503);
    expect(started).toBe(0);
  });
});

describe("closing", () => {
  it("closes plugins in reverse, then the storage, each once, however often close() is called", async () => {
    const log: string[] = [];
    const closing = (name: string): Plugin => ({ name, close: () => void log.push(name) });
    const storage: Storage = { ...memoryStorage(), close: async () => void log.push("storage") };
    const { files } = inProcess({
      storage,
      plugins: [closing("a"), closing("b")],
      hosts: { "a.example": { storage, plugins: [closing("c")] } },
    });
    await files.ready();
    expect(files.close()).toBe(files.close());
    await files.close();
    expect(log.filter((each) => each === "storage")).toHaveLength(1);
    expect(log.indexOf("b")).toBeLessThan(log.indexOf("a"));
    expect(log.at(-1)).toBe("storage");
    expect([...log].sort()).toEqual(["a", "b", "c", "storage"]);
  });

  it("does not wait for a Response whose content nobody reads", async () => {
    const root = await temporaryDirectory({ "big.bin": Buffer.alloc(1_000_000) });
    const { files, ask, heard } = inProcess({ root });
    const response = await ask("/big.bin");
    expect(response.status).toBe(200);
    await files.close();
    expect(heard.map(({ outcome }) => outcome)).toMatchObject([{ status: 200, bytes: 0, aborted: true }]);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it("waits for a Response that somebody has begun to read", async () => {
    const root = await temporaryDirectory({ "big.bin": Buffer.alloc(1_000_000, 1) });
    const { files, ask, heard } = inProcess({ root });
    const reader = (await ask("/big.bin")).body?.getReader();
    let size = (await reader?.read())?.value?.byteLength ?? 0;
    const closed = files.close();
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
      size += read.value.byteLength;
    await closed;
    expect(size).toBe(1_000_000);
    expect(heard.map(({ outcome }) => outcome)).toMatchObject([{ bytes: 1_000_000, aborted: false }]);
  });

  it("tells plugins when it begins, so that they end what would never end", async () => {
    const calls: string[] = [];
    const body = new PassThrough();
    const endless: Plugin = {
      name: "endless",
      handle: () => ({ status: 200, headers: {}, body }),
      drain() {
        calls.push("drain");
        body.end("the end");
      },
      close: () => void calls.push("close"),
    };
    const failing: Plugin = {
      name: "failing",
      drain() {
        throw new Error("cannot drain");
      },
    };
    const reported: unknown[] = [];
    const plugins = [failing, endless];
    const { files, url } = await serve({
      hosts: { "127.0.0.1": { storage: memoryStorage(), plugins }, "b.example": { storage: memoryStorage(), plugins } },
      onError: (error) => reported.push(error),
    });
    const answer = await fetch(url);
    expect(calls).toEqual([]);
    await files.close();
    expect(calls).toEqual(["drain", "close"]);
    expect(await answer.text()).toBe("the end");
    expect(reported).toEqual([new Error("cannot drain")]);
  });
});

describe("an observer", () => {
  it("is told once of each exchange, with what became of it", async () => {
    const { heard, ask, files } = inProcess();
    await (await ask("/a.txt", { headers: { "x-request-id": "mine" } })).text();
    await (await ask("/missing")).text();
    await (await ask("/..%2f")).text();
    await (await ask("/a.txt", { method: "HEAD" })).text();
    await files.close(); // everybody has been told then
    const outcomes = heard.map(({ exchange, outcome: { status, bytes, aborted } }) => [
      exchange.url,
      status,
      bytes > 0,
      aborted,
    ]);
    expect(outcomes).toEqual([
      ["/a.txt", 200, true, false],
      ["/missing", 404, true, false],
      ["/..%2f", 400, true, false],
      ["/a.txt", 200, false, false],
    ]);
    expect(heard[0]?.exchange.id).toBe("mine");
    expect(heard[0]?.outcome).toMatchObject({ bytes: 4, headers: { "x-request-id": "mine" } });
    for (const { outcome } of heard) expect(outcome.durationMs).toBeGreaterThan(0);
  });

  it("is reported where it throws or rejects; the others are told, the client has its reply", async () => {
    const thrown = new Error("thrown");
    const rejected = new Error("rejected");
    const { files, heard, reported, ask } = inProcess({
      plugins: [
        {
          name: "broken",
          observe() {
            throw thrown;
          },
        },
        { name: "async", observe: () => Promise.reject(rejected) as never },
      ],
    });
    expect(await (await ask("/a.txt")).text()).toBe("text");
    expect(await (await ask("/a.txt")).text()).toBe("text");
    await files.close();
    expect(heard).toHaveLength(2);
    expect(reported.filter((each) => each === thrown)).toHaveLength(2);
    expect(reported).toContain(rejected);
  });

  it("of another host is not told", async () => {
    const heard: string[] = [];
    const storage = memoryStorage();
    const watching = (name: string): Plugin => ({ name, observe: ({ host }) => void heard.push(`${name}: ${host}`) });
    const { files } = inProcess({
      storage,
      plugins: [watching("default")],
      hosts: { "a.example": { storage, plugins: [watching("a")] } },
    });
    await (await files.fetch(new Request("http://a.example/"))).text();
    await (await files.fetch(new Request("http://b.example/"))).text();
    await files.close();
    expect(heard).toEqual(["a: a.example", "default: b.example"]);
  });
});

describe("a plugin that answers what HTTP does not know", () => {
  const wrong: [string, () => Reply][] = [
    ["a header name with a space", () => ok("x", { "x y": "1" })],
    ["a header value with a line break", () => ok("x", { "x-mine": "a\r\nset-cookie: b=c" })],
    ["a header value beyond latin1", () => ok("x", { "x-mine": "\u{1f600}" })],
    ["a header without a value", () => ok("x", { "x-mine": undefined as never })],
    ["a stream beside a bad header", () => ok(Readable.from(["x"]), { "x y": "1" })],
  ];

  it.each(wrong)("gets its client 500 for %s, over a socket and by fetch", async (_what, reply) => {
    const { files, ask, reported, heard } = inProcess({ plugins: [answering(reply)] });
    const url = `http://127.0.0.1:${await listen(createServer(files))}`;
    const overSocket = await send(url, "GET", "/");
    expect([overSocket.status, overSocket.headers["set-cookie"]]).toEqual([500, undefined]);
    expect(JSON.parse(overSocket.text)).toMatchObject({ code: "INTERNAL_ERROR" });
    const response = await ask("/");
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: "INTERNAL_ERROR" });
    await files.close();
    expect(reported).toHaveLength(2);
    expect(heard.map(({ outcome }) => outcome.status)).toEqual([500, 500]);
  });
});

describe("an outage", () => {
  it("leaves other addresses a place for their uploads", async () => {
    const { plugin, entered, release } = gate({ path: "/new.txt", passesOn: true });
    const { files } = inProcess({ maxConcurrentRequests: 2, plugins: [plugin] });
    const put = (address: string) =>
      files.fetch(new Request("http://localhost/new.txt", { method: "PUT", body: "x" }), { address });
    const first = put("192.0.2.1");
    await entered;
    const second = await put("192.0.2.1");
    expect([second.status, (await second.json()).code]).toEqual([503, "OVERLOADED"]);
    const third = put("192.0.2.2");
    release();
    expect([(await first).status, (await third).status].sort()).toEqual([200, 201]);
  });
});

describe("a request without a connection", () => {
  it("is over, and told of, when its response is there", async () => {
    const told: string[] = [];
    const observer: Plugin = { name: "observer", observe: ({ path }) => void told.push(path) };
    const { files } = inProcess({ plugins: [observer] });
    await files.fetch(new Request("http://localhost/none.txt"));
    expect(told).toEqual(["/none.txt"]);
  });
});

describe("a request that fails", () => {
  it("has one line in the log, with what one needs to find it", async () => {
    const lines: [object, string][] = [];
    const error = (fields: object, message: string): void => void lines.push([fields, message]);
    const logger = { debug: () => {}, info: () => {}, warn: () => {}, error };
    const failure = new Error("no luck");
    const failing = answering((exchange) => {
      exchange.user = { name: "ada", roles: [] };
      throw failure;
    });
    const files = createFileServer({ storage: memoryStorage(), plugins: [failing], logger });
    const headers = { "x-request-id": "request-1" };
    expect((await files.fetch(new Request("http://a.example/b%20c", { headers }))).status).toBe(500);
    const about = { requestId: "request-1", method: "GET", path: "/b c", host: "a.example", user: "ada", status: 500 };
    expect(lines).toEqual([[{ ...about, ms: expect.any(Number), err: failure }, "request failed"]]);
    await files.close();
  });

  it("is a warning of the process where there is no logger, the first one only", async () => {
    const warned: string[] = [];
    const hear = ({ message }: Error): void => void warned.push(message);
    process.on("warning", hear);
    onTestFinished(() => void process.off("warning", hear));
    const broken: Plugin = { name: "broken", start: () => Promise.reject("no luck") };
    const files = createFileServer({ storage: memoryStorage(), plugins: [broken] });
    for (const path of ["/a", "/b"]) expect((await files.fetch(path)).status).toBe(500);
    await new Promise(setImmediate);
    expect(warned).toEqual(["request failed: no luck"]);
  });
});

describe("under a framework", () => {
  async function mounted(config: Partial<FileServerConfig>): Promise<{ url: string; passed: string[] }> {
    const files = createFileServer({ storage: memoryStorage({ "/a.txt": "text" }), ...config });
    onTestFinished(() => files.close());
    const passed: string[] = [];
    const server = createServer((request, response) =>
      files(request, response, () => {
        passed.push(`${request.method} ${request.url}`);
        response.end("next");
      }),
    );
    return { url: `http://127.0.0.1:${await listen(server)}`, passed };
  }

  it("passes a request for a host that it does not have on with fallthrough", async () => {
    const host = { storage: memoryStorage({ "/a.txt": "text" }) };
    const { url } = await mounted({ storage: undefined, hosts: { "a.example": host }, fallthrough: true });
    const ask = (name: string) => send(url, "GET", "/a.txt", { headers: { host: name } });
    expect((await ask("a.example")).text).toBe("text");
    expect((await ask("b.example")).text).toBe("next");
  });

  it("keeps a write that failed after its content was read, with fallthrough", async () => {
    const storage = memoryStorage();
    const failing: Plugin = {
      name: "failing",
      async handle(exchange) {
        await exchange.body.bytes();
        throw new HttpError(404, "NOT_FOUND", "Too late.");
      },
    };
    const methods = ["GET", "PUT"] as const;
    const { url, passed } = await mounted({ storage, methods, fallthrough: true, plugins: [failing] });
    expect((await send(url, "PUT", "/a.txt", { body: "content" })).status).toBe(404);
    expect(passed).toEqual([]);
  });

  it("lists directories with fallthrough only where it is asked to", async () => {
    const plain = await mounted({ fallthrough: true });
    expect((await send(plain.url, "GET", "/")).text).toBe("next");
    const listing = await mounted({ fallthrough: true, listing: true });
    expect((await send(listing.url, "GET", "/")).text).toContain("a.txt");
  });

  it("hands the connection to a plugin that accepts an upgrade, and counts it as served", async () => {
    const heard: Outcome[] = [];
    const accepting: Plugin = {
      name: "accepting",
      handle: () => ({
        status: 101,
        headers: {},
        accept: (socket) => void socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\nhello"),
      }),
      observe: (_exchange, outcome) => void heard.push(outcome),
    };
    const { port, files } = await serve({ storage: memoryStorage(), plugins: [accepting] });
    const answer = await rawRequest(port, "GET", "/", ["Connection: Upgrade", "Upgrade: websocket"]);
    expect(answer.body).toBe("hello");
    await files.close();
    expect(heard).toMatchObject([{ status: 101, aborted: false }]);
  });
});

interface Asked extends Sending {
  readonly body?: string;
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Header fields that belong to a connection or a moment. */
const incomparable = new Set(["date", "x-request-id", "connection", "keep-alive", "transfer-encoding", ":status"]);

function comparable(status: number, headers: Iterable<[string, unknown]>, text: string): Answered {
  return { status, headers: Object.fromEntries([...headers].filter(([name]) => !incomparable.has(name)).sort()), text };
}

type Way = (method: string, target: string, asked: Asked) => Promise<Answered>;

async function overHttp1(files: FileServer): Promise<Way> {
  const server = createServer();
  files.attach(server);
  const url = `http://127.0.0.1:${await listen(server)}`;
  return async (method, target, asked) => {
    const { status, headers, text } = await send(url, method, target, {
      ...asked,
      headers: { host: "localhost", ...asked.headers },
    });
    return comparable(status, Object.entries(headers), text);
  };
}

async function overHttp2(files: FileServer): Promise<Way> {
  const session = await openHttp2(files);
  return async (method, target, { headers, body }) => {
    const stream = session.request({
      ":method": method,
      ":path": target,
      ":authority": "localhost",
      ...(headers as Record<string, string>),
    });
    stream.end(body);
    const [received] = (await once(stream, "response")) as [Record<string, unknown>];
    const text = (await buffer(stream)).toString();
    return comparable(Number(received[":status"]), Object.entries(received), text);
  };
}

function byFetch(files: FileServer): Way {
  return async (method, target, { headers = {}, body }) => {
    const init = { method, headers: headers as Record<string, string>, ...(body !== undefined && { body }) };
    const response = await files.fetch(new Request(`http://localhost${target}`, init));
    const cookies = response.headers.getSetCookie();
    const fields: [string, unknown][] = [...response.headers].filter(([name]) => name !== "set-cookie");
    if (cookies.length > 0) fields.push(["set-cookie", cookies]);
    return comparable(response.status, fields, await response.text());
  };
}

const requests: [method: string, target: string, asked?: Asked][] = [
  ["GET", "/"],
  ["GET", "/a.txt"],
  ["HEAD", "/a.txt"],
  ["GET", "/page.html"],
  ["GET", "/%61.txt"],
  ["GET", "/sub"],
  ["GET", "/sub/"],
  ["GET", "/sub/", { headers: { accept: "application/json" } }],
  ["GET", "/missing"],
  ["GET", "/missing", { headers: { accept: "text/html" } }],
  ["GET", "/%zz"],
  ["GET", "/a.txt", { headers: { range: "bytes=1-2" } }],
  ["GET", "/a.txt", { headers: { range: "bytes=99-" } }],
  ["GET", "/a.txt", { headers: { "if-none-match": "*" } }],
  ["GET", "/a.txt", { headers: { "if-match": '"other"' } }],
  ["GET", "/page.html", { headers: { range: "selector=li" } }],
  ["GET", "/page.html", { headers: { range: "selector=li[" } }],
  ["OPTIONS", "/a.txt"],
  ["PROPFIND", "/a.txt"],
  ["PUT", "/new/b.txt", { body: "new" }],
  ["PUT", "/a.txt", { body: "changed", headers: { "if-none-match": "*" } }],
  ["PUT", "/big.txt", { body: "x".repeat(2000) }],
  ["PUT", "/a.txt", { body: "x", headers: { "content-encoding": "gzip" } }],
  ["POST", "/a.txt", { body: " and more" }],
  ["DELETE", "/a.txt"],
  ["PUT", "/evil.txt", { body: "x", headers: { "sec-fetch-site": "cross-site" } }],
  ["GET", "/stream"],
  ["GET", "/fields"],
];

describe("one and the same request", () => {
  it.each(requests.map(([method, target, asked = {}]) => [method, target, asked] as const))(
    "is answered alike over HTTP/1, over HTTP/2 and by fetch: %s %s %o",
    async (method, target, asked) => {
      const plugins = [
        {
          name: "special",
          handle(exchange, next) {
            if (exchange.path === "/stream") return ok(Readable.from(["a", "b"]), { "content-type": "text/x" });
            if (exchange.path === "/fields") return ok("x", { "X-Mixed": "Case", "set-cookie": ["a=1", "b=2"] });
            return next();
          },
        } satisfies Plugin,
      ];
      // Each way has a storage of its own, of the same files at the same versions.
      const answers = await Promise.all(
        [overHttp1, overHttp2, byFetch].map(async (way) => {
          const storage = memoryStorage({ "/a.txt": "text", "/page.html": page, "/sub/c.txt": "c", "/.hidden": "no" });
          const files = createFileServer({ storage, plugins, maxFileSize: 1000 });
          onTestFinished(() => files.close());
          const answered = await (await way(files))(method, target, asked);
          return { ...answered, stored: await everythingIn(storage) };
        }),
      );
      const [first, ...others] = answers.map(withoutVersions);
      expect(first?.status).toBeGreaterThan(0);
      for (const other of others) expect(other).toEqual(first);
    },
  );

  async function everythingIn(storage: Storage, path = "/"): Promise<string[]> {
    const found: string[] = [];
    for await (const { name, type } of storage.list(path)) {
      found.push(`${path}${name} ${(await storage.stat(path + name))?.size}`);
      if (type === "directory") found.push(...(await everythingIn(storage, `${path}${name}/`)));
    }
    return found.sort();
  }

  /** Versions and times differ from storage to storage. */
  function withoutVersions({ headers, text, ...rest }: Answered) {
    const { etag, "last-modified": modified, ...others } = headers;
    const plain = text
      .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "TIME")
      .replaceAll(/"etag":"[^}]*?"(?=[,}])/g, '"etag":"VERSION"');
    return {
      ...rest,
      ...{ headers: others, text: plain, hasTag: etag !== undefined, isDated: modified !== undefined },
    };
  }
});
