import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import cors from "cors";
import express from "express";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { type Sending, send } from "../helpers/send.ts";
import { listen } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

type Compared = readonly [what: string, method: string, path: string, sending?: Sending];

/** A file server that is closed when the test is over. */
function mounted(config: FileServerConfig): FileServer {
  const files = createFileServer(config);
  onTestFinished(() => files.close());
  return files;
}

async function publicDirectory(): Promise<string> {
  const root = await temporaryDirectory();
  await writeFile(join(root, "about.html"), "<h1>About</h1>");
  await mkdir(join(root, "images"));
  await writeFile(join(root, "images", "a.txt"), "a");
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
