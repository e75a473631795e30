import { mkdir, rename, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { look, openFile } from "../../../src/storage/disk/look.ts";
import { FreshStats, SmallFiles } from "../../../src/storage/disk/small-files.ts";
import type { OpenFile } from "../../../src/storage/storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { lookedAt } from "../content.ts";

/** A directory with small files in memory; counts what is opened on the disk, and its clock goes by hand. */
async function smallFiles() {
  const disk = lookedAt(await temporaryDirectory());
  const files = new SmallFiles(disk.paths);
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const counts = { opened: 0 };
  const open = (path: string, whileOpening?: () => void): Promise<OpenFile | undefined> =>
    files.open(path, async () => {
      counts.opened += 1;
      const file = await look(disk, path, openFile);
      whileOpening?.();
      if (file) onTestFinished(() => file.close());
      return file;
    });
  const textAt = async (path: string): Promise<string | undefined> => {
    const bytes = await (await open(path))?.bytes();
    return bytes && Buffer.from(bytes).toString();
  };
  /** Asks for a file until it is kept. */
  const keep = async (path: string): Promise<void> => {
    await open(path);
    now += 10_000;
    await open(path);
    counts.opened = 0;
  };
  return { root: disk.paths.root, files, open, textAt, keep, counts, wait: (ms: number) => (now += ms) };
}

describe("a small file", () => {
  it("is not opened again while it stays as it is, also where the reader of a stream writes to the pieces", async () => {
    const { root, open, textAt, keep, counts } = await smallFiles();
    await mkdir(join(root, "a/b"), { recursive: true });
    await writeFile(join(root, "a/b/c.txt"), "content");
    await keep("/a/b/c.txt");
    const file = await open("/a/b/c.txt");
    for await (const piece of file?.stream({ start: 0, end: 2 }) ?? []) piece.fill(0);
    expect([await textAt("/a/b/c.txt"), counts.opened]).toEqual(["content", 0]);
  });

  it("gives parts, streams and one record while it is kept", async () => {
    const { root, open, keep } = await smallFiles();
    await writeFile(join(root, "a.txt"), "0123456789");
    await keep("/a.txt");
    const file = await open("/a.txt");
    expect(Buffer.from((await file?.bytes({ start: 2, end: 4 })) ?? []).toString()).toBe("234");
    expect((await buffer(file?.stream({ start: 8, end: 9 }) as never)).toString()).toBe("89");
    expect((await buffer(file?.stream() as never)).toString()).toBe("0123456789");
    expect((await open("/a.txt"))?.stat).toBe(file?.stat);
    expect(file?.stat).toMatchObject({ type: "file", size: 10 });
  });

  it("is kept only when it was seen longer ago than a tick of the file system's clock, which may be seconds", async () => {
    const { root, open, counts, wait } = await smallFiles();
    await writeFile(join(root, "a.txt"), "a");
    const isCoarse = (await stat(join(root, "a.txt"), { bigint: true })).ctimeNs % 1_000_000n === 0n;
    await open("/a.txt");
    for (const [waitMs, opened] of [
      [50, 3],
      [200, isCoarse ? 5 : 4],
    ] as const) {
      wait(waitMs);
      await open("/a.txt");
      await open("/a.txt");
      expect(counts.opened).toBe(opened);
    }
  });

  it("takes no memory once it was removed", async () => {
    const { root, files, open, keep, counts } = await smallFiles();
    await writeFile(join(root, "a.txt"), "a");
    await keep("/a.txt");
    files.forget("/a.txt");
    await open("/a.txt");
    expect(counts.opened).toBe(1);
    const forget = vi.spyOn(SmallFiles.prototype, "forget");
    onTestFinished(() => forget.mockRestore());
    await diskStorage(root).remove("/a.txt");
    expect(forget).toHaveBeenCalledWith("/a.txt");
  });

  it("is read anew after a change that left its size and its time of modification", async () => {
    const { root, textAt, keep } = await smallFiles();
    const location = join(root, "a.txt");
    await writeFile(location, "old");
    await utimes(location, 1, 1);
    await keep("/a.txt");
    await writeFile(location, "new");
    await utimes(location, 1, 1);
    expect(await textAt("/a.txt")).toBe("new");
  });

  it("is read anew where another file has taken its name", async () => {
    const { root, textAt, keep } = await smallFiles();
    await writeFile(join(root, "a.txt"), "old");
    await writeFile(join(root, "b.txt"), "new");
    await keep("/a.txt");
    await rename(join(root, "b.txt"), join(root, "a.txt"));
    expect(await textAt("/a.txt")).toBe("new");
  });

  it.each(["/a", "/a/secret.txt"])(
    "is gone when %s became a link that leads out, to the very same file",
    async (moved) => {
      const { root, textAt, keep } = await smallFiles();
      const outside = join(await temporaryDirectory(), "moved");
      await mkdir(join(root, "a"));
      await writeFile(join(root, "a/secret.txt"), "secret");
      await keep("/a/secret.txt");
      await rename(join(root, moved), outside);
      await symlink(outside, join(root, moved));
      expect(await textAt("/a/secret.txt")).toBeUndefined();
    },
  );

  it("is opened each time where a link leads to it", async () => {
    const { root, textAt, keep, counts } = await smallFiles();
    await writeFile(join(root, "a.txt"), "a");
    await symlink("a.txt", join(root, "b.txt"));
    await keep("/b.txt");
    expect([await textAt("/b.txt"), await textAt("/b.txt"), counts.opened]).toEqual(["a", "a", 2]);
  });

  it("of more than 128 KiB is not small", async () => {
    const { root, open, keep, counts } = await smallFiles();
    await writeFile(join(root, "a.bin"), Buffer.alloc(128 * 1024 + 1));
    await keep("/a.bin");
    await open("/a.bin");
    expect(counts.opened).toBe(1);
  });

  it("is forgotten when it is told to forget, also where it was about to be kept", async () => {
    const { root, files, open, keep, counts, wait } = await smallFiles();
    await writeFile(join(root, "a.txt"), "a");
    await keep("/a.txt");
    files.clear();
    await open("/a.txt");
    wait(10_000);
    await open("/a.txt", () => files.clear());
    await open("/a.txt");
    expect(counts.opened).toBe(3);
  });
});

describe("a fresh look", () => {
  it("is one for all who ask in one turn, and sees every change that was made before it was asked for", async () => {
    const location = join(await temporaryDirectory(), "a.txt");
    const stats = new FreshStats();
    for (let length = 1; length <= 50; length += 1) {
      const early = [stats.of(location), stats.of(location)];
      expect(early[0]).toBe(early[1]);
      await writeFile(location, "a".repeat(length));
      expect((await stats.of(location))?.size).toBe(BigInt(length));
      await Promise.all(early);
    }
  });
});
