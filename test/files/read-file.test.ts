import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { readFile } from "../../src/files/read-file.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { OpenFile, Storage } from "../../src/storage/storage.ts";
import { fileRequest } from "../helpers/file-request.ts";

/** Notes how often the content of files is asked for. */
function counting(storage: Storage): { storage: Storage; reads: () => number } {
  let reads = 0;
  const counted = (file: OpenFile): OpenFile => ({
    stat: file.stat,
    bytes(span) {
      reads += 1;
      return file.bytes(span);
    },
    stream(span) {
      reads += 1;
      return file.stream(span);
    },
    close: () => file.close(),
  });
  const open: Storage["open"] = async (path) => {
    const file = await storage.open(path);
    return file && counted(file);
  };
  return { storage: { ...storage, open }, reads: () => reads };
}

describe("reading a file", () => {
  it("reads up to 128 KiB in one piece, and more as a stream", async () => {
    const storage = memoryStorage({ "/little": new Uint8Array(131_072), "/much": new Uint8Array(131_073) });
    const little = await readFile(await fileRequest(storage, "/little"));
    const much = await readFile(await fileRequest(storage, "/much"));
    expect(little.body).toBeInstanceOf(Uint8Array);
    expect(much.body).toBeInstanceOf(Readable);
    expect((await buffer(much.body as Readable)).length).toBe(131_073);
  });

  it("reads a short range of a long file in one piece", async () => {
    const storage = memoryStorage({ "/much": new Uint8Array(100_000) });
    const reply = await readFile(await fileRequest(storage, "/much", { headers: { range: "bytes=0-9" } }));
    expect(reply).toMatchObject({ status: 206, body: new Uint8Array(10) });
  });

  it.each([
    ["HEAD", {}, 200],
    ["HEAD", { range: "bytes=0-1" }, 206],
    ["HEAD", { range: "bytes=0-1, 4-5" }, 206],
    ["GET", { "if-none-match": "*" }, 304],
  ])("touches no content for %s with %o: %i", async (method, headers, status) => {
    const { storage, reads } = counting(memoryStorage({ "/a.txt": "0123456789" }));
    const reply = await readFile(await fileRequest(storage, "/a.txt", { method, headers }));
    expect([reply.status, reply.body, reads()]).toEqual([status, undefined, 0]);
  });

  it.each([
    ["412", { "if-match": '"x"' }, 412],
    ["416", { range: "bytes=50-" }, 416],
  ])("touches no content before it throws %s", async (_status, headers, status) => {
    const { storage, reads } = counting(memoryStorage({ "/a.txt": "0123456789" }));
    const request = await fileRequest(storage, "/a.txt", { headers });
    await expect(async () => readFile(request)).rejects.toMatchObject({ status });
    expect(reads()).toBe(0);
  });

  it("throws 404 where the file was there, but could not be opened any more", async () => {
    const { file: _gone, ...request } = await fileRequest(memoryStorage({ "/a.txt": "a" }), "/a.txt");
    await expect(async () => readFile(request)).rejects.toMatchObject({ status: 404, code: "NOT_FOUND" });
  });

  it("gives every reply headers of its own", async () => {
    const request = await fileRequest(memoryStorage({ "/a.txt": "a" }), "/a.txt");
    const [first, second] = [await readFile(request), await readFile(request)];
    first.headers["x-changed"] = "by a plugin";
    expect(second.headers).not.toHaveProperty("x-changed");
  });
});
