import { EventEmitter, once } from "node:events";
import { truncate, utimes } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { directory } from "../../src/plugins/directory.ts";
import { fileHandler } from "../../src/plugins/file-handler.ts";
import { permissions } from "../../src/plugins/permissions.ts";
import type { Exchange, User } from "../../src/server/exchange.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { OpenFile, Storage } from "../../src/storage/storage.ts";
import { open, send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { onDisk, storages, testSite } from "../helpers/test-site.ts";
import { namesIn, unzip } from "../helpers/unzip.ts";

const listing = { zip: true };
const credentials = { headers: { authorization: `Basic ${Buffer.from("ada:secret").toString("base64")}` } };

describe.each(storages)("the .zip of a directory $where", ({ make }) => {
  it("has all below it, each file whole, in a directory of its name", async () => {
    const text = "all work and no play\n".repeat(20_000);
    const site = await testSite(await make({ "/n/b/a.txt": text, "/n/empty.txt": "", "/n/e/": "", "/o.txt": "" }), {
      listing,
    });
    const { status, headers, bytes } = await site.send("GET", "/n/?zip");
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "application/zip",
      "content-disposition": 'attachment; filename="n.zip"',
      "cache-control": "no-cache",
      vary: "authorization",
    });
    const entries = await unzip(bytes);
    expect(entries.map(({ name }) => name)).toEqual(["n/", "n/b/", "n/e/", "n/b/a.txt", "n/empty.txt"]);
    expect(entries[3]?.text).toBe(text);
    expect(bytes.length).toBeLessThan(text.length / 10);
  });

  it("keeps names in every script, and when files were changed", async () => {
    const names = [
      "naïve.txt",
      "日本語.txt",
      "\u202egpj.exe",
      "a & <b>.txt",
      "e\u0301.txt",
      "100%.txt",
      "\ud83d\ude00",
    ];
    const site = await testSite(await make(Object.fromEntries(names.map((name) => [`/ü/${name}`, name]))), { listing });
    const { headers, bytes } = await site.send("GET", "/%C3%BC/?zip");
    expect(headers["content-disposition"]).toBe(`attachment; filename="_.zip"; filename*=UTF-8''%C3%BC.zip`);
    const [, ...entries] = await unzip(bytes);
    expect(entries.map(({ name }) => name).sort()).toEqual(names.map((name) => `ü/${name}`).sort());
    for (const { name, text, modified } of entries) {
      expect(text).toBe(name.slice(2));
      const stat = await site.storage.stat(`/${name}`);
      expect(modified.getTime()).toBe(Math.floor(Number(stat?.modified) / 1000) * 1000);
    }
  });
});

