import { once } from "node:events";
import { mkdir, readdir, readlink, rename } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Content, type Storage, StorageError } from "../../src/storage/storage.ts";
import { open, type Sending } from "../helpers/send.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { onDisk, storages, telling, testSite } from "../helpers/test-site.ts";

describe.each(storages)("a client that leaves $where", ({ make }) => {
  const files = { "/a.txt": "old", "/dir/": "" };
  const paths = ["/a.txt", "/dir/"];

  it.each([
    ["PUT", "/a.txt", "in chunks", {}],
    ["PUT", "/new/b.txt", "of a known length", { "content-length": "1000000" }],
    ["POST", "/a.txt", "in chunks", {}],
    ["POST", "/a.txt", "of a known length", { "content-length": "1000000" }],
    ["POST", "/dir/", "in chunks", { "x-filename": "b.txt" }],
  ])("in the middle of %s %s %s changes and leaves nothing", async (method, target, _how, headers) => {
    const { storage, everything } = await make(files);
    const told = telling(storage);
    const site = await testSite({ storage: told.storage, everything });
    const outgoing = open(site.url, method, target, { headers });
    outgoing.on("error", () => {}); // that the connection ends is what we are here for
    outgoing.write("some of it");
    await told.arrived;
    outgoing.destroy();
    await site.ended(1);
    await site.files.close();
    expect(await everything()).toEqual(paths);
    expect([await site.textAt("/a.txt"), site.changes]).toEqual(["old", []]);
    expect(site.outcomes[0]).toMatchObject({ aborted: true, bytes: 0 });
  });
});

describe.each(storages)("a full disk $where", ({ make }) => {
  /** Runs out of space after the first piece of content. */
  async function* cutShort(content: Content): AsyncGenerator<Uint8Array> {
    for await (const piece of content) {
      yield piece.subarray(0, 2);
      throw new StorageError("full", Object.assign(new Error("no space left on device"), { code: "ENOSPC" }));
    }
  }
  const filled = (storage: Storage): Storage => ({
    ...storage,
    write: (path, content, options) => storage.write(path, cutShort(content), options),
    append: (path, content, options) => storage.append(path, cutShort(content), options),
  });

  it("is answered with 507, and nothing is lost, left or announced", async () => {
    const { storage, everything } = await make({ "/a.txt": "old" });
    const reported: unknown[] = [];
    const site = await testSite({ storage: filled(storage), everything }, { onError: (error) => reported.push(error) });
    const attempts = [
      await site.send("PUT", "/a.txt", { body: "new content" }),
      await site.send("PUT", "/dir/b.txt", { body: "new content" }),
      await site.send("POST", "/a.txt", { body: "more" }),
      await site.send("POST", "/", { body: "new", headers: { "x-filename": "c.txt" } }),
    ];
    expect(attempts.map(({ status, text }) => [status, JSON.parse(text).code])).toEqual(
      attempts.map(() => [507, "INSUFFICIENT_STORAGE"]),
    );
    expect([await everything(), await site.textAt("/a.txt"), site.changes]).toEqual([["/a.txt"], "old", []]);
    expect(reported).toHaveLength(4);
  });
});

describe("a root that has disappeared", () => {
  it("is 503 for everything in it and reported, until it is there again", async () => {
    const parent = await temporaryDirectory();
    const directory = join(parent, "root");
    const reported: unknown[] = [];
    await mkdir(directory);
    const site = await testSite(await onDisk(directory, { "/a.html": "<p>hi" }), {
      onError: (error) => reported.push(error),
    });
    await site.files.ready();
    await rename(directory, join(parent, "away"));
    const requests: [string, string, Sending?][] = [
      ["GET", "/a.html"],
      ["GET", "/"],
      ["GET", "/no.txt"],
      ["GET", "/a.html", { headers: { range: "selector=p" } }],
      ["PUT", "/a.html", { body: "new" }],
      ["POST", "/a.html", { body: "more" }],
      ["DELETE", "/a.html"],
    ];
    for (const [method, target, sending] of requests) {
      const { status, text } = await site.send(method, target, sending);
      expect([method, target, status, text]).toEqual([
        method,
        target,
        503,
        expect.stringContaining('"code":"STORAGE_UNAVAILABLE"'),
      ]);
    }
    expect(reported).toHaveLength(requests.length);
    await rename(join(parent, "away"), directory);
    expect((await site.send("GET", "/a.html")).status).toBe(200);
  });
});

describe("files on the disk", () => {
  /** What of a directory this process holds open. */
  async function openBelow(directory: string): Promise<string[]> {
    const descriptors = await readdir("/proc/self/fd");
    const targets = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
    return targets.filter((target) => target.startsWith(directory));
  }

  it("are closed after every kind of request, however it ended", { tags: ["linux"] }, async () => {
    const directory = await temporaryDirectory();
    const files = { "/a.html": "<p>hi", "/big.bin": Buffer.alloc(300_000), "/pages/index.html": "<p>hi" };
    const site = await testSite(await onDisk(directory, files));
    const conditions = [{}, { "if-none-match": "*" }, { "if-match": '"x"' }, { range: "bytes=0-1, 5-8" }];
    const more = [{ range: "bytes=999999-" }, { range: "selector=p" }, { "content-encoding": "gzip" }];
    for (const headers of [...conditions, ...more]) {
      for (const path of ["/a.html", "/big.bin", "/pages/", "/pages"]) {
        for (const method of ["GET", "HEAD", "PUT", "POST", "OPTIONS", "PATCH"]) {
          await site.send(method, path, { headers, ...(method.startsWith("P") && { body: "<p>new</p>" }) });
        }
      }
    }
    await expect.poll(() => openBelow(directory)).toEqual([]);
  });

  it("are closed where the client leaves in the middle", { tags: ["linux"] }, async () => {
    const directory = await temporaryDirectory();
    const site = await testSite(await onDisk(directory, { "/big.bin": Buffer.alloc(32 * 1024 * 1024) }));
    for (const headers of [{}, { range: "bytes=0-20000000, 21000000-" }]) {
      const outgoing = open(site.url, "GET", "/big.bin", { headers });
      outgoing.on("error", () => {});
      outgoing.end();
      const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
      expect(await openBelow(directory)).not.toEqual([]);
      incoming.destroy();
    }
    await site.ended(2);
    await expect.poll(() => openBelow(directory)).toEqual([]);
    expect(site.outcomes.map(({ status, aborted }) => [status, aborted])).toEqual([
      [200, true],
      [206, true],
    ]);
    await site.files.close();
  });
});
