import { execFile } from "node:child_process";
import {
  chmod,
  chown,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { noteRecord } from "../../../src/storage/disk/append.ts";
import { diskLocks } from "../../../src/storage/disk/disk-locks.ts";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { abandonedAfterMs, appendNoteName } from "../../../src/storage/disk/temporary-names.ts";
import { timesOf } from "../../helpers/effort.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { compiled } from "../compiled.ts";
import { content, slowContent, textAt } from "../content.ts";

const dieAt = compiled("die-at");

/** Whether the process was killed; it is not when it ended before that step. */
function isKilledAt(root: string, operation: string, step: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [dieAt(), root, operation, String(step)], (error) => {
      if (error === null) resolve(false);
      else if (error.signal === "SIGKILL") resolve(true);
      else reject(error);
    });
  });
}

const textOf = (path: string): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined);

describe("a process that is killed", () => {
  it.each([
    ["write", "old content", "new content"],
    ["create", undefined, "new content"],
    ["append", "old content", "old content and new content"],
    ["update", "old content", "new content"],
    ["remove", "old content", undefined],
  ])("at any step of %s leaves the old or the new content", async (operation, before, after) => {
    const root = await temporaryDirectory();
    const file = join(root, "a.txt");
    const found: Array<string | undefined> = [];
    const left: Array<string | undefined> = [];
    // Half of an append is there before one call only, which is a later one where a lock took another.
    const stride = operation === "append" ? 1 : timesOf(6, 1);
    for (let step = 1, isKilled = true; isKilled; step += stride) {
      if (before === undefined) await rm(file, { force: true });
      else await writeFile(file, before);
      isKilled = await isKilledAt(root, operation, step);
      found.push(await textOf(file));
      await diskStorage(root).start?.();
      left.push(await textOf(file));
      expect((await readdir(root)).filter((name) => name !== "a.txt")).toEqual([]);
    }
    expect(new Set(left)).toEqual(new Set([before, after]));
    // Of an append there are moments at which half is there: they are what is undone.
    expect(found.includes("old content and new")).toBe(operation === "append");
  });
});

describe("a start", () => {
  it("removes leftovers in every directory, and nothing else", async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, "dir", "deep"), { recursive: true });
    const leftovers = [await abandoned(root), await abandoned(join(root, "dir", "deep"))];
    const kept = [".filement-notes.tmp", "a.tmp", ".hidden"];
    for (const name of kept) await writeFile(join(root, name), "");
    await diskStorage(root).start?.();
    expect((await readdir(root)).sort()).toEqual([...kept, "dir"].sort());
    expect(await readdir(join(root, "dir", "deep"))).toEqual([]);
    expect(leftovers).toHaveLength(2);
  });

  it("does not follow links", async () => {
    const parent = await temporaryDirectory();
    await Promise.all([mkdir(join(parent, "root")), mkdir(join(parent, "outside"))]);
    await abandoned(join(parent, "outside"));
    await symlink("../outside", join(parent, "root", "link"));
    await symlink("..", join(parent, "root", "up"));
    await diskStorage(join(parent, "root")).start?.();
    expect(await readdir(join(parent, "outside"))).toHaveLength(1);
  });

  it("leaves an upload under way alone", async () => {
    const root = await temporaryDirectory();
    const storage = diskStorage(root);
    const { slow, hasBegun, finish } = slowContent("slow");
    const writing = storage.write("/a.txt", slow);
    await hasBegun;
    const other = diskStorage(root);
    await other.start?.();
    await other.close?.();
    finish();
    await writing;
    expect(await textAt(storage, "/a.txt")).toBe("slow");
  });

  it("fails when the root is gone", async () => {
    const root = join(await temporaryDirectory(), "root");
    await mkdir(root);
    const storage = diskStorage(root);
    await rm(root, { recursive: true });
    await expect(storage.start?.()).rejects.toThrow("ENOENT");
  });
});

