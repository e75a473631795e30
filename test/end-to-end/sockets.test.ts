import { EventEmitter, once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createSecureServer } from "node:http2";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import "reflect-metadata";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { Server as EngineIo } from "engine.io";
import { build } from "esbuild";
import express from "express";
import session from "express-session";
import { fastify } from "fastify";
import { Server as SocketIo } from "socket.io";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ClientOptions, WebSocket, WebSocketServer } from "ws";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { permissions } from "../../src/plugins/permissions.ts";
import { webSocket } from "../../src/plugins/web-socket.ts";
import type { Exchange } from "../../src/server/exchange.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { makeCertificate } from "../helpers/certificate.ts";
import { exchangeBytes, listen } from "../helpers/serve.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const Koa: new () => { callback(): RequestListener } = createRequire(import.meta.url)("koa"); // has no types

/** A wiki with live pages, to be mounted under /wiki. */
function wiki(config: FileServerConfig = {}): FileServer {
  const storage = memoryStorage({ "/page.html": "<p>hi" });
  const files = createFileServer({ storage, plugins: [webSocket()], mount: "/wiki", ...config });
  onTestFinished(() => files.close());
  return files;
}

/** The first message of a web socket; `"refused <status>"` or `"cut"` for one that is not accepted. */
function firstMessage(url: string, protocols: string[] = [], options: ClientOptions = {}): Promise<string> {
  const socket = new WebSocket(url, protocols, options);
  onTestFinished(() => socket.terminate());
  return new Promise((resolve) => {
    socket.once("message", (data) => resolve(String(data)));
    socket.once("unexpected-response", (_request, { statusCode }) => resolve(`refused ${statusCode}`));
    socket.once("error", () => resolve("cut"));
  });
}

const hello = expect.stringContaining('"type":"hello"');

/** Web sockets of an application, which greet. */
function greeter(server: Server, path: string): void {
  const sockets = new WebSocketServer({ noServer: true });
  onTestFinished(() => sockets.close());
  server.on("upgrade", (request, socket, head) => {
    if (request.url !== path) return;
    sockets.handleUpgrade(request, socket, head, (connection) => connection.send("from the application"));
  });
}

