import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { healthCheck } from "../../src/plugins/health-check.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { makeCertificate } from "../helpers/certificate.ts";
import { configPage } from "../helpers/config-page.ts";
import { startFilement } from "../helpers/filement-command.ts";
import { serve } from "../helpers/serve.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { isListening, unusedPort } from "../helpers/unused-port.mjs";

/** The two configurations that the documentation shows: of a server, and of a part of a site. */
const [documented = "", documentedPart = ""] = [
  ...readFileSync(join(projectRoot, "docs/deploying.md"), "utf8").matchAll(/^```nginx\n([\s\S]*?)^```$/gm),
].map(([, block = ""]) => block);

const page = "<!doctype html><html><head><title>T</title></head><body><ul><li>One</li><li>Two</li></ul></body></html>";

interface Asking {
  readonly method?: string;
  /** Which address of the loopback network the client has. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isSecure?: boolean;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Behind {
  readonly root: string;
  /** Ports of the documented server, and of one that loses Range or does as nginx does by itself. */
  readonly port: number;
  ask(target: string, asking?: Asking): Promise<Answer>;
  askCareless(target: string, asking?: Asking): Promise<Answer>;
}

/** Two servers with nginx in front: one as documented, and one as somebody writes it who has not read that. */
async function behindNginx(config: FileServerConfig = {}, origin?: string): Promise<Behind> {
  const directory = await temporaryDirectory();
  const root = join(directory, "www");
  await mkdir(join(root, "sub"), { recursive: true });
  await writeFile(join(root, "page.html"), page);
  const { url = origin ?? "" } = origin ? {} : await serve({ root, trustProxy: "loopback", ...config });
  const ports = [await unusedPort(), await unusedPort(), await unusedPort()] as const;
  const [port, carelessPort, securePort] = ports;
  const { cert, key } = await makeCertificate(directory, "www.example");
  const server = replaceEach(documented, {
    "127.0.0.1:3000": new URL(url).host,
    "listen 80;": `listen 127.0.0.1:${port};`,
    "/var/cache/nginx": directory,
    "listen 443 ssl;": `listen 127.0.0.1:${securePort} ssl;`,
    "/etc/ssl/www.example.crt": cert,
    "/etc/ssl/www.example.key": key,
  });
  const careless = `
    proxy_cache_path ${directory}/careless keys_zone=careless:1m;
    server {
        listen 127.0.0.1:${carelessPort};
        proxy_set_header Host $http_host;
        location / { proxy_pass http://filement; proxy_set_header Range ""; }
        location /cached/ { proxy_pass http://filement/; proxy_cache careless; proxy_cache_valid 200 1m; }
    }`;
  await startNginx(directory, `${server.replace(/\}\s*$/, `${documentedPart}}`)}\n${careless}`, ports);
  return {
    root,
    port,
    ask: (target, asking = {}) => ask(asking.isSecure ? securePort : port, target, asking),
    askCareless: (target, asking = {}) => ask(carelessPort, target, asking),
  };
}

