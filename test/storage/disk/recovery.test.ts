import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { abandonedAfterMs, TemporaryFile } from "../../../src/storage/disk/temporary-file.ts";
import type { Content } from "../../../src/storage/storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { compiled } from "../compiled.ts";
import { gate, textAt } from "../content.ts";

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
    for (let step = 1, isKilled = true; isKilled; step += 1) {
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
    const { opened: mayEnd, open } = gate();
    const { opened: hasBegun, open: begin } = gate();
    async function* slow(): Content {
      yield Buffer.from("slow");
      begin();
      await mayEnd;
    }
    const writing = storage.write("/a.txt", slow());
    await hasBegun;
    const other = diskStorage(root);
    await other.start?.();
    await other.close?.();
    open();
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

describe("an undo note", () => {
  it("is followed as long as the file is what the append made of it", async () => {
    const { root, inode } = await fileOf("0123456789");
    await noteIn(root, { name: "a.txt", inode, from: 4, to: 12 });
    await diskStorage(root).start?.();
    expect(await textOf(join(root, "a.txt"))).toBe("0123");
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it.each([
    ["was replaced since", { inode: "1" }],
    ["has grown further since", { to: 9 }],
    ["was shortened since", { from: 10 }],
    ["is not in its directory", { name: "../a.txt" }],
    ["is gone", { name: "gone.txt" }],
    ["is not named in it", { name: undefined }],
  ])("is ignored when the file %s", async (_, change) => {
    const { root, inode } = await fileOf("0123456789");
    await noteIn(root, { name: "a.txt", inode, from: 4, to: 12, ...change });
    await diskStorage(root).start?.();
    expect(await textOf(join(root, "a.txt"))).toBe("0123456789");
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("is ignored when it is not whole", async () => {
    const { root } = await fileOf("0123456789");
    await noteIn(root, undefined, '{"name":"a.t');
    await diskStorage(root).start?.();
    expect(await textOf(join(root, "a.txt"))).toBe("0123456789");
    expect(await readdir(root)).toEqual(["a.txt"]);
  });
});

async function fileOf(content: string): Promise<{ root: string; inode: string }> {
  const root = await temporaryDirectory();
  await writeFile(join(root, "a.txt"), content);
  return { root, inode: String((await stat(join(root, "a.txt"), { bigint: true })).ino) };
}

/** Leaves a temporary file in a directory, as a process does that dies. */
async function abandoned(directory: string, kind: "content" | "undo" = "content", text = "half"): Promise<string> {
  const file = await TemporaryFile.create(directory, kind);
  await file.receive([Buffer.from(text)]);
  const longAgo = (Date.now() - abandonedAfterMs) / 1000 - 1;
  await utimes(file.path, longAgo, longAgo);
  await file.handle.close();
  return file.path;
}

function noteIn(root: string, undo: unknown, text: string = JSON.stringify(undo)): Promise<string> {
  return abandoned(root, "undo", text);
}