describe("a note about an append", () => {
  const old = "0123456789";
  const added = "abcdefghij".repeat(1000);

  /** What a process leaves that dies when the file has come to `found`. */
  async function cutAppend(found: string, { change = {}, note }: { change?: object; note?: Buffer } = {}) {
    const root = await temporaryDirectory({ "a.txt": found });
    const file = join(root, "a.txt");
    const { ino: inode } = await stat(file, { bigint: true });
    const before = { size: BigInt(old.length), mtimeNs: 1n, ctimeNs: 1n };
    const proof = { length: added.length, checksum: crc32(added), context: crc32(old) };
    const handle = await open(join(root, appendNoteName(inode)), "wx+");
    if (note) await handle.writeFile(note);
    else {
      const record = { name: "a.txt", before, ...proof, ...change };
      await handle.writeFile(Buffer.concat([noteRecord(record), Buffer.from(added)]));
    }
    await handle.close();
    return { root, file };
  }

  const ways: ReadonlyArray<[string, (root: string) => Promise<unknown>]> = [
    ["a start", async (root) => diskStorage(root).start?.()],
    ["a read", async (root) => textAt(diskStorage(root), "/a.txt")],
    ["an edit", async (root) => diskStorage(root).update("/a.txt", () => undefined)],
    ["an append", async (root) => diskStorage(root).append("/a.txt", content())],
  ];

  it.each(ways)("has %s take back what is not whole", async (_, touch) => {
    const { root, file } = await cutAppend(old + added.slice(0, 4000));
    await touch(root);
    expect(await textOf(file)).toBe(old);
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it.each(ways)("has %s leave what is whole, and what came after it", async (_, touch) => {
    const { root, file } = await cutAppend(`${old}${added} and more`);
    await touch(root);
    expect(await textOf(file)).toBe(`${old}${added} and more`);
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it.each(ways)("has %s leave half of it where another program has added to that", async (_, touch) => {
    const half = `${old}${added.slice(0, 4000)}ANOTHER LINE`;
    const { root, file } = await cutAppend(half);
    await touch(root);
    expect(await textOf(file)).toBe(half);
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("says nothing to readers of another file that has got the inode number", async () => {
    const { root, file } = await cutAppend("another file");
    expect(await diskLocks.run(file, () => textAt(diskStorage(root), "/a.txt"))).toBe("another file");
  });

  it("is followed where the file system numbers its files anew", async () => {
    const { root, file } = await cutAppend(old + added.slice(0, 4000));
    const { ino } = await stat(file, { bigint: true });
    await rename(join(root, appendNoteName(ino)), join(root, appendNoteName(1n)));
    await diskStorage(root).start?.();
    expect(await textOf(file)).toBe(old);
  });

  it.each([
    ["may be written by others", (note: string) => chmod(note, 0o622)],
    ["has another name", (note: string) => link(note, `${note}.other`)],
  ])("is not followed when it %s", async (_, plant) => {
    const half = old + added.slice(0, 4000);
    const { root, file } = await cutAppend(half);
    await plant(join(root, appendNoteName((await stat(file, { bigint: true })).ino)));
    expect(await textAt(diskStorage(root), "/a.txt")).toBe(half);
  });

  it("is not followed by a storage that is only read, which shows what was before", async () => {
    const half = old + added.slice(0, 4000);
    const { root, file } = await cutAppend(half);
    const storage = diskStorage(root, { readOnly: true });
    await storage.start?.();
    expect([await textAt(storage, "/a.txt"), await textOf(file)]).toEqual([old, half]);
  });

  it("is not followed when it belongs to another user", { tags: ["root"] }, async () => {
    const half = old + added.slice(0, 4000);
    const { root, file } = await cutAppend(half);
    await chown(join(root, appendNoteName((await stat(file, { bigint: true })).ino)), 1234, 1234);
    expect(await textAt(diskStorage(root), "/a.txt")).toBe(half);
  });

  it("has zeros taken back that a power failure left in place of the content", async () => {
    const torn = added.slice(0, 4000) + "\0".repeat(2000) + added.slice(6000, 8000);
    const { root, file } = await cutAppend(old + torn);
    await diskStorage(root).start?.();
    expect(await textOf(file)).toBe(old);
  });

  it.each([
    ["holds other bytes", `${old}other bytes`, {}],
    ["was begun anew since", `9876543210${added.slice(0, 4000)}`, {}],
    ["was shortened since", "0123", {}],
    ["is not in its directory", old + added.slice(0, 4000), { name: "../a.txt" }],
    ["is gone", old + added.slice(0, 4000), { name: "gone.txt" }],
    ["has a name of 300 letters", old + added.slice(0, 4000), { name: "x".repeat(300) }],
    ["has a name with NUL", old + added.slice(0, 4000), { name: "a\0.txt" }],
    ["was negative", old + added.slice(0, 4000), { before: { size: -4n, mtimeNs: 1n, ctimeNs: 1n } }],
    ["got other content", old + added.slice(0, 4000), { checksum: 1 }],
    ["got a negative length", old + added.slice(0, 4000), { length: -3 }],
  ])("is removed and not followed when the file %s", async (_, found, change) => {
    const { root, file } = await cutAppend(found, { change });
    await diskStorage(root).start?.();
    expect(await textOf(file)).toBe(found);
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it.each([
    ["empty", Buffer.alloc(0)],
    ["short", Buffer.from("half a note")],
    ["of zeros", Buffer.alloc(5000)],
    ["of other JSON", Buffer.from("null".padEnd(3000))],
  ])("is removed and not followed when it is %s", async (_, note) => {
    const { root, file } = await cutAppend(old, { note });
    await diskStorage(root).start?.();
    expect(await textOf(file)).toBe(old);
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("stays where it is a directory, and hinders neither a start nor a reader", async () => {
    const root = await temporaryDirectory({ "a.txt": old });
    const name = appendNoteName((await stat(join(root, "a.txt"), { bigint: true })).ino);
    await mkdir(join(root, name));
    await diskStorage(root).start?.();
    expect(await textAt(diskStorage(root), "/a.txt")).toBe(old);
    await expect(diskStorage(root).append("/a.txt", content("more"))).rejects.toMatchObject({ code: "forbidden" });
    expect((await readdir(root)).sort()).toEqual([name, "a.txt"].sort());
    expect(await textOf(join(root, "a.txt"))).toBe(old);
  });

  it("is left to a process that is at work on the file, whose old version is read meanwhile", async () => {
    const half = old + added.slice(0, 4000);
    const { root, file } = await cutAppend(half);
    await diskLocks.run(file, async () => {
      await diskStorage(root).start?.();
      expect(await textAt(diskStorage(root), "/a.txt")).toBe(old);
    });
    expect(await textOf(file)).toBe(half);
  });

  it("does not keep an empty directory from being removed", async () => {
    const root = await temporaryDirectory();
    const directory = join(root, "dir");
    await mkdir(directory);
    await writeFile(join(directory, appendNoteName(7n)), "half a note");
    await diskStorage(root).remove("/dir/");
    expect(await readdir(root)).toEqual([]);
  });
});

/** Leaves a temporary file in a directory, as a process of another machine does that died long ago. */
async function abandoned(directory: string): Promise<string> {
  const path = join(directory, ".filement-00000000-1-ab.tmp");
  await writeFile(path, "half");
  const longAgo = (Date.now() - abandonedAfterMs) / 1000 - 1;
  await utimes(path, longAgo, longAgo);
  return path;
}
