import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { FileStream } from "../../../src/storage/disk/file-stream.ts";

const mebibyte = 1024 * 1024;

/** A stream of bytes in memory, which come at most `most` at a time. */
function streamOf(bytes: Uint8Array, start: number, end: number, most = Number.POSITIVE_INFINITY) {
  let done = 0;
  const stream = new FileStream(
    {
      async read(into, position) {
        const part = bytes.subarray(position, position + Math.min(into.length, most));
        into.set(part);
        return part.length;
      },
      async done() {
        done += 1;
      },
    },
    { start, end },
  );
  return { stream, doneCalls: () => done };
}

async function inPieces(stream: FileStream): Promise<{ content: Buffer; pieces: number }> {
  const copies: Buffer[] = [];
  await stream.eachPiece(async (piece) => {
    copies.push(Buffer.from(piece));
  });
  return { content: Buffer.concat(copies), pieces: copies.length };
}

describe("the stream of a file", () => {
  const bytes = randomBytes(mebibyte);

  it.each([
    ["all of it", 0, mebibyte - 1],
    ["a part", 1000, 700_000],
    ["one byte", mebibyte - 1, mebibyte - 1],
    ["nothing", 0, -1],
  ])("gives %s, read or in pieces", async (_what, start, end) => {
    const expected = bytes.subarray(start, end + 1);
    expect((await buffer(streamOf(bytes, start, end).stream)).equals(expected)).toBe(true);
    expect((await inPieces(streamOf(bytes, start, end).stream)).content.equals(expected)).toBe(true);
  });

  it("gives few pieces, or as many as the source does", async () => {
    expect((await inPieces(streamOf(bytes, 0, mebibyte - 1).stream)).pieces).toBe(4);
    const { content, pieces } = await inPieces(streamOf(bytes, 0, 99, 30).stream);
    expect([content.equals(bytes.subarray(0, 100)), pieces]).toEqual([true, 4]);
  });

  it("has its source closed once, after it was read, given in pieces, or given up", async () => {
    const read = streamOf(bytes, 0, 10);
    const given = streamOf(bytes, 0, 10);
    const left = streamOf(bytes, 0, 10);
    await buffer(read.stream);
    await inPieces(given.stream);
    left.stream.destroy();
    await once(left.stream, "close");
    expect([read.doneCalls(), given.doneCalls(), left.doneCalls()]).toEqual([1, 1, 1]);
  });

  it("ends with the failure of whoever takes the pieces, and asks for no more", async () => {
    const { stream, doneCalls } = streamOf(bytes, 0, mebibyte - 1);
    let taken = 0;
    const failing = stream.eachPiece(async () => {
      taken += 1;
      throw new Error("no more");
    });
    await expect(failing).rejects.toThrow("no more");
    expect([taken, doneCalls(), stream.destroyed]).toEqual([1, 1, true]);
  });

  it("never uses the memory of a piece again before it was taken", async () => {
    const contents = Array.from({ length: 6 }, () => randomBytes(mebibyte));
    const all = contents.map(async (content) => {
      const copies: Buffer[] = [];
      await streamOf(content, 0, mebibyte - 1).stream.eachPiece(async (piece) => {
        await new Promise((resolve) => setImmediate(resolve)); // while the others get pieces of theirs
        copies.push(Buffer.from(piece));
      });
      return Buffer.concat(copies).equals(content);
    });
    expect(await Promise.all(all)).toEqual(contents.map(() => true));
  });
});
