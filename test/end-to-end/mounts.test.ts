import { createServer, type Server } from "node:http";
import cors from "cors";
import { Elysia } from "elysia";
import express from "express";
import { fastify } from "fastify";
import { H3, withBase } from "h3";
import { Hono } from "hono";
import { Request as UndiciRequest } from "undici";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { accessLog } from "../../src/plugins/access-log.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Sending, send } from "../helpers/send.ts";
import { listen, rawRequest, serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

type Compared = readonly [what: string, method: string, path: string, sending?: Sending];

/** A file server that is closed when the test is over. */
function mounted(config: FileServerConfig): FileServer {
  const files = createFileServer(config);
  onTestFinished(() => files.close());
  return files;
}

async function publicDirectory(): Promise<string> {
  const root = await temporaryDirectory({ "about.html": "<h1>About</h1>", "images/a.txt": "a" });
  return root;
}

/** An application behind static files, as many are: an API, a page of its own at the root, CORS. */
async function applicationBehind(files: express.RequestHandler): Promise<string> {
  const app = express();
  app.use(files);
  app.use(cors({ origin: "https://shop.example" }));
  app.use(express.json());
  app.get("/", (_request, response) => void response.send("home"));
  app.all("/api/users/:id", (request, response) => {
    response.json({ method: request.method, id: request.params["id"], ...request.body });
  });
  app.use((_request, response) => void response.status(404).send("the application's 404"));
  return `http://127.0.0.1:${await listen(createServer(app))}`;
}

describe("in place of express.static", () => {
  const json = { "content-type": "application/json" };
  const preflight = { origin: "https://shop.example", "access-control-request-method": "PUT" };
  const elsewhere = { "sec-fetch-site": "cross-site", origin: "https://shop.example", ...json };

  /** What is compared: the same request to the same application behind the one and the other. */
  const requests: readonly Compared[] = [
    ["a file", "GET", "/about.html"],
    ["a route", "GET", "/api/users/1"],
    ["a route, to be changed", "PUT", "/api/users/1", { headers: json, body: '{"name":"Ada"}' }],
    ["a route, from a page of another site", "PUT", "/api/users/1", { headers: elsewhere, body: '{"name":"Ada"}' }],
    ["a route, to be called", "POST", "/api/users/2", { headers: json, body: '{"name":"Bob"}' }],
    ["a file, to be removed", "DELETE", "/about.html"],
    ["the file once more", "GET", "/about.html"],
    ["a preflight", "OPTIONS", "/api/users/1", { headers: preflight }],
    ["a method of its own", "PROPFIND", "/about.html"],
    ["the root, which has no index file", "GET", "/"],
    ["a directory without an index file", "GET", "/images/"],
    ["nothing", "GET", "/none"],
    ["the header of nothing", "HEAD", "/none"],
    ["a hidden name", "GET", "/.env"],
  ];

  const compared = requests.map(([what, method, path, sending = {}]) => ({ what, method, path, sending }));

  it.each(compared)("answers $what as the application did before: $method $path", async ({ method, path, sending }) => {
    const root = await publicDirectory();
    const ask = async (files: express.RequestHandler) => {
      const { status, text, headers } = await send(await applicationBehind(files), method, path, sending);
      const { "access-control-allow-methods": allows, "access-control-allow-origin": origin } = headers;
      return { status, text, allows, origin };
    };
    const before = await ask(express.static(root));
    expect(await ask(mounted({ root, fallthrough: true }))).toEqual(before);
  });

  it("takes the writes that it is told to take, and only below its mount path", async () => {
    const root = await publicDirectory();
    const app = express();
    const methods = ["GET", "PUT"] as const;
    app.use("/wiki", mounted({ root, methods, fallthrough: true }));
    app.use(express.json());
    app.all("/{*any}", (request, response) => void response.json({ method: request.method, ...request.body }));
    const url = `http://127.0.0.1:${await listen(createServer(app))}`;
    expect((await send(url, "PUT", "/wiki/new.txt", { body: "new" })).status).toBe(201);
    expect((await send(url, "GET", "/wiki/new.txt")).text).toBe("new");
    expect((await send(url, "PUT", "/new.txt", { headers: json, body: '{"a":1}' })).text).toBe(
      '{"method":"PUT","a":1}',
    );
    expect((await send(url, "DELETE", "/wiki/new.txt")).text).toBe('{"method":"DELETE"}');
    expect((await send(url, "GET", "/wiki/new.txt")).text).toBe("new");
  });

  it("has no part in what it passes on: no limit counts it, no plugin sees it", async () => {
    const root = await publicDirectory();
    const seen: string[] = [];
    const watching = { name: "watching", observe: ({ path }: { path: string }) => void seen.push(path) };
    const url = await applicationBehind(mounted({ root, fallthrough: true, maxFileSize: 10, plugins: [watching] }));
    const large = JSON.stringify({ text: "x".repeat(1000) });
    expect((await send(url, "POST", "/api/users/1", { headers: json, body: large })).status).toBe(200);
    expect(seen).toEqual([]);
  });
});

describe("under a path of a framework that passes the whole URL on", () => {
  const storage = () => memoryStorage({ "/folder/a.txt": "a", "/page.html": "<ul id=l></ul>" });

  async function fetched(files: FileServer, mount?: string) {
    const app = new Hono();
    app.all("/wiki/*", (context) => files.fetch(context.req.raw, { mount }));
    app.all("*", (context) => context.text("the application's"));
    return async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
      const init = { method, headers, ...(body !== undefined && { body }) };
      const response = await app.request(path, init);
      return { status: response.status, location: response.headers.get("location"), text: await response.text() };
    };
  }

  it.each([
    ["fetch", {}, "/wiki"],
    ["the configuration", { mount: "/wiki" }, undefined],
  ])("has files below it, and Location and listings with it, where %s says so", async (_who, config, mount) => {
    const ask = await fetched(mounted({ storage: storage(), ...config }), mount);
    expect(await ask("GET", "/wiki/folder/a.txt")).toMatchObject({ status: 200, text: "a" });
    expect(await ask("GET", "/wiki/folder?x=1")).toMatchObject({ status: 301, location: "/wiki/folder/?x=1" });
    expect(await ask("PUT", "/wiki/new.txt", {}, "new")).toMatchObject({ status: 201, location: "/wiki/new.txt" });
    const added = await ask("POST", "/wiki/page.html", { range: "selector=#l" }, "<li>1</li>");
    expect(added).toMatchObject({ status: 206, text: "<ul id=l><li>1</li></ul>" });
    const listing = await ask("GET", "/wiki/folder/", { accept: "text/html" });
    expect(listing.text).toContain('href="./a.txt"');
    expect(listing.text).toContain("localhost/wiki");
    expect(await ask("GET", "/folder/a.txt")).toMatchObject({ text: "the application's" });
  });

  it("has no files elsewhere", async () => {
    const files = mounted({ storage: storage(), mount: "/wiki" });
    expect((await files.fetch("/folder/a.txt")).status).toBe(404);
    expect((await files.fetch("/wikifolder/a.txt")).status).toBe(404);
    expect((await files.fetch("/wiki/folder/a.txt")).status).toBe(200);
    expect((await files.fetch("/wiki?x=1", { mount: "/wiki" })).headers.get("location")).toBe("/wiki/?x=1");
  });

  it("leaves what lies elsewhere to the next handler, with fallthrough", async () => {
    const app = express();
    app.use(mounted({ storage: storage(), mount: "/wiki", fallthrough: true }));
    app.use((_request, response) => void response.send("the application's"));
    const url = `http://127.0.0.1:${await listen(createServer(app))}`;
    expect((await send(url, "GET", "/wiki/folder/a.txt")).text).toBe("a");
    expect((await send(url, "GET", "/folder/a.txt")).text).toBe("the application's");
  });

  it("is spelled in the configuration as people write it, and in URLs as they have it", async () => {
    const files = mounted({ storage: storage(), mount: "/grüße & co" });
    const reply = await files.fetch("/gr%C3%BC%C3%9Fe%20&%20co/folder");
    expect([reply.status, reply.headers.get("location")]).toEqual([301, "/gr%C3%BC%C3%9Fe%20&%20co/folder/"]);
  });
});