/** Starts nginx, and resolves when it listens on all of its ports: it opens them one after another. */
async function startNginx(directory: string, http: string, ports: readonly number[]): Promise<void> {
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${directory}/${kind};`,
  );
  const main = `daemon off; master_process off; pid ${directory}/pid; events { worker_connections 64; }
    http { access_log off; ${places.join(" ")}\n${http}\n}`;
  await writeFile(join(directory, "nginx.conf"), main);
  const args = ["-p", directory, "-c", join(directory, "nginx.conf"), "-e", "stderr"];
  const child = spawn("nginx", args, { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  for (const port of ports) {
    while (!(await isListening(port))) if (child.exitCode !== null) throw new Error(`nginx has ended: ${errors}`);
  }
}

/** Replaces what has to be there: a page that says something else would test something else. */
function replaceEach(source: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`docs/deploying.md no longer has ${from}`);
    return before.replaceAll(from, to);
  }, source);
}

async function ask(
  port: number,
  target: string,
  { method = "GET", from = "127.0.0.1", ...asking }: Asking,
): Promise<Answer> {
  const { headers = {}, body, isSecure = false } = asking;
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const options = { host: "127.0.0.1", port, method, path: target, localAddress: from, agent: false as const };
  const request = (isSecure ? requestHttps : requestHttp)({
    ...options,
    headers: { ...length, ...headers },
    rejectUnauthorized: false,
  });
  const [incoming] = (await once(request.end(body), "response")) as [IncomingMessage];
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text: await text(incoming) };
}

/** Tells who the client is as far as the server knows. */
const whoami: Plugin = {
  name: "whoami",
  handle: ({ path, address, protocol, host }, next) =>
    path === "/whoami" ? { status: 200, headers: {}, body: `${address} ${protocol} ${host}` } : next(),
};

/** Counts what gets through to the server. */
function counting(): { plugin: Plugin; seen: string[] } {
  const seen: string[] = [];
  const observe: Plugin["observe"] = ({ method, path, headers }, { status }) => {
    seen.push(`${method} ${path} ${status}${headers["if-none-match"] ? " validated" : ""}`);
  };
  return { plugin: { name: "counting", observe }, seen };
}

describe("a server behind nginx as documented", { tags: ["nginx", "openssl"] }, () => {
  it("answers element reads with the elements, also when the whole page is in the cache", async () => {
    const { ask } = await behindNginx();
    const range = { range: "selector=li" };
    for (const _round of [1, 2]) {
      expect(await ask("/page.html")).toMatchObject({ status: 200, text: page });
      const elements = await ask("/page.html", { headers: range });
      expect([elements.status, elements.text]).toEqual([206, "<li>One</li><li>Two</li>"]);
      expect(elements.headers["content-range"]).toBe("selector li");
    }
    const other = await ask("/page.html", { headers: { range: "selector=title" } });
    expect(other.text).toBe("<title>T</title>");
  });

  it("changes the elements that are meant and nothing else, by every method", async () => {
    const { ask, root } = await behindNginx();
    const edit = async (method: string, selector: string, body?: string): Promise<number> => {
      const asking = { method, headers: { range: `selector=${selector}` }, ...(body && { body }) };
      return (await ask("/page.html", asking)).status;
    };
    expect(await edit("PUT", "title", "<title>New</title>")).toBe(206);
    expect(await edit("POST", "ul", "<li>Three</li>")).toBe(206);
    expect(await edit("DELETE", "li:first-child")).toBe(204);
    const expected = page
      .replace("T</title>", "New</title>")
      .replace("<li>One</li>", "")
      .replace("</ul>", "<li>Three</li></ul>");
    expect(await readFile(join(root, "page.html"), "utf8")).toBe(expected);
  });

  it("keeps the conditions of a write: nobody overwrites what he has not seen", async () => {
    const { ask, root } = await behindNginx();
    const { headers } = await ask("/page.html");
    const put = (etag: string): Promise<Answer> =>
      ask("/page.html", { method: "PUT", headers: { "if-match": etag }, body: `${page}\n` });
    expect((await put(headers.etag ?? "")).status).toBe(200);
    expect((await put(headers.etag ?? "")).status).toBe(412);
    expect(await readFile(join(root, "page.html"), "utf8")).toBe(`${page}\n`);
  });

  it("caches whole files for a moment, and then asks whether they are still right", async () => {
    const { plugin, seen } = counting();
    const { ask } = await behindNginx({ plugins: [plugin] });
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask("/page.html")));
    expect(replies.every(({ text: content }) => content === page)).toBe(true);
    expect(seen.length).toBeLessThan(replies.length);
    const askAgain = async (): Promise<string[]> => {
      await ask("/page.html");
      return seen;
    };
    await expect.poll(askAgain).not.toHaveLength(1); // until the second is over
    expect(seen.slice(0, 2)).toEqual(["GET /page.html 200", "GET /page.html 304 validated"]);
  });

  it("shows a change to whoever asks for it at once, and to everybody after a moment", async () => {
    const { ask } = await behindNginx();
    await ask("/page.html");
    const changed = page.replace("One", "1");
    await ask("/page.html", { method: "PUT", body: changed });
    expect((await ask("/page.html", { headers: { "cache-control": "no-cache" } })).text).toBe(changed);
    expect((await ask("/page.html")).text).toBe(changed); // which has renewed what is in the cache
    await ask("/page.html", { method: "PUT", body: page });
    await expect.poll(async () => (await ask("/page.html")).text).toBe(page);
  });

  it("caches nothing of a user, of another host, or that may not be stored", async () => {
    const { plugin, seen } = counting();
    const users = [{ username: "ada", password: "secret", encryption: "plaintext" as const }];
    const rules = [{ username: "*", path: "/*", rights: ["read" as const], permission: "allow" as const }];
    const auth = basicAuth({ users, rules });
    const { ask } = await behindNginx({ plugins: [plugin, healthCheck(), auth] });
    const headers = { authorization: `Basic ${Buffer.from("ada:secret").toString("base64")}` };
    for (const _round of [1, 2]) {
      await ask("/page.html", { headers });
      await ask("/health");
    }
    expect(seen).toEqual(["GET /page.html 200", "GET /health 200", "GET /page.html 200", "GET /health 200"]);
    const hosts = ["a.example", "b.example"];
    for (const host of hosts) await ask("/page.html", { headers: { host } });
    expect(seen.length).toBe(6);
  });

  it("knows the client's address, whatever the client says", async () => {
    const { ask } = await behindNginx({ plugins: [whoami] });
    const headers = {
      "x-forwarded-for": "203.0.113.7",
      forwarded: "for=203.0.113.7;proto=https",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "evil.example",
      "x-real-ip": "203.0.113.7",
      range: "bytes=0-0", // not from the cache
    };
    expect((await ask("/whoami", { from: "127.0.0.2", headers })).text).toBe("127.0.0.2 http 127.0.0.1");
    expect((await ask("/whoami", { from: "127.0.0.3", headers })).text).toBe("127.0.0.3 http 127.0.0.1");
  });

  it("leads to the place that the client asked, from directories and for created files", async () => {
    const { ask } = await behindNginx();
    expect((await ask("/sub?q=1")).headers.location).toBe("/sub/?q=1");
    const created = await ask("/sub/", { method: "POST", headers: { "x-filename": "a b.txt" }, body: "a" });
    expect([created.status, created.headers.location]).toEqual([201, "/sub/a%20b.txt"]);
    expect((await ask(created.headers.location ?? "")).text).toBe("a");
  });

  it("leads there with the prefix of a part of a site, too", async () => {
    const { ask, root } = await behindNginx();
    expect((await ask("/docs/sub?q=1")).headers.location).toBe("/docs/sub/?q=1");
    const created = await ask("/docs/new/b.txt", { method: "PUT", body: "b" });
    expect([created.status, created.headers.location]).toEqual([201, "/docs/new/b.txt"]);
    expect(await readFile(join(root, "new/b.txt"), "utf8")).toBe("b");
    expect((await ask("/docs/page.html", { headers: { range: "selector=title" } })).text).toBe("<title>T</title>");
  });

  it("takes a file that is as large as the server takes", async () => {
    const { ask } = await behindNginx();
    const body = "x".repeat(3 * 1024 * 1024);
    expect((await ask("/large.txt", { method: "PUT", body })).status).toBe(201);
    expect((await ask("/large.txt")).text.length).toBe(body.length);
  });

  it("knows whether TLS was used: a page of http:// is another site then", async () => {
    const { ask } = await behindNginx({ plugins: [whoami] });
    const put = async (isSecure: boolean, protocol: string): Promise<number> => {
      const headers = { host: "www.example:8443", origin: `${protocol}://www.example:8443` };
      return (await ask("/own.txt", { method: "PUT", body: "x", headers, isSecure })).status;
    };
    expect([await put(true, "https"), await put(true, "http"), await put(false, "http")]).toEqual([201, 403, 200]);
    expect((await ask("/whoami", { isSecure: true })).text).toBe("127.0.0.1 https 127.0.0.1");
  });

  it("does all that with the command and its page", async () => {
    const directory = await temporaryDirectory({ "page.html": page });
    const config = join(directory, "config.html");
    await writeFile(config, configPage(".", { server: { trustProxy: "loopback" } }));
    const { url, printed, kill, ended } = await startFilement([config, "-v"]);
    const { ask } = await behindNginx({}, url);
    const elements = await ask("/page.html", { from: "127.0.0.2", headers: { range: "selector=title" } });
    expect([elements.status, elements.text]).toEqual([206, "<title>T</title>"]);
    kill("SIGTERM");
    await ended;
    expect(printed.stderr).toContain('"address":"127.0.0.2"');
  });
});

