import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createSecureServer } from "node:http2";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import "reflect-metadata";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import express from "express";
import { fastify } from "fastify";
import { Server as SocketIo } from "socket.io";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ClientOptions, WebSocket, WebSocketServer } from "ws";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { webSocket } from "../../src/plugins/web-socket.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { makeCertificate } from "../helpers/certificate.ts";
import { listen } from "../helpers/serve.ts";
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

  it("work with Koa", async () => {
    const server = createServer(new Koa().callback()).on("upgrade", wiki().upgrade);
    expect(await firstMessage(`ws://127.0.0.1:${await listen(server)}/wiki/ws`)).toEqual(hello);
  });

  it("work with node:http2, over HTTP/1.1 as browsers do it", { tags: ["openssl"] }, async () => {
    const files = await makeCertificate(await temporaryDirectory(), "site");
    const [cert, key] = [await readFile(files.cert), await readFile(files.key)];
    const server = createSecureServer({ cert, key, allowHTTP1: true });
    wiki().attach(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await firstMessage(`wss://127.0.0.1:${port}/wiki/ws`, [], { rejectUnauthorized: false })).toEqual(hello);
  });
});