describe("under a path that a framework has taken off", () => {
  const config = { mount: { path: "/wiki", stripped: true } };
  const content = { "/folder/a.txt": "a", "/page.html": "<ul id=l></ul>" };
  const frameworks: readonly (readonly [
    string,
    (files: FileServer) => (request: Request) => Response | Promise<Response>,
  ])[] = [
    ["Hono", (files) => new Hono().mount("/wiki", (request: Request) => files.fetch(request)).fetch],
    ["h3", (files) => new H3().mount("/wiki", (request: Request) => files.fetch(request)).fetch],
    [
      "h3, withBase",
      (files) => {
        const handler = withBase("/wiki", ({ url, req }) => files.fetch(new Request(url, req as Request)));
        return new H3().all("/wiki/**", handler).fetch;
      },
    ],
    ["Elysia", (files) => new Elysia().mount("/wiki", (request) => files.fetch(request)).handle],
  ];

  it.each(frameworks)("has files, and Location, listings and the access log with it: %s", async (_name, made) => {
    const lines: string[] = [];
    const plugins = [accessLog({ format: "common", write: (line) => void lines.push(line) })];
    const answer = made(mounted({ storage: memoryStorage(content), plugins, ...config }));
    const ask = async (method: string, path: string, init: RequestInit = {}) => {
      const reply = await answer(new Request(`http://localhost${path}`, { method, ...init }));
      return { status: reply.status, location: reply.headers.get("location"), text: await reply.text() };
    };
    expect(await ask("GET", "/wiki/folder/a.txt")).toMatchObject({ status: 200, text: "a" });
    expect(await ask("GET", "/wiki/folder?x=1")).toMatchObject({ status: 301, location: "/wiki/folder/?x=1" });
    expect(await ask("PUT", "/wiki/new.txt", { body: "new" })).toMatchObject({
      status: 201,
      location: "/wiki/new.txt",
    });
    const headers = { range: "selector=#l" };
    expect(await ask("POST", "/wiki/page.html", { headers, body: "<li>1" })).toMatchObject({ status: 206 });
    const listing = await ask("GET", "/wiki/folder/", { headers: { accept: "text/html" } });
    expect(listing.text).toContain("localhost/wiki");
    expect(lines.join("")).toContain('"GET /wiki/folder/a.txt HTTP/1.1" 200');
  });

  it("can be said for a request alone", async () => {
    const files = mounted({ storage: memoryStorage(content) });
    expect((await files.fetch("/folder", config)).headers.get("location")).toBe("/wiki/folder/");
  });
});

