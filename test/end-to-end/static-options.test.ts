import { writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import fastifyStatic from "@fastify/static";
import { getRequestListener } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import compression from "compression";
import cors from "cors";
import express from "express";
import { fastify } from "fastify";
import helmet from "helmet";
import { Hono } from "hono";
import sirv from "sirv";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { cors as ourCors } from "../../src/plugins/cors.ts";
import { directory } from "../../src/plugins/directory.ts";
import { errorPages } from "../../src/plugins/error-pages.ts";
import { fileHandler } from "../../src/plugins/file-handler.ts";
import { redirects } from "../../src/plugins/redirects.ts";
import { securityHeaders } from "../../src/plugins/security-headers.ts";
import { type Sending, send } from "../helpers/send.ts";
import { listen } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

async function siteDirectory(): Promise<string> {
  const root = await temporaryDirectory({
    "index.html": "<h1>App</h1>",
    "about.html": "<h1>About</h1>",
    "assets/app.js": "app()",
    "old/default.htm": "<h1>Old</h1>",
    "assets/plan b.txt": "b",
    "long.txt": "line\n".repeat(1000),
    "assets/app.js.br": brotliCompressSync("app()"),
    "assets/app.js.gz": gzipSync("app()"),
    "assets/only.js.br": brotliCompressSync("only()"),
    ".hidden": "hidden",
  });
  return root;
}

function filesOf(config: FileServerConfig): FileServer {
  const files = createFileServer(config);
  onTestFinished(() => files.close());
  return files;
}

type Peer = (root: string) => RequestListener | Promise<RequestListener>;

/** `express.static`, with its own options. */
const ofExpress =
  (options: Parameters<typeof express.static>[1]): Peer =>
  (root) =>
    express().use(express.static(root, options));

const ofSirv =
  (options: Parameters<typeof sirv>[1]): Peer =>
  (root) => {
    const serve = sirv(root, options);
    return (request, response) => serve(request, response, () => void response.writeHead(404).end());
  };

const ofFastify =
  (options: object): Peer =>
  async (root) => {
    const app = fastify();
    app.register(fastifyStatic, { root, ...options });
    onTestFinished(() => app.close());
    await app.ready();
    return app.routing as unknown as RequestListener;
  };

type Middleware = (context: unknown, next: () => Promise<void>) => Promise<void>;
interface KoaApplication {
  use(middleware: Middleware): KoaApplication;
  callback(): RequestListener;
}

// These have no types.
const required = createRequire(import.meta.url);
const Koa: new () => KoaApplication = required("koa");
const koaStatic: (root: string, options: object) => Middleware = required("koa-static");
const serveHandler: (...given: [...Parameters<RequestListener>, object]) => void = required("serve-handler");
const httpServer: { createServer(options: object): { server: Server } } = required("http-server");

const ofKoa =
  (options: object): Peer =>
  (root) =>
    Object.assign(new Koa(), { silent: true }).use(koaStatic(root, options)).callback();

const ofHono =
  (options: object): Peer =>
  (root) =>
    // Else it would replace the Request and Response of the tests that follow in this process.
    getRequestListener(new Hono().use("/*", serveStatic({ root, ...options })).fetch, { overrideGlobalObjects: false });

/** What is in the package `serve`, with what `serve.json` says. */
const ofServe =
  (options: object): Peer =>
  (root) =>
  (request, response) =>
    serveHandler(request, response, { public: root, ...options });

const ofHttpServer =
  (options: object): Peer =>
  (root) => {
    const { server } = httpServer.createServer({ root, ...options });
    return (request, response) => void server.emit("request", request, response);
  };

/** A route of Express, and one of Fastify, that calls the method of their replies that has no option. */
const downloadOfExpress: Peer = (root) =>
  express().get("/*path", (request, response) =>
    response.download(decodeURIComponent(request.path), { root } as never),
  );

const downloadOfFastify: Peer = async (root) => {
  const app = fastify();
  app.register(fastifyStatic, { root, serve: false });
  app.get("/*", (request, reply) => reply.download(decodeURIComponent(request.url)));
  onTestFinished(() => app.close());
  await app.ready();
  return app.routing as unknown as RequestListener;
};

/** What people put before `express.static` to have its replies compressed. */
const compressedExpress: Peer = (root) => express().use(compression(), express.static(root));

/** What of both replies to requests has to be the same, and options of peers and of ours for which it is. */
interface Compared {
  readonly sending?: Sending;
  readonly compared: string;
  readonly options: readonly (readonly [name: string, path: string, peer: Peer, ours: Partial<FileServerConfig>])[];
}

const brotli = { headers: { "accept-encoding": "br" } };
const gzip = { headers: { "accept-encoding": "gzip" } };
const elsewhere = "https://elsewhere.example";
const html = { headers: { accept: "text/html" } };
const isScript = (path: string): boolean => path.endsWith(".js");
const precompressed = { precompressed: true };
const indexes = ["index.html", "default.htm"];
const requests: readonly Compared[] = [
  {
    compared: "status text",
    options: [
      ["extensions (send)", "/about", ofExpress({ extensions: ["html"] }), { extensions: [".html"] }],
      ["extensions (sirv)", "/about", ofSirv({ extensions: ["html"] }), { extensions: [".html"] }],
      ["extensions (@fastify/static)", "/about", ofFastify({ extensions: ["html"] }), { extensions: [".html"] }],
      ["index: a list (@fastify/static)", "/old/", ofFastify({ index: indexes }), { index: indexes }],
      ["index: a list (send)", "/", ofExpress({ index: indexes as never }), { index: indexes }],
      ["extensions (sirv) by default", "/about", ofSirv({}), { extensions: [".html", ".htm"] }],
      ["extensions (koa-static)", "/about", ofKoa({ extensions: ["html"] }), { extensions: [".html"] }],
      ["index (koa-static)", "/old/", ofKoa({ index: "default.htm" }), { index: "default.htm" }],
      ["hidden (koa-static)", "/.hidden", ofKoa({ hidden: true }), { dotfiles: "allow" }],
      ["index (Hono)", "/old/", ofHono({ index: "default.htm" }), { index: "default.htm" }],
      ["dotfiles, which Hono serves", "/.hidden", ofHono({}), { dotfiles: "allow" }],
      ["cleanUrls (serve)", "/about", ofServe({}), { extensions: [".html"] }],
      ["--ext (http-server)", "/about", ofHttpServer({}), { extensions: [".html"] }],
    ],
  },
  {
    sending: brotli,
    compared: "status content-encoding text content-length",
    options: [
      ["brotli (sirv)", "/assets/app.js", ofSirv({ brotli: true }), precompressed],
      ["preCompressed (@fastify/static)", "/assets/app.js", ofFastify({ preCompressed: true }), precompressed],
      ["brotli (koa-static)", "/assets/app.js", ofKoa({ brotli: true }), precompressed],
      ["precompressed (Hono)", "/assets/app.js", ofHono(precompressed), precompressed],
      ["--brotli (http-server)", "/assets/app.js", ofHttpServer({ brotli: true }), precompressed],
    ],
  },
  {
    sending: html,
    compared: "status text",
    options: [
      [
        "a page for what is not found (Express)",
        "/none",
        (root) =>
          express().use(express.static(root), (_request, response) => {
            response.status(404).sendFile("about.html", { root });
          }),
        { plugins: [errorPages({ pages: { 404: "/about.html" } })] },
      ],
      ["single (sirv): a route of the application", "/users/7", ofSirv({ single: true }), { single: true }],
      ["single, of another name (sirv)", "/deep/route/", ofSirv({ single: "about.html" }), { single: "/about.html" }],
      ["single (sirv): a directory without an index file", "/assets/", ofSirv({ single: true }), { single: true }],
      [
        "--single, which are rewrites (serve)",
        "/assets/",
        ofServe({ rewrites: [{ source: "**", destination: "/index.html" }] }),
        { single: true },
      ],
    ],
  },
  {
    sending: html,
    compared: "status",
    options: [
      ["no extensions", "/about", ofExpress({}), { listing: false }],
      ["single (sirv): a file that is missing", "/assets/none.js", ofSirv({ single: true }), { single: true }],
      [
        "single, ignores (sirv)",
        "/api/users",
        ofSirv({ single: "about.html", ignores: ["/api"] }),
        { single: "/about.html", ignores: ["/api/*"] },
      ],
    ],
  },
  {
    compared: "status cache-control text",
    options: [
      ["cacheControl: false (send)", "/assets/app.js", ofExpress({ cacheControl: false }), { cacheControl: false }],
      ["cacheControl (@fastify/static)", "/assets/app.js", ofFastify({ cacheControl: false }), { cacheControl: false }],
    ],
  },
  {
    compared: "status content-disposition text content-length",
    options: [
      ["response.download (Express)", "/assets/plan%20b.txt", downloadOfExpress, { download: true }],
      ["reply.download (@fastify/static)", "/assets/plan%20b.txt", downloadOfFastify, { download: ["/assets/*"] }],
    ],
  },
  {
    sending: { headers: { origin: elsewhere } },
    compared: "status text access-control-allow-origin access-control-allow-credentials",
    options: [
      [
        "cors before it (Express): a reply",
        "/about.html",
        (root) => express().use(cors({ origin: elsewhere, credentials: true }), express.static(root)),
        { plugins: [ourCors({ origins: [elsewhere], credentials: true })] },
      ],
      [
        "cors before it (Express): for a page of another origin",
        "/about.html",
        (root) => express().use(cors({ origin: ["https://other.example"] }), express.static(root)),
        { plugins: [ourCors({ origins: ["https://other.example"] })] },
      ],
    ],
  },
  {
    compared: "status x-script x-path",
    options: [
      [
        "setHeaders (send)",
        "/assets/app.js",
        ofExpress({ setHeaders: (response, path) => void response.setHeader("x-script", String(isScript(path))) }),
        { headers: (path) => ({ "X-Script": String(isScript(path)) }) },
      ],
      [
        "setHeaders (sirv)",
        "/assets/app.js",
        ofSirv({ setHeaders: (response, path) => void response.setHeader("x-path", path) }),
        { headers: (path) => ({ "x-path": path }) },
      ],
    ],
  },
  {
    compared: "status content-disposition text",
    options: [["no download (Express)", "/about.html", ofExpress({}), { download: ["/assets/*"] }]],
  },
  {
    sending: gzip,
    compared: "status content-encoding text content-length",
    options: [["gzip (sirv)", "/assets/app.js", ofSirv({ gzip: true }), precompressed]],
  },
  {
    sending: gzip,
    compared: "status content-encoding vary",
    options: [["compression before it (Express)", "/long.txt", compressedExpress, { compress: true }]],
  },
  {
    sending: brotli,
    compared: "status content-encoding text",
    options: [["compression before it (Express): a short file", "/about.html", compressedExpress, { compress: true }]],
  },
  {
    compared: "status location",
    options: [
      [
        "a redirect (Express)",
        "/old-page",
        (root) =>
          express()
            .get("/old-page", (_request, response) => response.redirect(301, "/about.html"))
            .use(express.static(root)),
        { plugins: [redirects({ rules: { "/old-page": "/about.html" }, status: 301 })] },
      ],
    ],
  },
  {
    compared:
      "status text x-frame-options x-content-type-options referrer-policy cross-origin-opener-policy cross-origin-resource-policy",
    options: [
      [
        "helmet before it (Express)",
        "/about.html",
        (root) => express().use(helmet({ contentSecurityPolicy: false }), express.static(root)),
        {
          plugins: [
            securityHeaders({
              headers: { "referrer-policy": "no-referrer", "cross-origin-resource-policy": "same-origin" },
            }),
          ],
        },
      ],
    ],
  },
];

/** What docs/moving.md says to be another thing there: a peer, what it does, and what we do. */
const differences: readonly [string, Peer, Partial<FileServerConfig>, string, object, object][] = [
  ["a path that cannot be decoded", ofExpress({}), {}, "/%zz", { status: 404 }, { status: 400 }],
  ["an encoded slash", ofExpress({}), {}, "/assets%2Fapp.js", { status: 200 }, { status: 400 }],
  [
    "a variant whose file is not there",
    ofSirv({ brotli: true }),
    { precompressed: true },
    "/assets/only.js",
    { status: 200 },
    { status: 404 },
  ],
  [
    "the type of a script",
    ofExpress({}),
    {},
    "/assets/app.js",
    { "content-type": "text/javascript; charset=utf-8" },
    { "content-type": "application/javascript" },
  ],
  [
    "a status that was set before",
    (root) =>
      express().use((_request, response, next) => next(response.status(404) && undefined), express.static(root)),
    {},
    "/about.html",
    { status: 404 },
    { status: 200 },
  ],
  ["a directory without its slash", ofSirv({}), {}, "/assets", { status: 404 }, { status: 301, location: "/assets/" }],
  ["a slash behind a page", ofSirv({}), { extensions: [".html"] }, "/about/", { status: 200 }, { status: 404 }],
  ["a directory without index file", ofExpress({}), { listing: false }, "/assets/", { status: 404 }, { status: 403 }],
  ["a name with a dot", ofFastify({}), {}, "/.hidden", { status: 200 }, { status: 404 }],
  ["an extension that could be left out", ofServe({}), {}, "/about.html", { status: 301 }, { status: 200 }],
];

describe("an option of a static server", () => {
  const rows = requests.flatMap(({ options, ...request }) => options.map((option) => [...option, request] as const));

  it.each(rows)("does what it does elsewhere: %s", async (_option, path, peer, ours, { sending, compared }) => {
    const root = await siteDirectory();
    const ask = async (handler: RequestListener) => {
      const url = `http://127.0.0.1:${await listen(createServer(handler))}`;
      const { status, text, headers } = await send(url, "GET", path, sending);
      const all: Record<string, unknown> = { status, text, ...headers, vary: headers["vary"]?.toLowerCase() };
      return Object.fromEntries(compared.split(" ").map((name) => [name, all[name]]));
    };
    expect(await ask(filesOf({ ...ours, root }))).toEqual(await ask(await peer(root)));
  });

  it.each(differences)("does something else, as told: %s", async (_what, peer, ours, path, theirs, own) => {
    const root = await siteDirectory();
    const ask = async (handler: RequestListener) => {
      const url = `http://127.0.0.1:${await listen(createServer(handler))}`;
      const { status, headers } = await send(url, "GET", path, { headers: { accept: "text/html", ...brotli.headers } });
      return { status, ...headers };
    };
    expect(await ask(await peer(root))).toMatchObject(theirs);
    expect(await ask(filesOf({ root, ...ours }))).toMatchObject(own);
  });

  it.each<[object, string]>([
    [{ setHeaders: () => {} }, '"setHeaders" (here "headers")'],
    [{ brotli: true, gzip: true }, '"brotli" (here "precompressed"), "gzip" (here "precompressed", or "compress")'],
    [{ maxAge: 86_400_000 }, '"maxAge" (here "cacheControl": "max-age=60", in seconds)'],
    [{ dev: true }, '"dev" (always so: leave it out)'],
    [{ preCompressed: true }, '"preCompressed" (did you mean "precompressed"?)'],
    [{ constructor: true }, '"constructor"'],
  ])("that is called otherwise here stops the start, which says how: %o", (options, message) => {
    expect(() => createFileServer({ root: ".", ...options })).toThrow(message);
    expect(() => fileHandler(options)).toThrow(message);
  });

  /** Peers put `public` before it, which would let shared caches store what a user was sent. */
  it.each<[string, Peer, Partial<FileServerConfig>]>([
    ["maxAge (send)", ofExpress({ maxAge: 60_000 }), { cacheControl: "max-age=60" }],
    ["immutable (send)", ofExpress({ maxAge: 60_000, immutable: true }), { cacheControl: "max-age=60, immutable" }],
    ["maxAge, immutable (sirv)", ofSirv({ maxAge: 60, immutable: true }), { cacheControl: "max-age=60, immutable" }],
    ["maxAge (@fastify/static)", ofFastify({ maxAge: 60_000 }), { cacheControl: "max-age=60" }],
    ["maxage (koa-static)", ofKoa({ maxage: 60_000 }), { cacheControl: "max-age=60" }],
    ["-c (http-server)", ofHttpServer({ cache: 60 }), { cacheControl: "max-age=60" }],
  ])("does what it does elsewhere, but for `public`: %s", async (_option, peer, ours) => {
    const root = await siteDirectory();
    const cacheOf = async (handler: RequestListener) => {
      const url = `http://127.0.0.1:${await listen(createServer(handler))}`;
      const { headers } = await send(url, "GET", "/assets/app.js");
      return headers["cache-control"]?.split(/,\s*/).filter((directive) => directive !== "public");
    };
    expect(await cacheOf(filesOf({ root, ...ours }))).toEqual(await cacheOf(await peer(root)));
  });
});

describe("cacheControl", () => {
  const immutable = "max-age=31536000, immutable";

  async function cacheOf(files: FileServer, path: string): Promise<string | null> {
    return (await files.fetch(path)).headers.get("cache-control");
  }

  it("is one value, values by path pattern, or what a function says", async () => {
    const root = await siteDirectory();
    const one = filesOf({ root, cacheControl: "no-store" });
    expect(await cacheOf(one, "/about.html")).toBe("no-store");
    const byPattern = filesOf({ root, cacheControl: { "/assets/*": immutable, "/assets/*.html": "no-store" } });
    expect(await cacheOf(byPattern, "/assets/app.js")).toBe(immutable);
    expect(await cacheOf(byPattern, "/about.html")).toBe("no-cache");
    const seen: unknown[] = [];
    const asked = filesOf({
      root,
      cacheControl: (path, { size, modified }) => {
        seen.push(path, size, modified instanceof Date);
        return isScript(path) ? immutable : undefined;
      },
    });
    expect(await cacheOf(asked, "/assets/app.js")).toBe(immutable);
    expect(await cacheOf(asked, "/about.html")).toBe("no-cache");
    expect(seen).toEqual(["/assets/app.js", 5, true, "/about.html", 14, true]);
  });

  it("is on a 304, too, as are the header fields of one's own", async () => {
    const root = await siteDirectory();
    const files = filesOf({ root, cacheControl: "max-age=60", headers: () => ({ "x-own": "1" }) });
    const { headers } = await files.fetch("/about.html");
    const again = await files.fetch(
      new Request("http://localhost/about.html", { headers: { "if-none-match": headers.get("etag") ?? "" } }),
    );
    expect([again.status, again.headers.get("cache-control"), again.headers.get("x-own")]).toEqual([
      304,
      "max-age=60",
      "1",
    ]);
  });

  it("can be another one for a part of a host", async () => {
    const root = await siteDirectory();
    const plugins = [directory({ directory: "/assets", plugins: [fileHandler({ cacheControl: "max-age=60" })] })];
    const files = filesOf({ root, plugins });
    expect(await cacheOf(files, "/assets/app.js")).toBe("max-age=60");
    expect(await cacheOf(files, "/about.html")).toBe("no-cache");
  });
});

describe("download", () => {
  const saved = async (files: FileServer, path: string, init: RequestInit = {}): Promise<string | null> =>
    (await files.fetch(new Request(`http://localhost${path}`, init))).headers.get("content-disposition");

  it("is for all files, for those of path patterns, or for those that a function names", async () => {
    const root = await siteDirectory();
    await writeFile(join(root, "naïve.txt"), "x");
    const name = "attachment; filename=\"na_ve.txt\"; filename*=UTF-8''na%C3%AFve.txt";
    expect(await saved(filesOf({ root, download: true }), "/na%C3%AFve.txt")).toBe(name);
    const byPattern = filesOf({ root, download: ["/assets/*"] });
    expect(await saved(byPattern, "/assets/app.js")).toBe('attachment; filename="app.js"');
    expect(await saved(byPattern, "/about.html")).toBeNull();
    const asked = filesOf({ root, download: (path, { size }) => (size === 5 ? path === "/assets/app.js" : "Old.htm") });
    expect(await saved(asked, "/assets/app.js")).toBe('attachment; filename="app.js"');
    expect(await saved(asked, "/old/default.htm")).toBe('attachment; filename="Old.htm"');
  });

  it("is said of parts, and to HEAD, but of no elements and no listing", async () => {
    const files = filesOf({ root: await siteDirectory(), download: true });
    const name = 'attachment; filename="about.html"';
    expect(await saved(files, "/about.html", { method: "HEAD" })).toBe(name);
    expect(await saved(files, "/about.html", { headers: { range: "bytes=0-3" } })).toBe(name);
    expect(await saved(files, "/about.html", { headers: { range: "selector=h1" } })).toBeNull();
    expect(await saved(files, "/assets/")).toBeNull();
  });
});

describe("what stands in for a file", () => {
  it("is no page for who wants JSON, and caches are told so", async () => {
    const files = filesOf({ root: await siteDirectory(), single: true });
    const page = await files.fetch("/users/7");
    expect([page.status, page.headers.get("vary")]).toEqual([200, expect.stringContaining("accept")]);
    const headers = { accept: "application/json" };
    expect((await files.fetch(new Request("http://localhost/users/7", { headers }))).status).toBe(404);
  });

  it("is not sent to who may not read it", async () => {
    const guard = {
      name: "guard",
      handle: (exchange: { access: object }, next: () => Promise<never>) => {
        const { access } = exchange as { access: { refusal(): Error } };
        exchange.access = { ...access, permitsPath: (_right: string, path: string) => path !== "/about.html" };
        return next();
      },
    };
    const files = filesOf({ root: await siteDirectory(), extensions: [".html"], plugins: [guard as never] });
    expect((await files.fetch("/about")).status).toBe(403);
  });
});

describe("dav", () => {
  /** What TiddlyWiki 5's PUT saver sends, one request after the other. */
  async function savesAsTiddlyWiki(files: FileServer, page: string, etag?: string): Promise<number | "not offered"> {
    const ask = (method: string, headers: Record<string, string> = {}, body?: string) =>
      files.fetch(new Request("http://localhost/wiki.html", { method, headers, ...(body !== undefined && { body }) }));
    const offered = await ask("OPTIONS");
    if (offered.status !== 200 || !offered.headers.get("dav")) return "not offered";
    const accept = { accept: "*/*;charset=UTF-8" };
    const current = etag ?? (await ask("HEAD", accept)).headers.get("etag") ?? "";
    const type = { "content-type": "text/html;charset=UTF-8", "if-match": current };
    return (await ask("PUT", type, page)).status;
  }

  async function wiki(config: Partial<FileServerConfig>): Promise<FileServer> {
    const root = await temporaryDirectory({ "wiki.html": "<!doctype html><title>Wiki</title>" });
    return filesOf({ root, ...config });
  }

  it("is what TiddlyWiki's saver looks for: it saves, and sees a conflict", async () => {
    const files = await wiki({ dav: "1" });
    const first = (await files.fetch("/wiki.html")).headers.get("etag") ?? "";
    expect(await savesAsTiddlyWiki(files, "<!doctype html><p>mine")).toBe(200);
    expect(await savesAsTiddlyWiki(files, "<!doctype html><p>late", first)).toBe(412);
    expect(await (await files.fetch("/wiki.html")).text()).toBe("<!doctype html><p>mine");
  });

  it("is said of OPTIONS only, and nowhere by default", async () => {
    expect((await (await wiki({ dav: "1" })).fetch("/wiki.html")).headers.has("dav")).toBe(false);
    expect(await savesAsTiddlyWiki(await wiki({}), "<p>mine")).toBe("not offered");
  });
});
