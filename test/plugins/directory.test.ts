import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { directory } from "../../src/plugins/directory.ts";
import { fileHandler } from "../../src/plugins/file-handler.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";

/** A plugin that writes down what happens to it. */
function recorder(name: string, events: string[]): Plugin {
  return {
    name,
    handle(exchange, next) {
      events.push(`${name} handles ${exchange.path}`);
      return next();
    },
    observe: (exchange) => void events.push(`${name} observes ${exchange.path}`),
    start: () => void events.push(`${name} starts`),
    close: () => void events.push(`${name} closes`),
  };
}

async function pathsSeenBy(plugins: (recorded: Plugin) => readonly Plugin[], paths: readonly string[]) {
  const events: string[] = [];
  const files = createFileServer({ storage: memoryStorage(), plugins: plugins(recorder("it", events)) });
  for (const path of paths) await (await files.fetch(new Request(`http://localhost${path}`))).text();
  await files.close();
  const seen = (verb: string) =>
    events.filter((event) => event.includes(verb)).map((event) => event.slice(`it ${verb} `.length));
  return { handled: seen("handles"), observed: seen("observes"), started: seen("starts"), closed: seen("closes") };
}

const paths = ["/", "/api", "/api/", "/api/x/y", "/apiary", "/%61pi/z", "/other/../api/w", "/API/x"];
const inside = ["/api", "/api/", "/api/x/y", "/api/z", "/api/w"];

describe("the directory plugin", () => {
  it.each(["/api", "/api/"])("confines the plugins nested in it to whole segments of the path: %s", async (path) => {
    const { handled, observed } = await pathsSeenBy((it) => [directory({ directory: path, plugins: [it] })], paths);
    expect(handled).toEqual(inside);
    expect(observed).toEqual(inside);
  });

  it("confines the plugins that follow it", async () => {
    const { handled, observed } = await pathsSeenBy((it) => [directory({ directory: "/api" }), it], paths);
    expect(handled).toEqual(inside);
    expect(observed).toEqual(inside);
  });

  it("ends where the next one begins", async () => {
    const plugins = (it: Plugin) => [directory({ directory: "/api" }), directory({ directory: "/" }), it];
    const { handled } = await pathsSeenBy(plugins, ["/", "/api", "/x"]);
    expect(handled).toEqual(["/", "/api", "/x"]);
  });

  it("takes its path decoded", async () => {
    const plugins = (it: Plugin) => [directory({ directory: "/a b/é", plugins: [it] })];
    const { handled } = await pathsSeenBy(plugins, ["/a%20b/%C3%A9/x", "/a%2520b/x"]);
    expect(handled).toEqual(["/a b/é/x"]);
  });

  it("starts and closes what it confines, once, also where it is listed twice", async () => {
    const plugins = (it: Plugin) => ["/a", "/b"].map((path) => directory({ directory: path, plugins: [it] }));
    const { started, closed, handled, observed } = await pathsSeenBy(plugins, ["/a/1", "/b/2", "/c/3"]);
    expect([started.length, closed.length]).toEqual([1, 1]);
    expect(handled).toEqual(["/a/1", "/b/2"]);
    expect(observed).toEqual(["/a/1", "/b/2"]);
  });

  it("asks a plugin that is always on also during an outage, within its paths", async () => {
    const status: Plugin = { name: "status", alwaysOn: true, handle: () => ({ status: 200, headers: {} }) };
    const plugins = [directory({ directory: "/internal", plugins: [status] })];
    const files = createFileServer({ storage: memoryStorage(), plugins, maintenance: true });
    const statusOf = async (path: string) => (await files.fetch(new Request(`http://localhost${path}`))).status;
    expect([await statusOf("/internal/status"), await statusOf("/status")]).toEqual([200, 503]);
    await files.close();
  });

  it.each([
    ["api", 'directory is "api"'],
    ["", 'directory is ""'],
    ["/a/../b", 'directory is "/a/../b"'],
    ["//", 'directory is "//"'],
  ])("refuses a path that no request has: %o", (path, problem) => {
    expect(() => directory({ directory: path })).toThrow(`directory: ${problem}`);
  });

  it("refuses other options, and plugins that are none", () => {
    expect(() => directory({ directory: "/a", prefix: "/b" } as never)).toThrow(
      'directory: the argument has no option "prefix"',
    );
    expect(() => directory({} as never)).toThrow("directory: directory is undefined");
    expect(() => directory({ directory: "/a", plugins: [{}] } as never)).toThrow("expected a plugin");
    expect(() => directory(undefined as never)).toThrow("expected an object with a directory");
  });
});

