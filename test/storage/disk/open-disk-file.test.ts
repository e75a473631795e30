import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, readlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { look, openFile } from "../../../src/storage/disk/look.ts";
import { type ByteSpan, isPieceStream, type OpenFile, type PieceStream } from "../../../src/storage/storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { fileAt, lookedAt } from "../content.ts";

const mebibyte = 1024 * 1024;

async function opened(content: number | Uint8Array): Promise<{ file: OpenFile; real: string; root: string }> {
  const root = await temporaryDirectory({
    "a.bin": typeof content === "number" ? Buffer.alloc(content, "a") : content,
  });
  const real = join(root, "a.bin");
  return { file: await fileAt(real), real, root };
}

/** A stream of an open file, which is closed with it. */
async function streamOf({ file }: { file: OpenFile }, span?: ByteSpan): Promise<PieceStream> {
  const stream = file.stream(span);
  await file.close();
  if (!isPieceStream(stream)) throw new Error("it should give pieces");
  return stream;
}

async function inPieces(stream: PieceStream): Promise<Buffer[]> {
  const copies: Buffer[] = [];
  await stream.eachPiece(async (piece) => {
    await new Promise((resolve) => setImmediate(resolve)); // others may get theirs meanwhile
    copies.push(Buffer.from(piece));
  });
  return copies;
}

/** The files below a directory that this process has open. */
async function openFilesBelow(root: string): Promise<string[]> {
  const descriptors = await readdir("/proc/self/fd");
  const paths = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
  return paths.filter((path) => path.startsWith(root));
}

describe("the stream of a file", () => {
  it.each([
    ["all of it", 0, mebibyte - 1, 4],
    ["a part", 1000, 700_000, 3],
    ["one byte", mebibyte - 1, mebibyte - 1, 1],
    ["nothing", 0, -1, 0],
  ])("gives %s, read or in few pieces", async (_what, start, end, count) => {
    const bytes = randomBytes(mebibyte);
    const expected = bytes.subarray(start, end + 1);
    expect((await buffer(await streamOf(await opened(bytes), { start, end }))).equals(expected)).toBe(true);
    const pieces = await inPieces(await streamOf(await opened(bytes), { start, end }));
    expect([Buffer.concat(pieces).equals(expected), pieces.length]).toEqual([true, count]);
  });

  it("ends with the failure of the function that takes the pieces, and asks for no more", async () => {
    const stream = await streamOf(await opened(mebibyte));
    let taken = 0;
    const failing = stream.eachPiece(async () => {
      taken += 1;
      throw new Error("no more");
    });
    await expect(failing).rejects.toThrow("no more");
    expect([taken, stream.destroyed]).toEqual([1, true]);
  });

  it("never uses the memory of a piece again before it was taken", async () => {
    const contents = Array.from({ length: 6 }, () => randomBytes(mebibyte));
    const all = contents.map(async (content) => Buffer.concat(await inPieces(await streamOf(await opened(content)))));
    const copies = await Promise.all(all);
    expect(contents.map((content, i) => copies[i]?.equals(content))).toEqual(contents.map(() => true));
  });
});

describe("an open file", () => {
  it("fails when it becomes shorter while it is streamed, or before its bytes are read", async () => {
    const { file, real } = await opened(4 * mebibyte);
    const stream = file.stream();
    await once(stream, "readable");
    await truncate(real, mebibyte);
    await expect(buffer(stream)).rejects.toThrow("became shorter");
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
});

describe("the descriptor of an open file", { tags: ["linux"] }, () => {
  it.each([
    ["is closed", async ({ file }: { file: OpenFile }) => file.close()],
    ["was read to its end", async (file: { file: OpenFile }) => buffer(await streamOf(file))],
    ["was given in pieces", async (file: { file: OpenFile }) => inPieces(await streamOf(file))],
    [
      "has streams that are destroyed, before or while they are read",
      async ({ file }: { file: OpenFile }) => {
        const [unread, halfRead] = [file.stream(), file.stream()];
        await file.close();
        await once(halfRead, "readable");
        halfRead.read();
        unread.destroy();
        halfRead.destroy();
        await Promise.all([once(unread, "close"), once(halfRead, "close")]);
      },
    ],
  ])("is released when the file %s, and not before", async (_what, use) => {
    const place = await opened(mebibyte);
    expect(await openFilesBelow(place.root)).toHaveLength(1);
    await use(place);
    await expect.poll(() => openFilesBelow(place.root)).toEqual([]);
  });

  it("is released when what was opened turns out not to be a file", async () => {
    const root = await temporaryDirectory();
    expect(await look(lookedAt(root), "/", openFile)).toBeUndefined();
    expect(await openFilesBelow(root)).toEqual([]);
  });
});
