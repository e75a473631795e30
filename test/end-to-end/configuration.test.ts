import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundledNames, readLibrary } from "../../src/config-page/bundled-plugins.ts";
import { loadConfig } from "../../src/config-page/load-config.ts";
import { allItems, readMicrodataPage } from "../../src/html/microdata.ts";
import { stepClock } from "../helpers/counted-work.ts";
import { connectLive, refusedLive } from "../helpers/live-client.ts";
import { type Answer, type Sending, send } from "../helpers/send.ts";
import { type Served, serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const files: Readonly<Record<string, string>> = {
  "www/home.html": "<h1>Home</h1>",
  "www/notes.md": "# Notes",
  "www/api/a.json": "{}",
  "www/one/a.txt": "one",
  "www/two/a.txt": "two",
  "members/page.html": "<p>Members</p><p>Only</p>",
  "former/archive/1999.txt": "old",
  "default/index.html": "<h1>Somewhere</h1>",
};

const basic = (name: string, password = "secret"): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;

describe("the page of this suite", () => {
  it("has every plugin that comes with Filement", async () => {
    const html = await readFile(join(import.meta.dirname, "configuration/config.html"), "utf8");
    const items = allItems((await readMicrodataPage(html)).items);
    const libraries = items.flatMap((item) => item.properties.get("library") ?? []);
    const names = libraries.map(({ value }) => readLibrary(String(value), "/"));
    expect(names).toEqual(expect.arrayContaining(bundledNames.map((name) => ({ kind: "bundled", name }))));
  });
});

describe("a configuration from a page", () => {
  /** Serves the configuration and its files; a request names its host. */
  async function start(): Promise<
    Served & { place: string; ask: (host: string, method: string, path: string, more?: Sending) => Promise<Answer> }
  > {
    const place = await temporaryDirectory(files);
    await cp(join(import.meta.dirname, "configuration/config.html"), join(place, "config.html"));
    await cp(join(import.meta.dirname, "configuration/users.html"), join(place, "members/users.html"));
    const served = await serve(await loadConfig(join(place, "config.html")));
    return {
      ...served,
      place,
      ask: (host, method, path, { headers, body } = {}) =>
        send(served.url, method, path, { headers: { host, ...headers }, body }),
    };
  }

  it("answers for each host by all of its names, and for any other name by *", async () => {
    const { ask } = await start();
    const texts: string[] = [];
    for (const host of ["www.example", "EXAMPLE:8080", "nobody.example", "localhost"]) {
      texts.push((await ask(host, "GET", "/")).text);
    }
    expect(texts).toEqual(["<h1>Home</h1>", "<h1>Home</h1>", "<h1>Somewhere</h1>", "<h1>Somewhere</h1>"]);
  });

  it("has the options of each host there, and those of the server everywhere", async () => {
    const { ask } = await start();
    const notes = await ask("example", "GET", "/notes.md");
    expect([notes.headers["content-type"], notes.headers["server"]]).toEqual([
      "text/markdown; charset=utf-8",
      "Example Server",
    ]);
    const elsewhere = await ask("parts.example", "GET", "/notes.md");
    expect([elsewhere.headers["content-type"], elsewhere.headers["server"]]).toEqual([
      "text/markdown; charset=utf-8",
      undefined,
    ]);
    expect((await ask("www.example", "PUT", "/large.txt", { body: "x".repeat(1001) })).status).toBe(413);
    expect((await ask("nobody.example", "PUT", "/large.txt", { body: "x".repeat(1001) })).status).toBe(413);
    const headers = { origin: "https://admin.example", "sec-fetch-site": "cross-site" };
    expect((await ask("www.example", "PUT", "/a.txt", { body: "a", headers })).status).toBe(201);
    expect((await ask("parts.example", "PUT", "/b.txt", { body: "b", headers })).status).toBe(403);
  });

  it("tells of changes where it was told to, and to no more pages than that", async () => {
    const { ask, url } = await start();
    const { inbox } = await connectLive(url, "/live", { headers: { host: "www.example" } });
    expect(await inbox.next()).toMatchObject({ type: "hello" });
    await ask("www.example", "PUT", "/new.txt", { body: "new" });
    expect(await inbox.next()).toMatchObject({ type: "change", kind: "created", path: "/new.txt" });
    const from = (origin: string) => refusedLive(url, "/live", { headers: { host: "www.example", origin } });
    expect((await from("https://live.example")).status).toBe(403);
    expect((await ask("www.example", "GET", "/ws")).status).toBe(404);
    expect((await ask("www.example", "GET", "/agents")).status).not.toBe(404);
    expect((await ask("www.example", "GET", "/mcp")).status).toBe(404);
    const events = await ask("www.example", "HEAD", "/changes");
    expect([events.status, events.headers["content-type"]]).toEqual([200, "text/event-stream"]);
  });

  it("keeps what files were, but for those that it is told to leave out", async () => {
    const { ask } = await start();
    await ask("www.example", "PUT", "/new.txt", { body: "new" });
    await ask("www.example", "PUT", "/secret.txt", { body: "secret" });
    await expect.poll(async () => (await ask("www.example", "GET", "/versions/new.txt")).status).toBe(200);
    expect((await ask("www.example", "GET", "/versions/secret.txt")).status).toBe(404);
  });

  it("hides the users file", async () => {
    const { ask } = await start();
    const headers = { authorization: basic("ada") };
    expect((await ask("members.example", "GET", "/users.html", { headers })).status).toBe(404);
    expect((await ask("members.example", "GET", "/", { headers })).text).not.toContain("users.html");
  });

  it("limits by user behind the authentication", async () => {
    const { ask } = await start();
    const statuses: number[] = [];
    for (const name of ["ada", "ada", "ada", "bob", "bob", "bob"]) {
      statuses.push((await ask("members.example", "GET", "/", { headers: { authorization: basic(name) } })).status);
    }
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429]);
  });

  it("gives a directory a root and options of its own", async () => {
    const { ask } = await start();
    const old = await ask("parts.example", "GET", "/archive/1999.txt");
    expect([old.status, old.text, old.headers["content-type"]]).toEqual([200, "old", "text/x-old"]);
    expect((await ask("parts.example", "GET", "/archive/")).status).toBe(403);
    expect((await ask("parts.example", "GET", "/1999.txt")).status).toBe(404);
    expect((await ask("parts.example", "GET", "/")).status).toBe(200);
  });

  it("sends clients on, shows them its own error page, and says what browsers are to know", async () => {
    const { ask } = await start();
    const moved = await ask("parts.example", "GET", "/blog/a?b");
    expect([moved.status, moved.headers.location]).toEqual([302, "/notes/a?b"]);
    const missing = await ask("parts.example", "GET", "/none", { headers: { accept: "text/html" } });
    expect(missing).toMatchObject({
      status: 404,
      text: "<h1>Home</h1>",
      headers: { "content-security-policy": "default-src 'self'", "x-frame-options": "DENY" },
    });
    expect(missing.headers).not.toHaveProperty("referrer-policy");
    const headers = { origin: "https://reader.example", "access-control-request-method": "GET" };
    const preflight = await ask("parts.example", "OPTIONS", "/home.html", { headers });
    expect(preflight).toMatchObject({
      status: 204,
      headers: { "access-control-allow-origin": "https://reader.example", "access-control-max-age": "600" },
    });
  });

  it("confines what follows a flat directory, up to the next one", async () => {
    const { ask } = await start();
    const statuses: number[] = [];
    for (const path of ["/one/a.txt", "/one/a.txt", "/two/a.txt", "/two/a.txt", "/home.html", "/home.html"]) {
      statuses.push((await ask("parts.example", "GET", path)).status);
    }
    expect(statuses).toEqual([200, 429, 200, 429, 200, 200]);
  });

  it("writes a line for each request, refused ones among them", async () => {
    stepClock(0);
    const { ask, files: server, place } = await start();
    await ask("www.example", "GET", "/home.html", { headers: { "x-forwarded-for": "192.0.2.7" } });
    await ask("example", "GET", "/missing");
    for (let n = 0; n < 3; n += 1) await ask("www.example", "GET", "/api/a.json");
    await ask("parts.example", "GET", "/home.html"); // another host, which has no log
    await server.close();
    const lines = (await readFile(join(place, "access.log"), "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/\[.*?\]/, "[time]").replace(/\d+$/, "N"))).toEqual([
      '192.0.2.7 - - [time] "GET /home.html HTTP/1.1" 200 N',
      '127.0.0.1 - - [time] "GET /missing HTTP/1.1" 404 N',
      '127.0.0.1 - - [time] "GET /api/a.json HTTP/1.1" 200 N',
      '127.0.0.1 - - [time] "GET /api/a.json HTTP/1.1" 200 N',
      '127.0.0.1 - - [time] "GET /api/a.json HTTP/1.1" 429 N',
    ]);
  });

  it("counts requests, and shows them at the path that was asked for", async () => {
    stepClock(0);
    const { ask } = await start();
    for (let n = 0; n < 3; n += 1) await ask("www.example", "GET", "/api/a.json");
    const { status, text } = await ask("www.example", "GET", "/stats");
    expect(status).toBe(200);
    expect(text).toContain('http_requests_total{method="GET",status="200"} 2');
    expect(text).toContain('http_requests_total{method="GET",status="429"} 1');
    expect((await ask("www.example", "GET", "/metrics")).status).toBe(404);
  });

  it("reports its health", async () => {
    const { ask } = await start();
    const { status, text } = await ask("www.example", "GET", "/up");
    expect([status, JSON.parse(text)]).toEqual([
      200,
      { status: "healthy", uptime: expect.any(Number), version: "7.1" },
    ]);
    expect((await ask("parts.example", "GET", "/up")).status).toBe(404);
  });
});
