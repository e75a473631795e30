import { once } from "node:events";
import { readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { type AccessLogOptions, accessLog } from "../../src/plugins/access-log.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { send } from "../helpers/send.ts";
import { openSocket, rawRequest, type Served, serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { type Collected, collect } from "./access-log/collected.ts";
import { parseCombined, parseCommon } from "./access-log/parse.ts";

const page = "<!doctype html><title>Page</title><p id=a>one<p>two";

/** Serves a few files with an access log at the end of the list. */
async function logged(
  options: AccessLogOptions = {},
  plugins: readonly Plugin[] = [],
): Promise<Served & { log: Collected }> {
  const log = collect();
  const storage = memoryStorage({ "/page.html": page });
  const config = {
    storage,
    plugins: [...plugins, accessLog({ ...options, write: log.write })],
  };
  return { ...(await serve(config)), log };
}

const answering = (path: string, status: number, headers: Record<string, string> = {}): Plugin => ({
  name: "answering",
  handle: (exchange, next) => (exchange.path === path ? { status, headers, body: `status ${status}` } : next()),
});

describe("the lines", () => {
  it("are in Apache's Common Log Format", async () => {
    const { url, log } = await logged({ format: "common" });
    const before = Math.floor(Date.now() / 1000) * 1000;
    await send(url, "GET", "/page.html?q=1", { headers: { "user-agent": "tests/1", referer: "http://a.example/" } });
    const [line = ""] = await log.first(1);
    const { time, ...fields } = parseCommon(line);
    expect(fields).toEqual({
      host: "127.0.0.1",
      ident: "-",
      user: "-",
      request: "GET /page.html?q=1 HTTP/1.1",
      status: 200,
      bytes: String(page.length),
    });
    expect(time).toMatch(/ \+0000$/);
    const seconds = Date.parse(time.replaceAll("/", " ").replace(":", " "));
    expect(seconds).toBeGreaterThanOrEqual(before);
    expect(seconds).toBeLessThanOrEqual(Date.now());
  });

  it("are in the Combined Log Format unless told otherwise", async () => {
    const { url, log } = await logged();
    await send(url, "GET", "/page.html", { headers: { "user-agent": "tests/1 (x)", referer: "http://a.example/?b" } });
    await send(url, "GET", "/page.html");
    const lines = (await log.first(2)).map(parseCombined);
    expect(lines[0]).toMatchObject({ status: 200, referer: "http://a.example/?b", userAgent: "tests/1 (x)" });
    expect(lines[1]).toMatchObject({ status: 200, referer: "-", userAgent: "-" });
  });

  it("are objects in JSON, one on each line", async () => {
    const { url, log } = await logged({ format: "json" });
    const headers = { "user-agent": "tests/1", referer: "http://a.example/", "x-request-id": "id-1" };
    await send(url, "GET", "/page.html?q=1", { headers });
    await send(url, "HEAD", "/page.html");
    const [first = "", second = ""] = await log.first(2);
    const { time, durationMs, ...fields } = JSON.parse(first);
    expect(fields).toEqual({
      id: "id-1",
      address: "127.0.0.1",
      method: "GET",
      host: "127.0.0.1",
      url: "/page.html?q=1",
      protocol: "http",
      httpVersion: "1.1",
      status: 200,
      bytes: page.length,
      aborted: false,
      referer: "http://a.example/",
      userAgent: "tests/1",
    });
    expect(new Date(time).toISOString()).toBe(time);
    expect(durationMs).toBeGreaterThan(0);
    expect(JSON.parse(second)).toMatchObject({ method: "HEAD", status: 200, bytes: 0 });
    expect(Object.keys(JSON.parse(second))).not.toContain("referer");
  });

  it("carry the user whom an earlier plugin has recognised, and none of the credentials", async () => {
    const known: Plugin = {
      name: "known",
      handle(exchange, next) {
        exchange.user = { name: "ada", roles: [] };
        return next();
      },
    };
    const headers = { authorization: "Basic YWRhOnMzY3JldA==", cookie: "session=s3cret" };
    for (const format of ["combined", "json"] as const) {
      const { port, url, log } = await logged({ format }, [known]);
      await send(url, "GET", "/page.html", { headers });
      await rawRequest(port, "GET", `http://ada:s3cret@127.0.0.1:${port}/page.html`);
      const lines = await log.first(2);
      expect(lines.join()).not.toMatch(/s3cret|YWRh|session/);
      expect(lines[0]).toMatch(format === "json" ? /"user":"ada"/ : /^127\.0\.0\.1 - ada \[/);
      expect(lines[1]).toContain(`http://127.0.0.1:${port}/page.html`);
    }
  });
});

describe("the access log", () => {
  it.each(["first", "last"])("records every reply, whoever gave it, standing %s in the list", async (place) => {
    const log = collect();
    const plugin = accessLog({ write: log.write, format: "common" });
    const others: Plugin[] = [
      answering("/limited", 429, { "retry-after": "1" }),
      {
        name: "broken",
        handle(exchange, next) {
          if (exchange.path === "/broken") throw new Error("broken");
          return next();
        },
      },
    ];
    const { url, port } = await serve({
      storage: memoryStorage({ "/page.html": page }),
      maxFileSize: 1000,
      plugins: place === "first" ? [plugin, ...others] : [...others, plugin],
      onError: () => {},
    });
    const answers = [
      await send(url, "GET", "/limited"),
      await send(url, "GET", "/broken"),
      await send(url, "GET", "/none"),
      await send(url, "GET", "/page.html"),
      await send(url, "HEAD", "/page.html"),
      await send(url, "GET", "/page.html", { headers: { range: "bytes=0-4" } }),
      await send(url, "GET", "/page.html", { headers: { range: "selector=#a" } }),
      await send(url, "GET", "/page.html", { headers: { range: "bytes=900-" } }),
      await send(url, "PROPFIND", "/page.html"),
      await send(url, "PUT", "/new.txt", { body: "hello" }),
      await send(url, "PUT", "/big.txt", { body: "x".repeat(2000) }),
      await send(url, "DELETE", "/new.txt"),
    ];
    const { etag = "" } = (await send(url, "HEAD", "/page.html")).headers;
    answers.push(await send(url, "GET", "/page.html", { headers: { "if-none-match": etag } }));
    const malformed = await rawRequest(port, "GET", "/%zz?q");

    const lines = (await log.first(15)).map(parseCommon);
    const statuses = [429, 500, 404, 200, 200, 206, 206, 416, 405, 201, 413, 204, 200, 304, 400];
    expect(lines.map(({ status }) => status)).toEqual(statuses);
    lines.splice(12, 1);
    expect(lines.slice(0, -1).map(({ bytes }) => (bytes === "-" ? 0 : Number(bytes)))).toEqual(
      answers.map(({ bytes }) => bytes.length),
    );
    expect(lines.at(-1)).toMatchObject({ request: "GET /%zz?q HTTP/1.1", bytes: String(malformed.body.length) });
    expect(log.lines).toHaveLength(15);
  });

  it("marks a download that the client broke off, with the bytes that were really sent", async () => {
    const size = 1024 ** 3;
    const root = await temporaryDirectory({ "large.bin": "" });
    await truncate(join(root, "large.bin"), size);
    const log = collect();
    const { port } = await serve({ root, plugins: [accessLog({ write: log.write })] });
    const socket = await openSocket(port);
    socket.write("GET /large.bin HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await once(socket, "data");
    socket.destroy();
    const [line = ""] = await log.first(1);
    const { ident, status, bytes } = parseCombined(line);
    expect([ident, status]).toEqual(["aborted", 200]);
    expect(Number(bytes)).toBeGreaterThan(0);
    expect(Number(bytes)).toBeLessThan(size / 10);
    expect(log.entries[0]).toMatchObject({ aborted: true, status: 200, bytes: Number(bytes) });
  });

  it("has one line for each request, whatever a client sends", async () => {
    const { port, log } = await logged({ format: "combined" });
    const hostile = `x" 200 5 "-" "-"\\ \x9b31m caf\xc3\xa9`;
    await rawRequest(port, "GET", '/a"b\\c', [`User-Agent: ${hostile}`, "Referer: http://ada:pw@a.example/\t"]);
    await rawRequest(port, "GET", "/page.html?a=%0d%0a127.0.0.1", ["User-Agent: plain"]);
    const [first = "", second = ""] = await log.first(2);
    expect(first).toMatch(/^[ -~]+$/);
    expect(parseCombined(first)).toMatchObject({
      request: "GET /a\\x22b\\x5cc HTTP/1.1",
      status: 400,
      referer: "http://a.example/",
      userAgent: "x\\x22 200 5 \\x22-\\x22 \\x22-\\x22\\x5c \\x9b31m caf\\xc3\\xa9",
    });
    expect(parseCombined(second)).toMatchObject({ request: "GET /page.html?a=%0d%0a127.0.0.1 HTTP/1.1", status: 200 });
  });

  it("reads UTF-8 in JSON, and nothing in that steers a terminal", async () => {
    const { port, log } = await logged({ format: "json" });
    await rawRequest(port, "GET", "/", ["User-Agent: caf\xc3\xa9 \xc2\x9b \xe2\x80\xae"]);
    await rawRequest(port, "GET", "/", ["User-Agent: caf\xe9"]);
    const [first = "", second = ""] = await log.first(2);
    expect(first).toContain('"userAgent":"café \\u009b \\u202e"');
    expect(JSON.parse(first).userAgent).toBe("café \x9b \u202e");
    expect(JSON.parse(second).userAgent).toBe("café");
  });

  it("goes to the server's logger where no output is given", async () => {
    const log = collect();
    const logger = {
      debug: () => {},
      info: (fields: object, line: string) => log.write(line, fields as never),
      warn: () => {},
      error: () => {},
    };
    const { url } = await serve({ storage: memoryStorage({ "/page.html": page }), plugins: [accessLog()], logger });
    await send(url, "GET", "/page.html");
    const [line = ""] = await log.first(1);
    expect(parseCombined(line).request).toBe("GET /page.html HTTP/1.1");
    expect(log.entries[0]).toMatchObject({ access: { url: "/page.html", status: 200 } });
  });

  it("keeps the server from starting where there is no logger either", async () => {
    const files = createFileServer({ storage: memoryStorage(), plugins: [accessLog()] });
    await expect(files.ready()).rejects.toThrow(
      "accessLog: has nowhere to write: expected file, stream or write, or a logger of the server",
    );
  });

  it("writes one file for several hosts, which nobody can read or change over HTTP", async () => {
    const root = await temporaryDirectory({ "page.html": page });
    const file = join(root, "access.log");
    const plugin = accessLog({ file, format: "common" });
    const hosts = { "a.example": { root, plugins: [plugin] }, "b.example": { root, plugins: [plugin] } };
    const { files, url } = await serve({ hosts });
    const statuses: number[] = [];
    for (const host of ["a.example", "b.example"]) {
      for (const [method, path] of [
        ["GET", "/page.html"],
        ["GET", "/access.log"],
        ["PUT", "/access.log"],
        ["DELETE", "/access.log"],
      ] as const) {
        statuses.push((await send(url, method, path, { headers: { host } })).status);
      }
    }
    expect(statuses.map((status) => status < 400)).toEqual([true, false, false, false, true, false, false, false]);
    expect([statuses[1], statuses[5]]).toEqual([404, 404]);
    await files.close();
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => parseCommon(line).status)).toEqual(statuses);
  });
});

describe("the options", () => {
  it.each<[string, object, string]>([
    ["an unknown format", { format: "nginx" }, 'accessLog: format is "nginx": expected "common", "combined" or "json"'],
    ["a file that has no name", { file: "" }, 'accessLog: file is "": expected a path or a file:// location'],
    ["a URL of something else", { file: new URL("http://a.example/log") }, "accessLog: file is URL"],
    ["an escaped slash in a URL", { file: "file:///var%2flog" }, 'accessLog: file is "file:///var%2flog"'],
    ["a stream that is none", { stream: {} }, "accessLog: stream is {}: expected a stream to write to"],
    ["a function that is none", { write: "x" }, 'accessLog: write is "x": expected a function'],
    ["an unknown name", { path: "/x" }, 'accessLog: the argument has no option "path"'],
    ["two outputs", { file: "/x", write: () => {} }, "accessLog: has file and write: expected one of them"],
  ])("refuses %s", (_what, options, message) => {
    expect(() => accessLog(options as AccessLogOptions)).toThrow(ConfigError);
    expect(() => accessLog(options as AccessLogOptions)).toThrow(message);
  });
});
