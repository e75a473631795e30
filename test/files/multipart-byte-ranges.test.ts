import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { multipartByteRanges } from "../../src/files/multipart-byte-ranges.ts";
import type { ByteSpan, OpenFile } from "../../src/storage/storage.ts";

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
  it("is laid out as RFC 9110 §14.6 has it, and exactly as long as announced", async () => {
    const { file } = fileOf(partOf);
    const reply = multipartByteRanges(headers(), content.length, spans, file);
    const body = await text(reply.body as Readable);
    const type = String(reply.headers["content-type"]);
    const boundary = type.slice("multipart/byteranges; boundary=".length);
    expect(body.split("\r\n")).toEqual([
      "",
      `--${boundary}`,
      "Content-Type: text/plain; charset=utf-8",
      "Content-Range: bytes 0-1/10",
      "",
      "01",
      `--${boundary}`,
      "Content-Type: text/plain; charset=utf-8",
      "Content-Range: bytes 5-8/10",
      "",
      "5678",
      `--${boundary}--`,
      "",
    ]);
    expect(reply.headers["content-length"]).toBe(String(body.length));
    expect(reply.headers["etag"]).toBe('"v1"');
  });

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
