import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, readlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { look, openFile } from "../../../src/storage/disk/look.ts";
import { FileStream } from "../../../src/storage/disk/open-disk-file.ts";
import type { OpenFile } from "../../../src/storage/storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { fileAt, lookedAt } from "../content.ts";

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

async function opened(size: number): Promise<{ file: OpenFile; real: string; root: string }> {
  const root = await temporaryDirectory();
  const real = join(root, "a.bin");
  await writeFile(real, Buffer.alloc(size, "a"));
  return { file: await fileAt(real), real, root };
}

/** The files below a directory that this process has open. */
async function openFilesBelow(root: string): Promise<string[]> {
  const descriptors = await readdir("/proc/self/fd");
  const paths = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
  return paths.filter((path) => path.startsWith(root));
}

describe("an open file", () => {
  it("fails when it becomes shorter while it is streamed", async () => {
    const { file, real } = await opened(4 * mebibyte);
    const stream = file.stream();
    await once(stream, "readable");
    await truncate(real, mebibyte);
    await expect(buffer(stream)).rejects.toThrow("became shorter");
    await file.close();
  });

  it("fails when it becomes shorter before its bytes are read", async () => {
    const { file, real } = await opened(mebibyte);
    await truncate(real, 1000);
    await expect(file.bytes()).rejects.toThrow("became shorter");
    await file.close();
  });

  it("gives no more than it had when it grows", async () => {
    const { file, real } = await opened(10);
    await writeFile(real, "b".repeat(5), { flag: "a" });
    expect((await buffer(file.stream())).toString()).toBe("a".repeat(10));
    expect(await file.bytes()).toHaveLength(10);
    await file.close();
  });

  it("is not read after it was closed", async () => {
    const { file } = await opened(10);
    await file.close();
    await expect(file.bytes()).rejects.toThrow("closed");
  });

  it("streams to several readers at once, each from its own place", async () => {
    const { file } = await opened(mebibyte);
    const spans = [undefined, { start: 5, end: 9 }, { start: mebibyte - 1, end: mebibyte - 1 }];
    const parts = await Promise.all(spans.map((span) => buffer(file.stream(span))));
    expect(parts.map(({ length }) => length)).toEqual([mebibyte, 5, 1]);
    await file.close();
  });
});

describe("the descriptor of an open file", { tags: ["linux"] }, () => {
  it("is released by close", async () => {
    const { file, root } = await opened(10);
    expect(await openFilesBelow(root)).toHaveLength(1);
    await file.close();
    expect(await openFilesBelow(root)).toEqual([]);
  });

  it("is held by a stream to its end, and released then", async () => {
    const { file, root } = await opened(mebibyte);
    const stream = file.stream();
    await file.close();
    expect(await openFilesBelow(root)).toHaveLength(1);
    stream.resume();
    await once(stream, "close");
    expect(await openFilesBelow(root)).toEqual([]);
  });

  it("is released when a stream is destroyed, before or while it is read", async () => {
    const { file, root } = await opened(mebibyte);
    const [unread, halfRead] = [file.stream(), file.stream()];
    await file.close();
    await once(halfRead, "readable");
    halfRead.read();
    unread.destroy();
    halfRead.destroy();
    await Promise.all([once(unread, "close"), once(halfRead, "close")]);
    expect(await openFilesBelow(root)).toEqual([]);
  });

  it("is released when what was opened turns out not to be a file", async () => {
    const root = await temporaryDirectory();
    expect(await look(lookedAt(root), "/", openFile)).toBeUndefined();
    expect(await openFilesBelow(root)).toEqual([]);
  });
});