describe("several roots in one host", () => {
  const archive = memoryStorage({ "/1999.txt": "old", "/sub/a.txt": "a", "/page.html": "<p>a<p>b" });
  const serve = () =>
    createFileServer({
      storage: memoryStorage({ "/today.txt": "new" }),
      plugins: [fileHandler({ storage: archive, at: "/archive" })],
    });
  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    serve().fetch(new Request(`http://localhost${path}`, { method, headers, ...(body !== undefined && { body }) }));

  it("each have their part of the paths", async () => {
    expect(await (await ask("GET", "/archive/1999.txt")).text()).toBe("old");
    expect(await (await ask("GET", "/today.txt")).text()).toBe("new");
    expect((await ask("GET", "/archive/today.txt")).status).toBe(404);
    expect((await ask("GET", "/1999.txt")).status).toBe(404);
  });

  it("are listed and linked with their whole paths", async () => {
    const listing = await ask("GET", "/archive/", { accept: "application/json" });
    const { path, entries } = (await listing.json()) as { path: string; entries: { name: string }[] };
    expect([path, entries.map(({ name }) => name)]).toEqual(["/archive/", ["sub", "1999.txt", "page.html"]]);
    expect((await ask("GET", "/archive")).headers.get("location")).toBe("/archive/");
    const created = await ask("POST", "/archive/sub", { "x-filename": "new.txt" }, "n");
    expect([created.status, created.headers.get("location")]).toEqual([201, "/archive/sub/new.txt"]);
    expect(await archive.stat("/sub/new.txt")).toMatchObject({ size: 1 });
  });

  it("keep their root directory", async () => {
    expect((await ask("DELETE", "/archive/")).status).toBe(403);
    expect((await ask("OPTIONS", "/archive/")).headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
  });

  it("have elements", async () => {
    expect(await (await ask("GET", "/archive/page.html", { range: "selector=p + p" })).text()).toBe("<p>b");
  });

  it("have a page of their own that stands in", async () => {
    const plugins = [fileHandler({ storage: memoryStorage({ "/index.html": "app" }), at: "/app", single: true })];
    const route = await createFileServer({ plugins }).fetch(new Request("http://localhost/app/users/7"));
    expect(await route.text()).toBe("app");
  });

  it("leave the rest to the host's own file handler, wherever theirs stands, if there is one", async () => {
    const flat = [directory({ directory: "/archive" }), fileHandler({ storage: archive, at: "/archive" })];
    const paths = ["/today.txt", "/archive/1999.txt", "/.well-known/filement/listing.js"]; // which listings load
    for (const plugins of [flat, flat.slice(1)]) {
      for (const [storage, first] of [
        [memoryStorage({ "/today.txt": "new" }), 200] as const,
        [undefined, 404] as const,
      ]) {
        const files = createFileServer({ ...(storage ? { storage } : { listing: false }), plugins });
        const answers = paths.map((path) => files.fetch(new Request(`http://localhost${path}`)));
        expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([first, 200, 200]);
      }
    }
    const elsewhere = directory({ directory: "/docs", plugins: flat.slice(1) });
    expect(() => createFileServer({ plugins: [elsewhere] })).toThrow("file-handler /archive is no part of /docs");
  });

  it.each(["archive", "/archive/", "/a//b", "/../a", ""])("cannot appear at %o", (at) => {
    expect(() => fileHandler({ storage: archive, at })).toThrow(
      "expected a path that begins with / and does not end in it",
    );
  });
});
