import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:http2";
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { createFileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { sample } from "../helpers/effort.ts";
import { runNode } from "../helpers/run-node.ts";
import { listen } from "../helpers/serve.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

interface Answer {
  readonly status: number;
  readonly location?: string | undefined;
  readonly body: string;
}

type Send = (method: string, path: string, headers?: Record<string, string>, body?: string) => Promise<Answer>;

/** The first program under a heading of the documentation. */
function documented(heading: string): string {
  const page = readFileSync(join(projectRoot, "docs/embedding.md"), "utf8");
  const section = page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  const [, program] = /^```js\n([\s\S]*?)^```/m.exec(section) ?? [];
  if (program === undefined) throw new Error(`docs/embedding.md has no program under "${heading}"`);
  return program;
}

/** Runs a program in a directory where npm might have installed the packages, with a folder `site`, on a free port. */
async function runProgram(program: string, packages: readonly string[] = []): Promise<{ port: number; site: string }> {
  const directory = await temporaryDirectory();
  const site = join(directory, "site");
  await mkdir(join(site, "folder"), { recursive: true });
  await writeFile(join(site, "page.html"), "<ul id=list><li>One</li></ul>");
  await writeFile(join(directory, "program.mjs"), program);
  for (const each of ["filement=..", ...packages]) {
    const [name = "", target = name] = each.split("=");
    const link = join(directory, "node_modules", name);
    await mkdir(join(link, ".."), { recursive: true });
    await symlink(join(projectRoot, "node_modules", target), link, "dir");
  }
  const preload = new URL("../helpers/free-port.mjs", import.meta.url).href;
  const running = runNode(["--import", preload, "program.mjs"], { cwd: directory });
  const [, port] = await running.waitFor(/listening on port (\d+)\n/);
  return { port: Number(port), site };
}

/** Sends requests over HTTP/1.1. */
const overHttp1 =
  (port: number): Send =>
  async (method, path, headers = {}, body = undefined) => {
    const init = body === undefined ? { method, headers } : { method, headers, body };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, redirect: "manual" });
    const location = response.headers.get("location") ?? undefined;
    return { status: response.status, location, body: await response.text() };
  };

/** Sends requests over HTTP/2 without TLS. */
const overHttp2 = (port: number): Send => {
  const session = connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => void setImmediate(() => session.destroy()));
  return async (method, path, headers = {}, body = "") => {
    const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: body === "" });
    if (body !== "") stream.end(body);
    const [head] = await once(stream, "response");
    return { status: head[":status"], location: head.location, body: await text(stream) };
  };
};

/** Whole files and elements, read and changed, through whatever stands before the file server. */
async function checkOperations(send: Send, site: string, mount: string): Promise<void> {
  const page = `${mount}/page.html`;
  expect(await send("GET", page)).toMatchObject({ status: 200, body: "<ul id=list><li>One</li></ul>" });
  expect(await send("HEAD", page)).toMatchObject({ status: 200, body: "" });
  expect(await send("GET", `${mount}/folder?q=1`)).toMatchObject({ status: 301, location: `${mount}/folder/?q=1` });

  const json = { "content-type": "application/json" };
  const created = await send("PUT", `${mount}/new/a%20b.json`, json, '{"a":1}');
  expect(created).toMatchObject({ status: 201, location: `${mount}/new/a%20b.json` });
  expect(await readFile(join(site, "new/a b.json"), "utf8")).toBe('{"a":1}');
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect(await send("POST", `${mount}/new/a%20b.json`, form, "x=1")).toMatchObject({ status: 200 });
  expect(await send("GET", `${mount}/new/a%20b.json`)).toMatchObject({ body: '{"a":1}x=1' });
  expect(await send("DELETE", `${mount}/new/a%20b.json`)).toMatchObject({ status: 204, body: "" });
  expect(await send("PUT", `${mount}/new/a%20b.json`, json, "{}")).toMatchObject({ status: 201 });

  const range = { range: "selector=#list li" };
  const appended = await send("POST", page, { range: "selector=#list" }, "<li>Two</li>");
  expect(appended).toMatchObject({ status: 206, body: "<ul id=list><li>One</li><li>Two</li></ul>" });
  expect(await send("GET", page, range)).toMatchObject({ status: 206, body: "<li>One</li><li>Two</li>" });
  const replaced = await send("PUT", page, { range: "selector=li:first-child" }, "<li>1</li>");
  expect(replaced).toMatchObject({ status: 206, body: "<li>1</li>" });
  expect(await send("DELETE", page, { range: "selector=li + li" })).toMatchObject({ status: 204, body: "" });
  expect(await readFile(join(site, "page.html"), "utf8")).toBe("<ul id=list><li>1</li></ul>");

  const large = "<p>0123456789</p>".repeat(200_000); // 3 MB: more than buffers and the limits of body parsers hold
  expect((await send("PUT", `${mount}/large.html`, { "content-type": "text/html" }, large)).status).toBe(201);
  expect((await send("GET", `${mount}/large.html`)).body).toBe(large);
}