describe("a request in-process", () => {
  const files = () => mounted({ storage: memoryStorage({ "/a.txt": "a" }) });

  it("can be a Request, a URL or a path", async () => {
    const server = files();
    for (const input of [new Request("http://x/a.txt"), new URL("http://x/a.txt"), "http://x/a.txt", "/a.txt"]) {
      expect(await (await server.fetch(input)).text()).toBe("a");
    }
  });

  it("can be a Request of another library or realm, also where the global one is another by now", async () => {
    const server = files();
    const init = { method: "PUT", body: "from undici", headers: { "x-request-id": "u" } };
    const put = await server.fetch(new UndiciRequest("http://x/b.txt", init) as unknown as Request);
    expect([put.status, put.headers.get("x-request-id")]).toEqual([201, "u"]);
    const native = new Request("http://x/b.txt");
    vi.stubGlobal("Request", class extends Request {});
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await (await server.fetch(native)).text()).toBe("from undici");
  });

  it("is undefined with fallthrough, where the application is to answer", async () => {
    const storage = memoryStorage({ "/a.txt": "a" });
    const server = createFileServer({ storage, fallthrough: true });
    onTestFinished(() => server.close());
    expect(await (await server.fetch("/a.txt"))?.text()).toBe("a");
    expect(await server.fetch("/none.txt")).toBeUndefined();
    expect(await server.fetch(new Request("http://x/a.txt", { method: "PUT", body: "b" }))).toBeUndefined();
    expect((await server.fetch("/%00"))?.status).toBe(400);
  });

  it("is rejected with what a framework hands on beside it", async () => {
    const server = files();
    const app = new Hono();
    app.mount("/docs", server.fetch as never);
    app.onError((error, context) => context.text(error.message, 500));
    const reply = await app.request("/docs/a.txt", {}, { incoming: 1, outgoing: 2 });
    expect(await reply.text()).toBe(
      "files.fetch takes { address, mount } behind the request, but got incoming, outgoing: " +
        "write (request) => files.fetch(request)",
    );
  });

  it("is rejected where it is no URL", async () => {
    await expect(files().fetch("http://")).rejects.toThrow(TypeError);
  });

  it("can be one of Fastify's inject, which has no connection", async () => {
    const server = files();
    const app = fastify();
    onTestFinished(() => app.close());
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _content, done) => done(null));
    app.all("/*", (request, reply) => {
      reply.hijack();
      server(request.raw, reply.raw);
    });
    const put = await app.inject({ method: "PUT", url: "/b.txt", payload: "content" });
    expect([put.statusCode, put.headers["location"]]).toEqual([201, "/b.txt"]);
    expect((await app.inject({ url: "/b.txt" })).payload).toBe("content");
  });
});

