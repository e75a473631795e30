import { once } from "node:events";
import { lstat, readdir, readlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { knownWhole, openFile, statAt, visibleStat } from "../../../src/storage/disk/visible-file.ts";
import type { OpenFile, StoredStat } from "../../../src/storage/storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { at, fileAt } from "../content.ts";

const mebibyte = 1024 * 1024;

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

describe("what readers are to know of a file", () => {
  it("is found once for each version", async () => {
    const file = join(await temporaryDirectory(), "a.txt");
    await writeFile(file, "old");
    const stat = (await at(file, statAt)) as StoredStat;
    expect(knownWhole(file)?.stat.version === stat.version).toBe(true);
    let looks = 0;
    const again = () => {
      looks += 1;
      return lstat(file, { bigint: true });
    };
    const now = await again();
    expect({ ...(await at(file, (...place) => visibleStat(...place, now, again))) }).toEqual({ ...stat });
    expect(looks).toBe(1);
  });

  it("is its record at last where another program writes to it all the time", async () => {
    const file = join(await temporaryDirectory(), "a.txt");
    let written = "";
    const again = async () => {
      written += "x";
      await writeFile(file, written);
      return lstat(file, { bigint: true });
    };
    const now = await again();
    const stat = await at(file, (...place) => visibleStat(...place, now, again));
    expect(stat.size).toBe(written.length);
    expect(knownWhole(file)?.stat.version === stat.version).toBe(false);
  });
});

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
    expect(await at(root, openFile)).toBeUndefined();
    expect(await openFilesBelow(root)).toEqual([]);
  });
});
