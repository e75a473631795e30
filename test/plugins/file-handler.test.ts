import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { directory } from "../../src/plugins/directory.ts";
import { type FileHandlerOptions, fileHandler } from "../../src/plugins/file-handler.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { guardBy } from "../helpers/file-request.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

function serverOf(config: Parameters<typeof createFileServer>[0]): FileServer {
  const files = createFileServer(config);
  onTestFinished(() => files.close());
  return files;
}

async function textAt(files: FileServer, url: string): Promise<string> {
  return (await files.fetch(new Request(url))).text();
}

/** Notes when it is started and closed. */
function noting(log: string[], name: string): Storage {
  return {
    ...memoryStorage({ "/a.txt": name }),
    start: async () => void log.push(`${name} started`),
    close: async () => void log.push(`${name} closed`),
  };
}

describe("the file handler", () => {
  it("serves what its host is to serve, where it has no files of its own", async () => {
    const storage = memoryStorage({ "/a.txt": "of the host" });
    const files = serverOf({ storage, plugins: [fileHandler()] });
    expect(await textAt(files, "http://localhost/a.txt")).toBe("of the host");
  });

  it("serves a storage or a root of its own in its place", async () => {
    const root = await temporaryDirectory();
    await writeFile(join(root, "a.txt"), "of its root");
    const own = memoryStorage({ "/a.txt": "its own" });
    const ownRoot = serverOf({ storage: memoryStorage(), plugins: [fileHandler({ root })] });
    const ownStorage = serverOf({ plugins: [fileHandler({ storage: own })] });
    expect(await textAt(ownRoot, "http://localhost/a.txt")).toBe("of its root");
    expect(await textAt(ownStorage, "http://localhost/a.txt")).toBe("its own");
  });

  it("serves each host its own files, listed in several as one plugin", async () => {
    const plugins = [fileHandler()];
    const host = (name: string) => ({ storage: memoryStorage({ "/a.txt": name }), plugins });
    const files = serverOf({ hosts: { "one.example": host("one"), "two.example": host("two") } });
    expect(await textAt(files, "http://one.example/a.txt")).toBe("one");
    expect(await textAt(files, "http://two.example/a.txt")).toBe("two");
  });

  it("takes the options of its host, but for those it has itself", async () => {
    const storage = memoryStorage({ "/a/.hidden": "", "/home.html": "home" });
    const options: FileHandlerOptions = Object.freeze({ index: "home.html" });
    const files = serverOf({ storage, listing: false, index: "other.html", plugins: [fileHandler(options)] });
    expect(await textAt(files, "http://localhost/")).toBe("home");
    expect((await files.fetch(new Request("http://localhost/a/"))).status).toBe(403);
  });

  it("does not start where there is nothing to serve", async () => {
    const scoped: Plugin = { name: "scope", start: (site) => fileHandler().start?.(site) };
    const elsewhere = fileHandler({ storage: memoryStorage() });
    const files = createFileServer({ plugins: [elsewhere, scoped] });
    await expect(files.ready()).rejects.toThrow(/file handler, but neither root nor storage/);
  });

  it("names a root that is not there when it is made", () => {
    expect(() => fileHandler({ root: "/no/such/directory" })).toThrow('root: "/no/such/directory" does not exist');
  });

  it("starts the storage it serves, and closes its own; the host's is the host's to close", async () => {
    const log: string[] = [];
    const host = createFileServer({ storage: noting(log, "host"), plugins: [fileHandler()] });
    const own = createFileServer({ plugins: [fileHandler({ storage: noting(log, "own") })] });
    for (const files of [host, own]) {
      await files.ready();
      await files.close();
    }
    expect(log).toEqual(["host started", "host closed", "own started", "own closed"]);
  });

  it.each(["GET", "HEAD", "OPTIONS", "PUT", "POST", "DELETE"])(
    "refuses a selector request whose Range was lost on the way: %s",
    async (method) => {
      const files = serverOf({ storage: memoryStorage({ "/a.html": "<p>a" }) });
      const at = (headers: Record<string, string>) =>
        files.fetch(new Request("http://localhost/a.html", { method, headers }));
      const lost = await at({ "x-range-unit": "Selector" });
      const answer = method === "HEAD" ? { code: "RANGE_LOST" } : ((await lost.json()) as { code: string });
      expect([lost.status, answer.code]).toEqual([400, "RANGE_LOST"]);
      expect((await at({ "x-range-unit": "selector", range: "bytes=0-1" })).status).toBe(400);
      expect((await at({ "x-range-unit": "selector", range: "selector=h1" })).status).toBeLessThan(300);
      expect((await at({ "x-range-unit": "bytes" })).status).toBeLessThan(300);
    },
  );

  it.each([
    ["parses a page once", {}, 1],
    ["keeps the page that was parsed last where the cache has no room for it", { documentCacheSize: 1 }, 1],
  ])("%s", async (_, options, reads) => {
    let read = 0;
    const storage = memoryStorage({ "/a.html": "<p>a" });
    const open: Storage["open"] = async (path) => {
      const file = await storage.open(path);
      return (
        file && {
          ...file,
          stat: file.stat,
          close: () => file.close(),
          stream: (span) => file.stream(span),
          bytes: (span) => {
            read += 1;
            return file.bytes(span);
          },
        }
      );
    };
    const files = serverOf({ storage: { ...storage, open }, ...options });
    for (const _each of [1, 2]) {
      const reply = await files.fetch(new Request("http://localhost/a.html", { headers: { range: "selector=p" } }));
      expect(reply.status).toBe(206);
    }
    expect(read).toBe(reads);
  });

  it("looks at nothing on the storage for a hidden path", async () => {
    const untouchable = new Proxy({} as Storage, {
      get: (_target, name) => {
        if (name === "start" || name === "close") return undefined;
        return () => {
          return () => {
            throw new Error(`the storage was asked to ${String(name)}`);
          };
        };
      },
    });
    const files = serverOf({ plugins: [fileHandler({ storage: untouchable })] });
    const statuses = ["GET", "HEAD", "OPTIONS", "PUT", "POST", "DELETE"].map(async (method) => {
      const response = await files.fetch(new Request("http://localhost/.git/config", { method }));
      return response.status;
    });
    expect(await Promise.all(statuses)).toEqual([404, 404, 404, 403, 403, 403]);
  });
});