describe("a route of the application that sends a file", () => {
  it("hands the request on under the path of the file, with ranges, conditions and the mount", async () => {
    const app = express();
    const handler = mounted({ storage: memoryStorage({ "/in/a b.txt": "seven" }), readOnly: true });
    app.get("/invoice/:id", (request, response) => {
      request.url = encodeURI("/in/a b.txt");
      handler(request, response);
    });
    const url = `http://127.0.0.1:${await listen(createServer(app))}`;
    const whole = await send(url, "GET", "/invoice/7?download");
    expect([whole.status, whole.text]).toEqual([200, "seven"]);
    const headers = { range: "bytes=1-2", "if-range": String(whole.headers.etag) };
    expect(await send(url, "GET", "/invoice/7", { headers })).toMatchObject({ status: 206, text: "ev" });
    const unchanged = { "if-none-match": String(whole.headers.etag) };
    expect((await send(url, "GET", "/invoice/7", { headers: unchanged })).status).toBe(304);
  });
});

describe("a request target", () => {
  it("without a path is the root", async () => {
    const { port } = await serve({ storage: memoryStorage({ "/index.html": "<h1>Home</h1>" }) });
    expect(await rawRequest(port, "GET", `http://127.0.0.1:${port}`)).toMatchObject({
      status: 200,
      body: "<h1>Home</h1>",
    });
    expect((await rawRequest(port, "GET", `http://127.0.0.1:${port}?x=1`)).status).toBe(200);
  });
});

describe("a transfer coding other than chunks", () => {
  it("is 501, and nothing is stored", async () => {
    const { files, port } = await serve({ storage: memoryStorage() });
    const answer = await rawRequest(port, "PUT", "/a.txt", ["Transfer-Encoding: gzip, chunked"], "1\r\nx\r\n0\r\n\r\n");
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([501, "UNSUPPORTED_TRANSFER_CODING"]);
    expect((await files.fetch("/a.txt")).status).toBe(404);
  });
});

describe("attach", () => {
  const files = () => mounted({ storage: memoryStorage({ "/a.txt": "a" }) });

  it.each<[string, () => unknown]>([
    ["the application of a framework", () => express()],
    ["the application of a framework", () => fastify()],
    ["undefined", () => undefined],
    ["null", () => null],
    ["string", () => "server"],
  ])("says what it expects where it gets %s", (got, make) => {
    expect(() => files().attach(make() as Server)).toThrow(
      `attach expects a server of node:http, node:https or node:http2, but got ${got}. In an application, mount`,
    );
  });

  it("answers once on a server that has the file server as its handler", async () => {
    const server = files();
    const seen: string[] = [];
    const http = createServer((request, response) => {
      seen.push(request.url ?? "");
      server(request, response);
    });
    expect(() => server.attach(http)).toThrow("both would answer");
    const own = createServer(server);
    server.attach(own);
    server.attach(own);
    expect(own.listenerCount("request")).toBe(1);
    expect((await send(`http://127.0.0.1:${await listen(own)}`, "GET", "/a.txt")).text).toBe("a");
    expect((await send(`http://127.0.0.1:${await listen(http)}`, "GET", "/a.txt")).text).toBe("a");
    expect(seen).toEqual(["/a.txt"]);
  });

  it("refuses to be followed by the file server as a handler", () => {
    const server = files();
    const http = createServer();
    server.attach(http);
    expect(() => http.on("request", server)).toThrow("both would answer");
  });
});