const nest = ["@nestjs/common", "@nestjs/core", "@nestjs/platform-express", "reflect-metadata"];

describe("the programs of docs/embedding.md", () => {
  it("serve and change files and elements: node:http", { tags: ["campaign"] }, async () => {
    const { port, site } = await runProgram(documented("node:http"));
    await checkOperations(overHttp1(port), site, "");
  });

  it("serve and change files and elements: node:http2", async () => {
    const { port, site } = await runProgram(documented("node:http2"));
    await checkOperations(overHttp2(port), site, "");
  });

  const frameworks: readonly [string, string, readonly string[], string, string][] = [
    ["Express 5", "Express", ["express"], "/docs", "/docs/about"],
    ["Express 4", "Express", ["express=express4"], "/docs", "/docs/about"],
    ["Nest", "Nest", nest, "/docs", "/about"],
    ["Fastify", "Fastify", ["fastify"], "", "/about"],
    ["koa-mount", "koa-mount", ["koa", "koa-mount"], "/docs", "/about"],
    ["Hono, mounted", "Hono, mounted", ["hono", "@hono/node-server"], "/docs", "/about"],
    ["h3", "h3", ["h3"], "/docs", "/about"],
    ["Elysia", "Elysia", ["elysia", "@hono/node-server"], "/docs", "/about"],
    ["Koa", "Koa", ["koa"], "", "/about"],
    ["Hono", "Hono", ["hono", "@hono/node-server"], "", "/about"],
    ["a path of node:http", "Under a path", [], "/docs", "/about"],
  ];

  it.each(sample(frameworks, 5))(
    "serve and change files and elements, beside a route of their own: %s",
    async (_name, heading, packages, mount, own) => {
      const { port, site } = await runProgram(documented(heading), packages);
      const send = overHttp1(port);
      await checkOperations(send, site, mount);
      expect((await send("GET", own)).body).toBe("Not a file.");
    },
  );
});

describe("Vite", () => {
  it("serves and changes files and elements beside its own pages, and its hot reload goes on", async () => {
    const start = `const { createServer } = await import("vite");
      const vite = await createServer({ ...config, configFile: false, server: { ...config.server, host: "127.0.0.1", port: 3000 } });
      await vite.listen();`;
    const program = `${documented("Vite").replace("export default", "const config =")}\n${start}`;
    const { port, site } = await runProgram(program, ["vite"]);
    await checkOperations(overHttp1(port), site, "/docs");
    for (const [path, protocol] of [["/docs/ws"], ["/", "vite-ping"]] as const) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocol);
      await once(socket, "open");
      socket.terminate();
    }
  });
});

describe("Fastify", () => {
  it("keeps the header fields and cookies of hooks before, and what they refuse", async () => {
    const hooks = `const app = fastify();
      await app.register(cookie);
      app.addHook("onRequest", async (request, reply) => {
        reply.header("x-hook", "1").setCookie("seen", "yes");
        if (request.url.startsWith("/folder")) return reply.code(403).send();
      });`;
    const program = documented("Fastify").replace("const app = fastify();", hooks);
    const { port } = await runProgram(`import cookie from "@fastify/cookie";\n${program}`, [
      "fastify",
      "@fastify/cookie",
    ]);
    const range = { range: "selector=li" };
    for (const [path, headers, status] of [
      ["/page.html", {}, 200],
      ["/page.html", range, 206],
      ["/none.html", {}, 404],
      ["/folder/", {}, 403],
    ] as const) {
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      const fields = ["x-hook", "set-cookie"].map((name) => reply.headers.get(name));
      expect([reply.status, ...fields]).toEqual([status, "1", "seen=yes; SameSite=Lax"]);
      await reply.text();
    }
  });
});

const require = createRequire(import.meta.url);