describe("the methods of a file handler", () => {
  const storage = () => memoryStorage({ "/page.html": "<p>hi", "/dir/": "" });
  const ask = async (files: FileServer, method: string, path: string, headers: Record<string, string> = {}) => {
    const reply = await files.fetch(new Request(`http://localhost${path}`, { method, headers }));
    const code = reply.status === 405 ? (await reply.json()).code : undefined;
    return [reply.status, reply.headers.get("allow"), ...(code === undefined ? [] : [code])];
  };

  it("are those that change nothing on a host that is read-only, and Allow says so", async () => {
    const files = serverOf({ storage: storage(), readOnly: true });
    const element = { range: "selector=p" };
    const reading = "GET, HEAD, OPTIONS";
    expect(await ask(files, "OPTIONS", "/page.html")).toEqual([200, reading]);
    expect(await ask(files, "OPTIONS", "/page.html", element)).toEqual([200, reading]);
    expect(await ask(files, "OPTIONS", "/new.txt")).toEqual([200, "OPTIONS"]);
    expect(await ask(files, "OPTIONS", "/dir/")).toEqual([200, reading]);
    expect(await ask(files, "PUT", "/page.html")).toEqual([405, reading, "METHOD_NOT_ALLOWED"]);
    expect(await ask(files, "DELETE", "/page.html", element)).toEqual([405, reading, "METHOD_NOT_ALLOWED"]);
    expect(await ask(files, "PUT", "/new.txt")).toEqual([405, "OPTIONS", "METHOD_NOT_ALLOWED"]);
    expect(await ask(files, "POST", "/dir/")).toEqual([405, reading, "METHOD_NOT_ALLOWED"]);
    expect(await textAt(files, "http://localhost/page.html")).toBe("<p>hi");
  });

  it("are those that the host names, and HEAD with GET", async () => {
    const files = serverOf({ storage: storage(), methods: ["GET", "PUT"] });
    expect(await ask(files, "HEAD", "/page.html")).toEqual([200, null]);
    expect(await ask(files, "PUT", "/new.txt")).toEqual([201, null]);
    expect(await ask(files, "DELETE", "/page.html")).toEqual([405, "GET, HEAD, PUT", "METHOD_NOT_ALLOWED"]);
    expect(await ask(files, "OPTIONS", "/page.html")).toEqual([405, "GET, HEAD, PUT", "METHOD_NOT_ALLOWED"]);
  });

  it("can be fewer than those of its host, never more", async () => {
    const plugins = [directory({ directory: "/dir", plugins: [fileHandler({ methods: ["GET", "DELETE"] })] })];
    const files = serverOf({ storage: storage(), methods: ["GET", "PUT"], plugins });
    expect(await ask(files, "PUT", "/a.txt")).toEqual([201, null]);
    expect(await ask(files, "PUT", "/dir/a.txt")).toEqual([405, "", "METHOD_NOT_ALLOWED"]);
    expect(await ask(files, "DELETE", "/dir/")).toEqual([405, "GET, HEAD", "METHOD_NOT_ALLOWED"]);
  });

  it("are hidden by what a user may not do", async () => {
    const guard = guardBy((right) => right !== "list");
    const files = serverOf({ storage: storage(), methods: ["GET", "PUT"], plugins: [guard] });
    expect(await ask(files, "DELETE", "/page.html")).toEqual([405, "GET, HEAD, PUT", "METHOD_NOT_ALLOWED"]);
    expect(await ask(files, "DELETE", "/new.txt")).toEqual([405, "PUT", "METHOD_NOT_ALLOWED"]);
  });
});