describe("web sockets beside those of the application", () => {
  /** Everything on one server: files under /wiki, socket.io, and sockets of the application's own. */
  async function crowded(first: "files" | "others"): Promise<string> {
    const app = express();
    const files = wiki({ fallthrough: true });
    app.use("/wiki", files);
    const server = createServer(app);
    if (first === "files") server.on("upgrade", files.upgrade);
    const io = new SocketIo(server, { destroyUpgrade: false });
    onTestFinished(() => void io.close());
    for (const path of ["/ws", "/", "/page.html"]) greeter(server, path);
    if (first === "others") server.on("upgrade", files.upgrade);
    return `ws://127.0.0.1:${await listen(server)}`;
  }

  it.each(["files", "others"] as const)("all work, whoever listens first: %s", async (first) => {
    const url = await crowded(first);
    expect(await firstMessage(`${url}/wiki/ws`)).toEqual(hello);
    expect(await firstMessage(`${url}/ws`)).toBe("from the application");
    expect(await firstMessage(`${url}/`, ["vite-hmr"])).toBe("from the application");
    expect(await firstMessage(`${url}/page.html`)).toBe("from the application");
    expect(await firstMessage(`${url}/socket.io/?EIO=4&transport=websocket`)).toMatch(/^0\{"sid":/);
  });

  it("are left alone at the root, too, unless they are for a path or a document of the file server", async () => {
    const server = createServer();
    wiki({ mount: "/" }).attach(server);
    greeter(server, "/hot");
    greeter(server, "/?token=1");
    const url = `ws://127.0.0.1:${await listen(server)}`;
    expect(await firstMessage(`${url}/hot`)).toBe("from the application");
    expect(await firstMessage(`${url}/?token=1`, ["vite-hmr"])).toBe("from the application");
    expect(await firstMessage(`${url}/ws`)).toEqual(hello);
  });

  /** Another copy of the package than that of the file server, as a bundler makes it. */
  async function bundledSockets(): Promise<typeof WebSocketServer> {
    const file = join(await temporaryDirectory(), "ws.mjs");
    const entryPoints = [join(projectRoot, "node_modules/ws/wrapper.mjs")];
    const js = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
    await build({ entryPoints, bundle: true, platform: "node", format: "esm", outfile: file, banner: { js } });
    return (await import(file)).WebSocketServer;
  }

  /** What a client of engine.io sees: the messages, until it was answered. */
  function engineMessages(url: string): Promise<string[]> {
    const socket = new WebSocket(`${url}/engine.io/?EIO=4&transport=websocket`);
    onTestFinished(() => socket.terminate());
    const messages: string[] = [];
    return new Promise((resolve, reject) => {
      socket.on("error", reject);
      socket.on("message", (data) => {
        messages.push(String(data).replace(/\{.*/, ""));
        if (messages.length === 1) socket.send("4hello");
        else resolve(messages);
      });
    });
  }

  it.each(["files", "others"] as const)("are left to another copy of ws and to engine.io: %s first", async (first) => {
    const files = createFileServer({
      storage: memoryStorage({ "/page.html": "<p>hi", "/index.html": "<p>home" }),
      plugins: [webSocket()],
      fallthrough: true,
    });
    onTestFinished(() => files.close());
    const offers = ({ headers }: IncomingMessage) => headers["sec-websocket-protocol"];
    const server = createServer();
    if (first === "files") server.on("upgrade", files.upgrade);
    const engine = new EngineIo({ perMessageDeflate: { threshold: 0 } });
    onTestFinished(() => void engine.close());
    engine.on("connection", (connection) => connection.on("message", (data: string) => connection.send(`got ${data}`)));
    const others = new (await bundledSockets())({ noServer: true, perMessageDeflate: true });
    onTestFinished(() => others.close());
    server.on("upgrade", (request, socket, head) => {
      if (request.url?.startsWith("/engine.io/")) engine.handleUpgrade(request as never, socket, head);
      else if (request.url !== "/ws" && (offers(request) !== "stream-item" || request.url === "/none.html")) {
        others.handleUpgrade(request, socket, head, (connection) => {
          connection.on("message", (data) => connection.send(`echo ${data}`));
          connection.send("from the application");
        });
      }
    });
    if (first === "others") server.on("upgrade", files.upgrade);
    const url = `ws://127.0.0.1:${await listen(server)}`;
    expect(await engineMessages(url)).toEqual(["0", "4got hello"]);
    for (const target of ["/", "/page.html", "/none/", "/none.xml"]) {
      expect(await firstMessage(url + target)).toBe("from the application");
    }
    expect(await firstMessage(`${url}/none.html`, ["stream-item"])).toBe("from the application"); // is not there
    expect(await firstMessage(`${url}/ws`)).toEqual(hello);
    const document = new WebSocket(`${url}/`, ["stream-item"]);
    onTestFinished(() => document.terminate());
    await once(document, "open");
  });

  it("are left alone where a listener answers while the file server looks whether a document is there", async () => {
    const storage = memoryStorage({ "/page.html": "<p>hi" });
    const answered = new EventEmitter();
    const slow = {
      ...storage,
      async stat(path: string) {
        await once(answered, "done");
        return storage.stat(path);
      },
    };
    const files = createFileServer({ storage: slow, plugins: [webSocket()] });
    onTestFinished(() => files.close());
    const server = createServer().on("upgrade", files.upgrade);
    server.on("upgrade", (_request, socket) => {
      setImmediate(() => {
        socket.end("HTTP/1.1 418 I'm a teapot\r\nContent-Length: 3\r\n\r\nno\n");
        answered.emit("done");
      });
    });
    const port = await listen(server);
    const lines = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Protocol: stream-item"];
    lines.push("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==");
    const head = `GET /page.html HTTP/1.1\r\nHost: a\r\n${lines.join("\r\n")}\r\n\r\n`;
    expect(await exchangeBytes(port, head)).toBe("HTTP/1.1 418 I'm a teapot\r\nContent-Length: 3\r\n\r\nno\n");
  });

  it("do not tell whether a document is there that the client may not read", async () => {
    const rules = [{ username: "ada", path: "/*", permission: "allow" as const }];
    const plugins = [permissions({ rules }), webSocket()];
    const server = createServer().on("upgrade", wiki({ plugins }).upgrade);
    greeter(server, "/other");
    const url = `ws://127.0.0.1:${await listen(server)}`;
    for (const page of ["page", "none"]) {
      expect(await firstMessage(`${url}/wiki/${page}.html`, ["stream-item"])).toBe("refused 401");
    }
  });

  it("run through the middleware that requests run through, where the program says which", async () => {
    const sessions = session({ secret: "s", resave: false, saveUninitialized: false });
    const app = express().use(sessions);
    app.get("/sign-in", (request, response) => {
      Object.assign(request.session, { user: { name: "ada" } });
      response.send("welcome");
    });
    const user = ({ request }: Exchange<express.Request>) => Reflect.get(request.session, "user");
    const files = wiki({ mount: "/", plugins: [permissions({ user }), webSocket()], onError: () => {} });
    app.use(files);
    const failing = (_request: express.Request, _response: express.Response, next: express.NextFunction): void =>
      next(new Error("the store of sessions is away"));
    const server = createServer(app).on("upgrade", (request, socket, head) => {
      files.upgrade(request, socket, head, { before: request.url === "/ws?broken" ? [sessions, failing] : sessions });
    });
    const origin = `127.0.0.1:${await listen(server)}`;
    const signedIn = await fetch(`http://${origin}/sign-in`);
    const [cookie = ""] = signedIn.headers.get("set-cookie")?.split(";") ?? [];
    expect(await firstMessage(`ws://${origin}/ws`)).toBe("refused 401");
    expect(await firstMessage(`ws://${origin}/ws`, [], { headers: { cookie } })).toEqual(hello);
    expect(await firstMessage(`ws://${origin}/ws?broken`, [], { headers: { cookie } })).toBe("refused 500");
  });

  it("get 404 where nobody else listens, and with upgrades: all", async () => {
    const attached = createServer();
    wiki().attach(attached);
    expect(await firstMessage(`ws://127.0.0.1:${await listen(attached)}/none`)).toBe("refused 404");
    const all = createServer().on("upgrade", wiki({ upgrades: "all" }).upgrade);
    expect(await firstMessage(`ws://127.0.0.1:${await listen(all)}/none`)).toBe("refused 404");
  });

  it("are refused by the file server where they are its own", async () => {
    const server = createServer().on("upgrade", wiki().upgrade);
    greeter(server, "/none");
    const url = `ws://127.0.0.1:${await listen(server)}`;
    expect(await firstMessage(`${url}/wiki/ws`, [], { origin: "https://elsewhere.example" })).toBe("refused 403");
  });
});

describe("a plugin that fails while it is asked for a handshake", () => {
  it("does not end the process: it is reported, and the handshake left to others", async () => {
    const reported: unknown[] = [];
    const failure = new Error("no luck");
    const failing: Plugin = {
      name: "failing",
      acceptsUpgrade() {
        throw failure;
      },
    };
    const files = wiki({ plugins: [failing], onError: (error) => void reported.push(error) });
    const server = createServer().on("upgrade", files.upgrade);
    greeter(server, "/wiki/ws");
    expect(await firstMessage(`ws://127.0.0.1:${await listen(server)}/wiki/ws`)).toBe("from the application");
    expect(reported).toEqual([failure]);
  });
});

describe("web sockets under /wiki", () => {
  it("work with Fastify", async () => {
    const files = wiki();
    const app = fastify();
    onTestFinished(() => app.close());
    app.get("/about", async () => "Not a file.");
    app.server.on("upgrade", files.upgrade);
    await app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = app.server.address() as AddressInfo;
    expect(await firstMessage(`ws://127.0.0.1:${port}/wiki/ws`)).toEqual(hello);
  });

  it("work with Nest, beside sockets of the application", async () => {
    class AppModule {}
    Module({})(AppModule);
    const app = await NestFactory.create(AppModule, { bodyParser: false, logger: false });
    onTestFinished(() => app.close());
    const files = wiki();
    app.use("/wiki", files);
    const server: Server = app.getHttpServer();
    server.on("upgrade", files.upgrade);
    greeter(server, "/chat");
    await app.listen(0, "127.0.0.1");
    const { port } = server.address() as AddressInfo;
    expect(await firstMessage(`ws://127.0.0.1:${port}/wiki/ws`)).toEqual(hello);
    expect(await firstMessage(`ws://127.0.0.1:${port}/chat`)).toBe("from the application");
    expect((await fetch(`http://127.0.0.1:${port}/wiki/page.html`)).status).toBe(200);
  });

  it("work beside koa-mount, which takes the path off requests only", async () => {
    const files = wiki({ mount: { path: "/wiki", stripped: true } });
    const server = createServer(new Koa().callback()).on("upgrade", files.upgrade);
    const url = `ws://127.0.0.1:${await listen(server)}`;
    expect(await firstMessage(`${url}/wiki/ws`)).toEqual(hello);
  });

  it("work with Koa", async () => {
    const server = createServer(new Koa().callback()).on("upgrade", wiki().upgrade);
    expect(await firstMessage(`ws://127.0.0.1:${await listen(server)}/wiki/ws`)).toEqual(hello);
  });

  it("work with node:http2, over HTTP/1.1 as browsers do it", { tags: ["openssl"] }, async () => {
    const files = await makeCertificate(await temporaryDirectory(), "site");
    const [cert, key] = [await readFile(files.cert), await readFile(files.key)];
    const server = createSecureServer({ cert, key, allowHTTP1: true });
    wiki().attach(server);
    const url = `wss://127.0.0.1:${await listen(server)}/wiki/ws`;
    expect(await firstMessage(url, [], { rejectUnauthorized: false })).toEqual(hello);
  });
});