describe("a server behind nginx that loses Range", { tags: ["nginx", "openssl"] }, () => {
  const edit = (headers: Readonly<Record<string, string>> = {}): Asking => ({
    method: "PUT",
    headers: { range: "selector=title", ...headers },
    body: "<title>New</title>",
  });
  const codeOf = ({ status, text: answer }: Answer): unknown[] => [status, JSON.parse(answer).code];

  it.each(["PUT", "POST", "DELETE", "GET"])(
    "refuses %s of elements when the client has said that it is one",
    async (method) => {
      const { askCareless, root } = await behindNginx();
      const { body = "", ...asking } = edit({ "x-range-unit": "selector" });
      const answer = await askCareless("/page.html", { ...asking, method, ...(method !== "GET" && { body }) });
      expect(codeOf(answer)).toEqual([400, "RANGE_LOST"]);
      expect(await readFile(join(root, "page.html"), "utf8")).toBe(page);
    },
  );

  it("refuses a fragment in place of a page with refuseFragments, whoever sends it", async () => {
    const { askCareless, root } = await behindNginx({ refuseFragments: true });
    expect(codeOf(await askCareless("/page.html", edit()))).toEqual([409, "FRAGMENT_REFUSED"]);
    expect(await readFile(join(root, "page.html"), "utf8")).toBe(page);
  });

  it("cannot know it otherwise: the whole file is overwritten", async () => {
    const { askCareless, root } = await behindNginx();
    expect((await askCareless("/page.html", edit())).status).toBe(200);
    expect(await readFile(join(root, "page.html"), "utf8")).toBe("<title>New</title>");
  });

  it("loses it for reads that nginx may cache, as it does by itself; writes keep theirs", async () => {
    const { askCareless } = await behindNginx();
    const range = { range: "selector=title" };
    expect(await askCareless("/cached/page.html", { headers: range })).toMatchObject({ status: 200, text: page });
    const told = { ...range, "x-range-unit": "selector" };
    expect(codeOf(await askCareless("/cached/page.html?2", { headers: told }))).toEqual([400, "RANGE_LOST"]);
    expect((await askCareless("/cached/page.html", edit())).status).toBe(206);
  });
});
