import { once } from "node:events";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { multipartByteRanges, readFile } from "../../src/files/read-file.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { ByteSpan, OpenFile, Storage } from "../../src/storage/storage.ts";
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

const content = "0123456789";
const spans = [
  { start: 0, end: 1 },
  { start: 5, end: 8 },
];
const headers = () => ({ "content-type": "text/plain; charset=utf-8", etag: '"v1"' });

/** A file that says which spans of it are being read. */
function fileOf(makeStream: (span: ByteSpan) => Readable): { file: OpenFile; opened: Readable[] } {
  const opened: Readable[] = [];
  const stream = (span?: ByteSpan): Readable => {
    const made = makeStream(span ?? { start: 0, end: content.length - 1 });
    opened.push(made);
    return made;
  };
  return { file: { stream } as Partial<OpenFile> as OpenFile, opened };
}

const partOf = ({ start, end }: ByteSpan): Readable => Readable.from([Buffer.from(content.slice(start, end + 1))]);

describe("multipart/byteranges", () => {
  it("has the same header without content where there is no file to read", () => {
    const reply = multipartByteRanges(headers(), content.length, spans, undefined);
    const full = multipartByteRanges(headers(), content.length, spans, fileOf(partOf).file);
    expect(reply.body).toBeUndefined();
    expect([reply.status, reply.headers["content-length"]]).toEqual([206, full.headers["content-length"]]);
  });

  it("never uses a boundary twice", () => {
    const types = Array.from({ length: 50 }, () => multipartByteRanges(headers(), 10, spans, undefined).headers);
    expect(new Set(types.map((each) => each["content-type"])).size).toBe(50);
  });

  it("reads one part at a time", async () => {
    const { file, opened } = fileOf((span) => {
      expect(opened.every((stream) => stream.destroyed)).toBe(true);
      return partOf(span);
    });
    await text(multipartByteRanges(headers(), content.length, spans, file).body as Readable);
    expect(opened).toHaveLength(2);
  });

  it("reads nothing where it is given up before it is read", async () => {
    const { file, opened } = fileOf(partOf);
    const body = multipartByteRanges(headers(), content.length, spans, file).body as Readable;
    body.destroy();
    await once(body, "close");
    expect(opened).toEqual([]);
  });

  it("stops reading where it is given up in the middle", async () => {
    const { file, opened } = fileOf(() => Readable.from([Buffer.from("01"), Buffer.from("never asked for")]));
    const body = multipartByteRanges(headers(), content.length, spans, file).body as Readable;
    for await (const chunk of body) if (String(chunk) === "01") break;
    expect(opened.map((stream) => stream.destroyed)).toEqual([true]);
  });

  it("fails where a part cannot be read to its end", async () => {
    const { file } = fileOf(() => Readable.from([Promise.reject(new Error("the file became shorter"))]));
    const body = multipartByteRanges(headers(), content.length, spans, file).body as Readable;
    await expect(text(body)).rejects.toThrow("the file became shorter");
  });
});
