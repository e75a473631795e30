import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { brotliCompressSync } from "node:zlib";
import { hash } from "@node-rs/bcrypt";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { guard } from "../../src/plugins/guard.ts";
import { redirects } from "../../src/plugins/redirects.ts";
import { type Sending, send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { unusedPort } from "../helpers/unused-port.mjs";

/** Runs Caddy with the directives of one site; the URL of that. */
async function startCaddy(directives: string): Promise<string> {
  const directory = await temporaryDirectory();
  const address = `http://127.0.0.1:${await unusedPort()}`;
  const config = join(directory, "Caddyfile");
  const global = "{\n\tadmin off\n\tauto_https off\n}";
  await writeFile(config, `${global}\n${address} {\n${directives}\n}\n`);
  const child = spawn("caddy", ["run", "--config", config, "--adapter", "caddyfile"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const printed: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    printed.push(line);
    if (!line.includes("serving initial configuration")) continue;
    child.stderr.resume();
    return address;
  }
  throw new Error(`caddy has ended: ${printed.join("\n")}`);
}

/** The directives that docs/deploying.md shows, with another address behind them. */
function documented(at: 0 | 1, backend: string): string {
  const deploying = readFileSync(join(projectRoot, "docs/deploying.md"), "utf8");
  const blocks = [...deploying.matchAll(/^```text\nwww\.example \{\n([\s\S]*?)^\}\n```$/gm)];
  const directives = blocks[at]?.[1];
  if (!directives?.includes("127.0.0.1:3000")) throw new Error("docs/deploying.md no longer has it");
  return directives.replace("127.0.0.1:3000", new URL(backend).host);
}

async function siteDirectory(): Promise<string> {
  const root = await temporaryDirectory({
    "index.html": "<h1>App</h1>",
    "about.html": "<h1>About</h1>",
    "assets/app.js": "app()",
    "assets/app.js.br": brotliCompressSync("app()"),
    "long.txt": "line\n".repeat(1000),
  });
  return root;
}

const page = { accept: "text/html" };
const password = await hash("engine", 4);
const signedIn = { authorization: `Basic ${btoa("ada:engine")}` };
const basicauth = `basicauth {\n\t\tada ${password}\n\t}\n\tfile_server`;
const users = { plugins: [basicAuth({ users: [{ username: "ada", password }] })] };
const notFound = () => new HttpError(404, "NOT_FOUND", "There is no such file or directory.");
const hidden = { plugins: [guard({ covers: ["/assets", "/assets/*"], refusal: notFound })] };

/** What docs/moving.md says of Caddy: a path, directives, our options, and what is the same then. */
const rows: readonly [what: string, path: string, directives: string, FileServerConfig, same: string, Sending?][] = [
  ["files", "/u/7", "try_files {path} /index.html\n\tfile_server", { single: true }, "status text", { headers: page }],
  ["browse", "/assets/", "file_server browse", {}, "status content-type", { headers: page }],
  [
    "redir",
    "/old",
    "redir /old /about.html 301\n\tfile_server",
    { plugins: [redirects({ rules: { "/old": "/about.html" }, status: 301 })] },
    "status location",
  ],
  ["header", "/about.html", "header X-A doc\n\tfile_server", { headers: () => ({ "x-a": "doc" }) }, "status x-a text"],
  [
    "precompressed",
    "/assets/app.js",
    "file_server {\n\t\tprecompressed br gzip\n\t}",
    { precompressed: true },
    "status content-encoding text content-length",
    { headers: { "accept-encoding": "br" } },
  ],
  [
    "encode",
    "/long.txt",
    "encode gzip\n\tfile_server",
    { compress: true },
    "status content-encoding",
    { headers: { "accept-encoding": "gzip" } },
  ],
  ["basic_auth, without a password", "/about.html", basicauth, users, "status"],
  ["basic_auth, signed in", "/about.html", basicauth, users, "status text", { headers: signedIn }],
  ["hide", "/assets/app.js", "file_server {\n\t\thide assets\n\t}", hidden, "status"],
  ["hide, beside what is hidden", "/about.html", "file_server {\n\t\thide assets\n\t}", hidden, "status text"],
];

describe("Caddy", { tags: ["caddy"] }, () => {
  it.each(rows)("does what docs/moving.md says: %s", async (_what, path, directives, ours, same, sending) => {
    const root = await siteDirectory();
    const answerOf = async (url: string): Promise<object> => {
      const { status, text, headers } = await send(url, "GET", path, sending);
      const all: Record<string, unknown> = { status, text, ...headers };
      return Object.fromEntries(same.split(" ").map((name) => [name, all[name]]));
    };
    const { url } = await serve({ root, ...ours });
    expect(await answerOf(url)).toEqual(await answerOf(await startCaddy(`\troot * ${root}\n\t${directives}`)));
  });

  it("does not list by itself, where we do unless told otherwise", async () => {
    const root = await siteDirectory();
    const theirs = await startCaddy(`\troot * ${root}\n\tfile_server`);
    const { url } = await serve({ root, listing: false });
    const [there, here] = await Promise.all([theirs, url].map((each) => send(each, "GET", "/assets/")));
    expect([there?.status, here?.status]).toEqual([404, 403]);
  });

  it("passes on selectors and tags as documented", async () => {
    const root = await siteDirectory();
    const { url } = await serve({ root });
    const front = await startCaddy(documented(0, url));
    const range = { range: "selector=h1" };
    const { status, text, headers } = await send(front, "GET", "/about.html", { headers: range });
    expect([status, text]).toEqual([206, "<h1>About</h1>"]);
    const condition = { ...range, "if-match": String(headers["etag"]) };
    const put = { headers: condition, body: "<h1>Us</h1>" };
    expect((await send(front, "PUT", "/about.html", put)).status).toBe(206);
    expect((await send(front, "PUT", "/about.html", put)).status).toBe(412);
    expect(await readFile(join(root, "about.html"), "utf8")).toBe("<h1>Us</h1>");
  });

  it("serves a part of a site as documented, whose redirects stay in it", async () => {
    const { url } = await serve({ root: await siteDirectory() });
    const front = await startCaddy(documented(1, url));
    expect((await send(front, "GET", "/docs/about.html")).text).toBe("<h1>About</h1>");
    const { status, headers } = await send(front, "GET", "/docs/assets");
    expect([status, headers["location"]]).toEqual([301, "/docs/assets/"]);
  });
});