describe("the .zip of a directory", () => {
  it("dates files from before 1970 as of then", async () => {
    const root = await temporaryDirectory({ "a.txt": "a" });
    await utimes(join(root, "a.txt"), new Date(-1), new Date(-1));
    const { url } = await serve({ root, listing });
    const [, entry] = await unzip((await send(url, "GET", "/?zip")).bytes);
    expect(entry?.modified.getTime()).toBe(0);
  });

  it("takes the name of the site for the root", async () => {
    const files = { "/a.txt": "a" };
    const named = await serve({ storage: memoryStorage(files), listing, title: "Ours: the/files." });
    const { headers, bytes } = await send(named.url, "GET", "/?zip");
    expect(headers["content-disposition"]).toBe('attachment; filename="Ours_ the_files_.zip"');
    expect(await namesIn(bytes)).toEqual(["Ours_ the_files_/", "Ours_ the_files_/a.txt"]);
    const nameless = await serve({ storage: memoryStorage(files), listing });
    expect(await namesIn((await send(nameless.url, "GET", "/?zip")).bytes)).toEqual(["Home/", "Home/a.txt"]);
  });

  it("is there for a directory with an index file, too, and for clients that prefer JSON", async () => {
    const { url } = await serve({ storage: memoryStorage({ "/index.html": "<p>", "/a/b": "" }), listing });
    expect((await send(url, "GET", "/")).text).toBe("<p>");
    const { bytes } = await send(url, "GET", "/?zip", { headers: { accept: "application/json" } });
    expect(await namesIn(bytes)).toEqual(["Home/", "Home/a/", "Home/a/b", "Home/index.html"]);
    expect((await send(url, "GET", "/a?zip")).headers.location).toBe("/a/?zip");
  });

  it("has only what is named, and what is in that", async () => {
    const files = { "/a.txt": "a", "/b/c.txt": "c", "/b/d/e.txt": "e", "/bc.txt": "" };
    const { url } = await serve({ storage: memoryStorage(files), listing, title: "T" });
    const { bytes } = await send(url, "GET", "/?zip&name=a.txt&name=b/d/");
    expect(await namesIn(bytes)).toEqual(["T/", "T/b/", "T/b/d/", "T/a.txt", "T/b/d/e.txt"]);
  });

  it.each([true, { edit: true }, { zip: false }])("is not there by itself: listing is %o", async (other) => {
    const { url } = await serve({ storage: memoryStorage({ "/a.txt": "" }), listing: other });
    const { headers, text } = await send(url, "GET", "/?zip");
    expect(headers["content-type"]).toContain("text/html");
    expect(text).not.toContain("?zip");
  });

  it("answers HEAD like GET, without the content", async () => {
    const { url } = await serve({ storage: memoryStorage({ "/a.txt": "a" }), listing: { zip: { maxBytes: 1 } } });
    const [get, head] = [await send(url, "GET", "/?zip"), await send(url, "HEAD", "/?zip")];
    expect(head.status).toBe(200);
    expect(head.bytes).toHaveLength(0);
    const { "transfer-encoding": _, ...fields } = get.headers;
    expect(Object.keys(head.headers)).toEqual(Object.keys(fields));
    await send(url, "POST", "/a.txt", { body: "b" });
    expect((await send(url, "HEAD", "/?zip")).status).toBe(413);
  });

  it("stores what is compressed already as it is", async () => {
    const names = ["a.jpg", "a.mp4", "a.zip", "a.pdf", "a.docx", "a.svg", "a.bmp", "a.wav", "a.txt", "a"];
    const storage = memoryStorage(Object.fromEntries(names.map((name) => [`/${name}`, "x".repeat(1000)])));
    const { url } = await serve({ storage, listing });
    const entries = await unzip((await send(url, "GET", "/?zip")).bytes);
    const stored = entries.filter(({ name, isCompressed }) => !isCompressed && !name.endsWith("/"));
    expect(stored.map(({ name }) => name).sort()).toEqual(
      ["a.docx", "a.jpg", "a.mp4", "a.pdf", "a.zip"].map((name) => `Home/${name}`),
    );
  });

  it("is refused before its first byte where it would be larger than the limits", async () => {
    const storage = memoryStorage({ "/a/b.txt": "1234", "/c.txt": "5" });
    const { url } = await serve({ storage, listing: { zip: { maxEntries: 2 } } });
    const { status, text } = await send(url, "GET", "/?zip");
    expect(status).toBe(413);
    expect(JSON.parse(text)).toMatchObject({ code: "DIRECTORY_TOO_LARGE" });
    expect(await namesIn((await send(url, "GET", "/a/?zip")).bytes)).toEqual(["a/", "a/b.txt"]);
  });

  it("has what the user may read, by the rules for paths", async () => {
    const rules = [
      { username: "ada", path: "/*", permission: "allow" },
      { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
      { username: "*", path: "/in/secret.txt", permission: "deny" },
      { username: "*", path: "/in/closed/*", permission: "deny" },
    ] as const;
    const files = { "/in/a.txt": "", "/in/secret.txt": "", "/in/closed/b.txt": "" };
    const user = (exchange: Exchange): User | undefined => {
      const name = exchange.header("x-user");
      return name === undefined ? undefined : { name, roles: [] };
    };
    const { url } = await serve({ storage: memoryStorage(files), listing, plugins: [permissions({ user, rules })] });
    expect(await namesIn((await send(url, "GET", "/in/?zip")).bytes)).toEqual(["in/", "in/a.txt"]);
    const { bytes } = await send(url, "GET", "/in/?zip", { headers: { "x-user": "ada" } });
    expect(await namesIn(bytes)).toContain("in/closed/b.txt");
    expect((await send(url, "GET", "/in/closed/?zip")).status).toBe(401);
  });

  it("is without what an authentication of its own protects, and what another file handler answers", async () => {
    const files = { "/in/a.txt": "", "/in/members/b.txt": "", "/in/archive/c.txt": "" };
    const users = [{ username: "ada", password: "secret", encryption: "plaintext" as const }];
    const plugins = [
      directory({ directory: "/in/archive", plugins: [fileHandler({ storage: memoryStorage() })] }),
      directory({ directory: "/in/members" }),
      basicAuth({ users }),
    ];
    const { url } = await serve({ storage: memoryStorage(files), listing, plugins });
    expect(await namesIn((await send(url, "GET", "/in/?zip", credentials)).bytes)).toEqual(["in/", "in/a.txt"]);
    const { bytes } = await send(url, "GET", "/in/members/?zip", credentials);
    expect(await namesIn(bytes)).toEqual(["members/", "members/b.txt"]);
    expect((await send(url, "GET", "/in/members/?zip")).status).toBe(401);
  });

  it("leaves a file out that has gone before it is its turn", async () => {
    const storage = memoryStorage({ "/a.txt": "a", "/b.txt": "b" });
    const { url } = await serve({
      storage: { ...storage, open: async (path) => (path === "/a.txt" ? undefined : storage.open(path)) },
      listing,
    });
    expect(await namesIn((await send(url, "GET", "/?zip")).bytes)).toEqual(["Home/", "Home/b.txt"]);
  });

  it("is cut, and so no archive, where a file becomes shorter while it is sent", async () => {
    const root = await temporaryDirectory();
    await onDisk(root, { "/a.mp4": Buffer.alloc(8 * 1024 * 1024, "a") });
    const failures: unknown[] = [];
    const { url } = await serve({ root, listing, onError: (error) => failures.push(error) });
    const response = await begun(url);
    await truncate(join(root, "a.mp4"), 1000);
    await expect(buffer(response)).rejects.toThrow("aborted");
    expect(failures).toMatchObject([{ message: "the file became shorter while it was read" }]);
  });

  it("is cut where files have grown beyond the limit since they were measured", async () => {
    const storage = memoryStorage({ "/a.txt": "a" });
    const grow = async (path: string): Promise<OpenFile | undefined> => {
      await storage.append(path, Readable.from([Buffer.from("more")]));
      return storage.open(path);
    };
    const failures: unknown[] = [];
    const { url } = await serve({
      storage: { ...storage, open: grow },
      listing: { zip: { maxBytes: 3 } },
      onError: (error) => failures.push(error),
    });
    await expect(send(url, "GET", "/?zip")).rejects.toThrow("aborted");
    expect(failures).toMatchObject([{ message: "files that grew made the archive too large" }]);
  });

  it("harms nobody where it fails after a plugin has dropped it", async () => {
    const storage = memoryStorage({ "/a.txt": "a" });
    const failing = new EventEmitter();
    const failed = once(failing, "failed");
    const broken: Storage["open"] = (path) => {
      if (path !== "/a.txt") return storage.open(path);
      setImmediate(() => failing.emit("failed"));
      return Promise.reject(new Error("the disk is broken"));
    };
    const plugin: Plugin = {
      name: "dropping",
      async handle(_exchange, next) {
        await next();
        await failed;
        return { status: 200, headers: {}, body: "instead" };
      },
    };
    const { url } = await serve({ storage: { ...storage, open: broken }, listing, plugins: [plugin] });
    expect((await send(url, "GET", "/?zip")).text).toBe("instead");
  });

  it("reads no more than the client does, and nothing when it has left", async () => {
    const opened: string[] = [];
    const closed: string[] = [];
    const size = 64 * 1024 * 1024;
    const inMemory = memoryStorage({ "/a.mp4": "", "/b.mp4": "" });
    let read = 0;
    const endless = (path: string): OpenFile => ({
      stat: { type: "file", size, modified: new Date(), version: "v" },
      bytes: () => Promise.reject(new Error("asked for all of it")),
      stream: () =>
        new Readable({
          read() {
            read += 65_536;
            this.push(Buffer.alloc(65_536));
          },
        }),
      close: async () => void closed.push(path),
    });
    const storage: Storage = {
      ...inMemory,
      async open(path) {
        if (!path.endsWith(".mp4")) return inMemory.open(path);
        opened.push(path);
        return endless(path);
      },
    };
    const site = await testSite({ storage, everything: async () => [] }, { listing });
    const response = await begun(site.url);
    response.destroy();
    await site.ended(1);
    expect(site.outcomes).toMatchObject([{ status: 200, aborted: true }]);
    await expect.poll(() => closed).toEqual(["/a.mp4"]);
    expect(opened).toEqual(["/a.mp4"]);
    expect(read).toBeLessThan(size / 2);
  });
});

/** Asks for the archive of the root, and waits until the first file has begun; the rest is not read. */
async function begun(url: string): Promise<IncomingMessage> {
  const request = open(url, "GET", "/?zip");
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let bytes = 0;
  await new Promise<void>((resolve) => {
    response.on("data", function count(piece: Buffer) {
      bytes += piece.length;
      if (bytes < 1000) return;
      response.off("data", count).pause();
      resolve();
    });
  });
  return response;
}
