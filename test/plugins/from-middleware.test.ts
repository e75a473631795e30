import { randomBytes } from "node:crypto";
import { once } from "node:events";
import http, { type ServerResponse } from "node:http";
import { Readable, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import compression from "compression";
import cors from "cors";
import express from "express";
import helmet from "helmet";
// @ts-expect-error: morgan ships no types of its own
import untypedMorgan from "morgan";
import { afterEach, describe, expect, it } from "vitest";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { type ConnectMiddleware, fromMiddleware } from "../../src/plugins/from-middleware.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import type { Reply } from "../../src/server/reply.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { deferred } from "../helpers/deferred.ts";
import { listen, openHttp2 } from "../helpers/serve.ts";

const morgan: (format: string, options: { stream: Writable }) => ConnectMiddleware = untypedMorgan;
const page = `<!doctype html><title>Page</title>${"<p>All work and no play makes Jack a dull boy.</p>".repeat(200)}`;

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Tries the same over a socket and in-process: neither tidies or decompresses what comes back. */
const environments = [["node:http", openOverHttp] as const, ["fetch", openInProcess] as const];

describe.each(environments)("fromMiddleware over %s", (_name, open) => {
  const ask = (files: FileServer, asked?: Asked): Promise<Answer> => whole(open(files, asked));

  it("lets cors open simple requests, and unites its Vary with the one of the pipeline", async () => {
    const files = server([
      fromMiddleware(cors({ origin: ["https://app.example"], credentials: true })),
      answering({ headers: { vary: "accept, ORIGIN" }, body: "hi" }),
    ]);
    const { headers } = await ask(files, { headers: { origin: "https://app.example" } });
    expect(headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(headers.get("access-control-allow-credentials")).toBe("true");
    expect(headers.get("vary")?.toLowerCase()).toBe("origin, accept");
  });

  it("lets cors answer a preflight itself, without running the pipeline", async () => {
    const [spy, seen] = spyOn();
    const { status, headers, body } = await ask(server([fromMiddleware(cors({ methods: ["GET", "PUT"] })), spy]), {
      method: "OPTIONS",
      path: "/page.html",
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "PUT",
        "access-control-request-headers": "range",
      },
    });
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-methods")).toBe("GET,PUT");
    expect(headers.get("access-control-allow-headers")).toBe("range");
    expect(body).toHaveLength(0);
    expect(seen).toEqual([]);
  });

  it.each([
    ["gzip", gunzipSync],
    ["br", brotliDecompressSync],
  ] as const)("lets compression encode a page with %s", async (encoding, decode) => {
    const { status, headers, body } = await ask(server([fromMiddleware(compression())]), {
      path: "/page.html",
      headers: { "accept-encoding": encoding },
    });
    expect(status).toBe(200);
    expect(headers.get("content-encoding")).toBe(encoding);
    expect(headers.get("content-length")).toBeNull();
    expect(headers.get("vary")?.toLowerCase()).toContain("accept-encoding");
    expect(body.length).toBeLessThan(page.length / 10);
    expect(decode(body).toString()).toBe(page);
  });

  it("answers HEAD like GET, without content", async () => {
    const { status, headers, body } = await ask(server([fromMiddleware(compression()), fromMiddleware(helmet())]), {
      method: "HEAD",
      path: "/page.html",
      headers: { "accept-encoding": "gzip" },
    });
    expect(status).toBe(200);
    expect(headers.get("content-length")).toBe(String(page.length));
    expect(headers.get("content-encoding")).toBeNull();
    expect(body).toHaveLength(0);
  });

  it("streams a large compressed reply no faster than the client reads", async () => {
    const total = 32 * 1024 * 1024;
    const source = counted(total);
    const files = server([
      fromMiddleware(compression({ level: 1 })),
      answering({ headers: { "content-type": "text/plain" }, body: source.stream }),
    ]);
    const { status, content, headers } = await open(files, { headers: { "accept-encoding": "gzip" } });
    expect(status).toBe(200);
    expect(headers.get("content-encoding")).toBe("gzip");
    let received = 0;
    let mostAhead = 0;
    for await (const chunk of content) {
      received += chunk.byteLength;
      mostAhead = Math.max(mostAhead, source.made() - received);
    }
    expect(source.made()).toBe(total);
    expect(received).toBeGreaterThan(total / 2);
    expect(mostAhead).toBeLessThan(total / 2); // sockets hold some of it
  });

  it("destroys the content of the pipeline when the client leaves in the middle", async () => {
    const source = counted(1024 * 1024 * 1024);
    const events: string[] = [];
    const watch: ConnectMiddleware = (_request, response, next) => {
      response.on("finish", () => events.push("finish")).on("close", () => events.push("close"));
      next();
    };
    const released = once(source.stream, "close");
    const files = server([
      fromMiddleware(watch),
      fromMiddleware(compression()),
      answering({ headers: { "content-type": "text/plain" }, body: source.stream }),
    ]);
    const { content, leave } = await open(files, { headers: { "accept-encoding": "gzip" } });
    await content[Symbol.asyncIterator]().next();
    leave();
    await released;
    await files.close();
    expect(events).toEqual(["close"]);
  });

  it("ends an exchange whose middleware never answers when the client leaves", async () => {
    const asked = deferred<ServerResponse>();
    const files = server([fromMiddleware((_request, response) => asked.resolve(response))]);
    const left = open(files).then(
      ({ status }) => status,
      () => "left",
    );
    const response = await asked.promise;
    const closed = once(response, "close");
    leaveAll();
    await closed;
    await files.close(); // waits for every exchange
    expect(response.destroyed).toBe(true);
    expect(["left", 499]).toContain(await left);
  });

  it("cuts a reply whose content fails half-way", async () => {
    const body = Readable.from(
      (async function* () {
        yield "<p>one";
        await Promise.resolve();
        throw new Error("disk on fire");
      })(),
    );
    const files = server([fromMiddleware(helmet()), answering({ headers: { "content-type": "text/html" }, body })]);
    const reading = open(files).then(({ content }) => buffer(content));
    await expect(reading).rejects.toThrow();
  });

  it("lets morgan log status, length and client once the reply is out", async () => {
    const [log, lines] = collector();
    const logger = fromMiddleware(
      morgan(":remote-addr :method :url HTTP/:http-version :status :res[content-length]", { stream: log }),
    );
    const files = server([logger, fromMiddleware(helmet())]);
    await ask(files, { path: "/page.html?x=1" });
    await ask(files, { path: "/missing.html", method: "HEAD" });
    await files.close();
    expect(lines[0]).toMatch(
      new RegExp(`^\\S*127\\.0\\.0\\.1 GET /page\\.html\\?x=1 HTTP/1\\.1 200 ${page.length}\\n$`),
    );
    expect(lines[1]).toMatch(/ HEAD \/missing\.html HTTP\/1\.1 404 \d+\n$/);
    expect(lines).toHaveLength(2);
  });

  it("takes what the middleware ends by itself as the reply", async () => {
    const [spy, seen] = spyOn();
    const teapot: ConnectMiddleware = (_request, response) => {
      response.statusCode = 418;
      response.setHeader("Content-Type", "text/plain");
      response.end("short and stout");
    };
    const { status, headers, body } = await ask(server([fromMiddleware(teapot), spy]));
    expect(status).toBe(418);
    expect(headers.get("content-type")).toBe("text/plain");
    expect(headers.get("content-length")).toBe("15");
    expect(body.toString()).toBe("short and stout");
    expect(seen).toEqual([]);
  });

  it.each<[string, http.OutgoingHttpHeaders | http.OutgoingHttpHeader[]]>([
    ["an object", { "X-Word": "a", "Set-Cookie": ["a=1", "b=2"] }],
    ["names and values in turn", ["X-Word", "a", "Set-Cookie", ["a=1", "b=2"]]],
  ])("takes the header fields of writeHead as %s", async (_form, fields) => {
    const { status, headers } = await ask(
      server([
        fromMiddleware((_request, response) => {
          response.setHeader("x-word", "earlier");
          response.writeHead(202, "Fine", fields).end();
        }),
      ]),
    );
    expect(status).toBe(202);
    expect(headers.get("x-word")).toBe("a");
    expect(headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  it("keeps the cookies of the middleware beside those of the pipeline", async () => {
    const cookies: ConnectMiddleware = (_request, response, next) => {
      response.appendHeader("Set-Cookie", ["a=1", "b=2"]);
      next();
    };
    const files = server([fromMiddleware(cookies), answering({ headers: { "set-cookie": ["c=3"] }, body: "hi" })]);
    const { headers } = await ask(files);
    expect(headers.getSetCookie()).toEqual(["a=1", "b=2", "c=3"]);
  });

  it("writes in pieces with callbacks, encodings and drain", async () => {
    const called: string[] = [];
    const pieces: ConnectMiddleware = (_request, response) => {
      response.write("aGkg", "base64", () => called.push("write"));
      response.flushHeaders();
      const write = (left: number): void => {
        if (left === 0) response.end("end", () => called.push("end"));
        else if (response.write(Buffer.alloc(256 * 1024, "x"))) write(left - 1);
        else response.once("drain", () => write(left - 1));
      };
      write(8);
    };
    const files = server([fromMiddleware(pieces)]);
    const { body } = await ask(files);
    await files.close();
    expect(body.length).toBe(3 + 8 * 256 * 1024 + 3);
    expect(body.subarray(0, 4).toString()).toBe("hi x");
    expect(called).toEqual(["write", "end"]);
  });

  it.each<[string, ConnectMiddleware]>([
    ["throws", () => fail("secret")],
    ["calls next(error)", (_request, _response, next) => setImmediate(() => next(new Error("secret")))],
    ["rejects", async () => Promise.reject(new Error("secret"))],
  ])("answers 500 and reports the error when the middleware %s", async (_how, middleware) => {
    const errors: unknown[] = [];
    const files = server([fromMiddleware(middleware)], { onError: (error) => errors.push(error) });
    const { status, body } = await ask(files, { path: "/page.html" });
    expect(status).toBe(500);
    expect(JSON.parse(body.toString())).toMatchObject({ code: "INTERNAL_ERROR" });
    expect(body.toString()).not.toContain("secret");
    expect(errors).toEqual([new Error("secret")]);
  });

  it.each([
    ["status and message", { status: 413 }, 413, "PAYLOAD_TOO_LARGE", "too much"],
    ["status, and a message not for clients", { statusCode: 503 }, 503, "SERVICE_UNAVAILABLE", "Service Unavailable."],
  ])("tells the client an error's own %s", async (_what, properties, status, code, details) => {
    const error = Object.assign(new Error("too much"), properties, { headers: { "Retry-After": 7 } });
    const answer = await ask(server([fromMiddleware((_request, _response, next) => next(error))]));
    expect(answer.status).toBe(status);
    expect(answer.headers.get("retry-after")).toBe("7");
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code, details });
  });

  it("lets a middleware answer before the pipeline does, and discards what comes too late", async () => {
    const late = deferred<Reply>();
    const body = counted(1024).stream;
    const impatient: ConnectMiddleware = (_request, response, next) => {
      next();
      response.writeHead(503).end("busy");
    };
    const files = server([fromMiddleware(impatient), { name: "slow", handle: () => late.promise }]);
    const { status } = await ask(files);
    late.resolve({ status: 200, headers: {}, body });
    await once(body, "close");
    expect(status).toBe(503);
  });

  it("gives the middleware the request as node:http would", async () => {
    const [seen, look] = looking((request) => ({
      method: request.method,
      url: request.url,
      agent: request.headers["user-agent"],
      raw: request.rawHeaders.includes("user-agent"),
      version: `${request.httpVersion} ${request.httpVersionMajor} ${request.httpVersionMinor}`,
      address: request.socket.remoteAddress?.replace("::ffff:", ""),
      hasHost: typeof request.headers.host,
      encrypted: Reflect.get(request.connection, "encrypted"),
    }));
    await ask(server([fromMiddleware(look)]), { path: "/page.html?a=%20b", headers: { "user-agent": "me" } });
    expect(seen).toEqual([
      {
        method: "GET",
        url: "/page.html?a=%20b",
        agent: "me",
        raw: true,
        version: "1.1 1 1",
        address: "127.0.0.1",
        hasHost: "string",
        encrypted: false,
      },
    ]);
  });

  it("shares the request among the middleware of an exchange, content included", async () => {
    const [seen, look] = looking((request) => Reflect.get(request, "body"));
    const files = server([
      fromMiddleware(express.text({ type: "*/*" })),
      fromMiddleware(look),
      answering({ body: "hi" }),
    ]);
    const content = "a".repeat(80_000);
    const { status } = await ask(files, { method: "POST", body: content, headers: { "content-type": "text/plain" } });
    expect(status).toBe(200);
    expect(seen).toEqual([content]);
  });

  it("leaves the content of the request to the pipeline where no middleware reads it", async () => {
    const echo: Plugin = {
      name: "echo",
      handle: async (exchange) => ({ status: 200, headers: {}, body: await exchange.body.bytes() }),
    };
    const { body } = await ask(server([fromMiddleware(helmet()), fromMiddleware(cors()), echo]), {
      method: "PUT",
      body: "hello",
    });
    expect(body.toString()).toBe("hello");
  });

  it("takes a whole Express application, and goes on where it has no route", async () => {
    const app = express();
    app.get("/hello", (request, response) => {
      response.cookie("seen", "1").json({ hello: request.query["name"] });
    });
    const files = server([fromMiddleware(app)]);
    const hello = await ask(files, { path: "/hello?name=you" });
    const file = await ask(files, { path: "/page.html" });
    expect(hello.status).toBe(200);
    expect(hello.headers.get("content-type")).toContain("application/json");
    expect(hello.headers.getSetCookie()).toEqual(["seen=1; Path=/"]);
    expect(hello.body.toString()).toBe('{"hello":"you"}');
    expect(file.body.toString()).toBe(page);
  });
});

describe("fromMiddleware", () => {
  it("refuses what is not a middleware at once", () => {
    expect(() => fromMiddleware({} as ConnectMiddleware)).toThrow(
      "expected middleware(request, response, next), got object",
    );
  });

  it("serves HTTP/2 alike", async () => {
    const files = server([fromMiddleware(helmet()), fromMiddleware(cors()), fromMiddleware(compression())]);
    const session = await openHttp2(files);
    const stream = session.request({ ":path": "/page.html", "accept-encoding": "gzip" });
    const preflight = session.request({ ":path": "/page.html", ":method": "OPTIONS", origin: "https://app.example" });
    const [[headers], [preflightHeaders], body] = await Promise.all([
      once(stream, "response"),
      once(preflight, "response"),
      buffer(stream),
    ]);
    expect(headers).toMatchObject({ ":status": 200, "content-encoding": "gzip", "x-frame-options": "SAMEORIGIN" });
    expect(preflightHeaders).toMatchObject({ ":status": 204, "access-control-allow-origin": "*" });
    expect(gunzipSync(body).toString()).toBe(page);
  });

  it("shows the target below the mount point, and the whole one beside it", async () => {
    const [seen, look] = looking((request) => [
      request.url,
      Reflect.get(request, "originalUrl"),
      Reflect.get(request, "baseUrl"),
    ]);
    const app = express().use("/docs", server([fromMiddleware(look)]));
    const port = await listen(http.createServer(app));
    const response = await fetch(`http://127.0.0.1:${port}/docs/page.html?x`);
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    expect(seen).toEqual([["/page.html?x", "/docs/page.html?x", "/docs"]]);
  });

  it("passes an accepted upgrade on, with its own header fields added", async () => {
    const [spy, seen] = spyOn();
    const accepting: Plugin = {
      name: "accepting",
      handle: () => ({
        status: 101,
        headers: {},
        accept: (socket) => {
          socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        },
      }),
    };
    const files = server([spy, fromMiddleware(compression()), fromMiddleware(helmet()), accepting]);
    const web = http.createServer();
    files.attach(web);
    const port = await listen(web);
    const request = http.request({ port, headers: { connection: "Upgrade", upgrade: "websocket" } }).end();
    const [response, socket] = await once(request, "upgrade");
    socket.destroy();
    expect(response.statusCode).toBe(101);
    expect(seen[0]).toMatchObject({ status: 101, headers: { "x-frame-options": "SAMEORIGIN" } });
  });

  it("passes a reply on whose first byte is a long time coming", async () => {
    const body = new Readable({ read() {} });
    const files = server([
      fromMiddleware(compression()),
      answering({ headers: { "content-type": "text/event-stream" }, body }),
    ]);
    const { status, content } = await openInProcess(files);
    expect(status).toBe(200);
    body.push("data: 1\n\n");
    body.push(null);
    expect((await buffer(content)).toString()).toBe("data: 1\n\n");
  });

  it("reports what the middleware throws after it has answered", async () => {
    const errors: unknown[] = [];
    const files = server(
      [
        fromMiddleware((_request, response) => {
          response.end("done");
          fail("afterwards");
        }),
      ],
      { onError: (error) => errors.push(error) },
    );
    const { status, body } = await whole(openInProcess(files));
    expect(status).toBe(200);
    expect(body.toString()).toBe("done");
    expect(errors).toEqual([new Error("afterwards")]);
  });
});

const leavers: (() => void)[] = [];
afterEach(() => leaveAll());

/** Makes every client of the test leave. */
function leaveAll(): void {
  for (const leave of leavers.splice(0)) leave();
}

function server(plugins: readonly Plugin[], options: { onError?: (error: unknown) => void } = {}): FileServer {
  const storage = memoryStorage({ "/page.html": page, "/small.html": "<p>hi" });
  const onError = options.onError ?? (() => {});
  return createFileServer({ storage, plugins, onError });
}

function answering(reply: Partial<Reply>): Plugin {
  return { name: "answering", handle: () => ({ status: 200, headers: {}, ...reply }) };
}

/** A plugin that notes the replies that pass it. */
function spyOn(): [plugin: Plugin, replies: Reply[]] {
  const replies: Reply[] = [];
  const handle: Plugin["handle"] = async (_exchange, next) => {
    const reply = await next();
    replies.push(reply);
    return reply;
  };
  return [{ name: "spy", handle }, replies];
}

function looking(look: (request: http.IncomingMessage) => unknown): [seen: unknown[], middleware: ConnectMiddleware] {
  const seen: unknown[] = [];
  return [
    seen,
    (request, _response, next) => {
      seen.push(look(request));
      next();
    },
  ];
}

function collector(): [stream: Writable, lines: string[]] {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return [stream, lines];
}

/** Content that gzip cannot shrink, and how much of it was asked for so far. */
function counted(total: number): { stream: Readable; made: () => number } {
  const noise = randomBytes(64 * 1024); // wider than the window in which gzip looks for repetition
  let made = 0;
  const stream = new Readable({
    read() {
      const size = Math.min(noise.length, total - made);
      made += size;
      this.push(size === 0 ? null : noise.subarray(0, size));
    },
  });
  return { stream, made: () => made };
}

function fail(message: string): never {
  throw new Error(message);
}

interface Opened {
  readonly status: number;
  readonly headers: Headers;
  readonly content: AsyncIterable<Uint8Array>;
  readonly leave: () => void;
}

async function openOverHttp(files: FileServer, asked: Asked = {}): Promise<Opened> {
  const port = await listen(http.createServer(files));
  const { method = "GET", path = "/", headers = {}, body } = asked;
  const request = http.request({ port, method, path, headers, agent: false });
  request.end(body);
  leavers.push(() => request.destroy());
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const received = new Headers();
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    for (const value of values ?? []) received.append(name, value);
  }
  return { status: response.statusCode ?? 0, headers: received, content: response, leave: () => request.destroy() };
}

async function openInProcess(files: FileServer, asked: Asked = {}): Promise<Opened> {
  const { method = "GET", path = "/", headers = {}, body } = asked;
  const controller = new AbortController();
  leavers.push(() => controller.abort());
  const init = { method, headers, signal: controller.signal, ...(body !== undefined && { body }) };
  const response = await files.fetch(new Request(`http://127.0.0.1${path}`, init));
  const reader = response.body?.getReader();
  const content = (async function* (): AsyncGenerator<Uint8Array> {
    if (!reader) return;
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  })();
  return { status: response.status, headers: response.headers, content, leave: () => void reader?.cancel() };
}

async function whole(opened: Promise<Opened>): Promise<Answer> {
  const { status, headers, content } = await opened;
  return { status, headers, body: await buffer(content) };
}