describe.each([
  ["Express 5", "express"],
  ["Express 4", "express4"],
])("%s", (_version, name) => {
  const express: typeof import("express") = require(name);
  const storage = () => memoryStorage({ "/index.html": "<h1>Home</h1>", "/folder/a.txt": "a" });

  /** An application with the file server under /docs, a page of its own, and a last resort. */
  async function serveExpress(fallthrough: boolean): Promise<Send> {
    const app = express();
    app.use("/docs", createFileServer({ storage: storage(), fallthrough }));
    app.get("/docs/page", (_request, response) => void response.send("the application's page"));
    app.use((_request, response) => void response.status(404).send("the application's 404"));
    return overHttp1(await listen(createServer(app)));
  }

  it("has files below the mount path only, which Location has, too, and answers the mount point", async () => {
    const send = await serveExpress(false);
    expect(JSON.parse((await send("GET", "/docs/page")).body)).toMatchObject({ code: "NOT_FOUND" });
    expect(await send("GET", "/docs/folder/a.txt")).toMatchObject({ status: 200, body: "a" });
    expect(await send("GET", "/folder/a.txt")).toMatchObject({ body: "the application's 404" });
    expect(await send("GET", "/docsfolder/a.txt")).toMatchObject({ body: "the application's 404" });
    expect(await send("GET", "/docs/")).toMatchObject({ status: 200, body: "<h1>Home</h1>" });
    expect(await send("GET", "/docs")).toMatchObject({ status: 301, location: "/docs/" });
    expect(await send("GET", "/docs?a=1&b")).toMatchObject({ status: 301, location: "/docs/?a=1&b" });
    expect(await send("GET", "/docs/?a=1")).toMatchObject({ status: 200, body: "<h1>Home</h1>" });
    expect(await send("GET", "/docs/folder?a=%20b")).toMatchObject({ status: 301, location: "/docs/folder/?a=%20b" });
    expect(await send("PUT", "/docs/new.txt", {}, "new")).toMatchObject({ status: 201, location: "/docs/new.txt" });
    const posted = await send("POST", "/docs/folder/", { "x-filename": "b.txt" }, "b");
    expect(posted).toMatchObject({ status: 201, location: "/docs/folder/b.txt" });
  });

  it("passes what it does not find and does not take to the application with fallthrough, but no other error", async () => {
    const send = await serveExpress(true);
    expect(await send("GET", "/docs/page")).toMatchObject({ status: 200, body: "the application's page" });
    expect(await send("HEAD", "/docs/page")).toMatchObject({ status: 200, body: "" });
    expect(await send("GET", "/docs/none")).toMatchObject({ status: 404, body: "the application's 404" });
    expect(await send("GET", "/docs/folder/a.txt")).toMatchObject({ status: 200, body: "a" });
    expect(await send("DELETE", "/docs/folder/a.txt")).toMatchObject({ body: "the application's 404" });
    expect(await send("GET", "/docs/folder/a.txt")).toMatchObject({ status: 200, body: "a" });
    expect(JSON.parse((await send("GET", "/docs/%00")).body)).toMatchObject({ code: "INVALID_PATH" });
  });

  it("goes before a route of its name where it has the document, with fallthrough, and after it where it has not", async () => {
    const app = express();
    app.use("/docs", createFileServer({ storage: storage(), extensions: [".html"], fallthrough: true }));
    app.get(["/docs/index", "/docs/page"], (_request, response) => void response.send("the application's page"));
    const send = overHttp1(await listen(createServer(app)));
    for (const headers of [{}, { range: "selector=h1" }]) {
      expect((await send("GET", "/docs/index", headers)).body).toBe("<h1>Home</h1>");
      expect((await send("GET", "/docs/page", headers)).body).toBe("the application's page");
    }
  });

  it("knows its whole mount path within nested routers", async () => {
    const app = express();
    const outer = express.Router();
    const inner = express.Router();
    inner.use("/docs", createFileServer({ storage: storage() }));
    outer.use("/team", inner);
    app.use("/site", outer);
    const send = overHttp1(await listen(createServer(app)));
    expect(await send("GET", "/site/team/docs/folder/a.txt")).toMatchObject({ status: 200, body: "a" });
    expect(await send("GET", "/site/team/docs?q")).toMatchObject({ status: 301, location: "/site/team/docs/?q" });
    const put = await send("PUT", "/site/team/docs/new.txt", {}, "new");
    expect(put).toMatchObject({ status: 201, location: "/site/team/docs/new.txt" });
  });

  it("takes the mount path as the client wrote it where a route has parameters", async () => {
    const app = express();
    app.use("/users/:name/files", createFileServer({ storage: storage() }));
    const send = overHttp1(await listen(createServer(app)));
    expect((await send("GET", "/users/J%C3%B6rg/files/folder")).location).toBe("/users/J%C3%B6rg/files/folder/");
  });
});
