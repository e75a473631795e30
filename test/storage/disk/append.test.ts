import { type FileHandle, open, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { content, textAt } from "../content.ts";

async function rootWith(text: string): Promise<{ root: string; file: string }> {
  const root = await temporaryDirectory();
  const file = join(root, "a.txt");
  await writeFile(file, text);
  return { root, file };
}

/** What all open files of this process have their methods from. */
async function fileHandles(file: string): Promise<FileHandle> {
  const handle = await open(file);
  await handle.close();
  return Object.getPrototypeOf(handle);
}

/** Has `look` called before every sync of a file or directory. */
async function beforeEverySync(file: string, look: () => Promise<void>): Promise<void> {
  const handles = await fileHandles(file);
  const { sync } = handles;
  vi.spyOn(handles, "sync").mockImplementation(async function (this: FileHandle) {
    await look();
    return sync.call(this);
  });
  onTestFinished(() => void vi.restoreAllMocks());
}

describe("an append on the disk", () => {
  it("keeps the file itself, with its mode and its other names", async () => {
    const { root, file } = await rootWith("old");
    const before = await stat(file);
    await diskStorage(root).append("/a.txt", content(" new"));
    const after = await stat(file);
    expect([after.ino, after.mode]).toEqual([before.ino, before.mode]);
  });

  it("is seen by readers as a whole or not at all", async () => {
    const { root, file } = await rootWith("old");
    const storage = diskStorage(root);
    const before = await storage.stat("/a.txt");
    const onDisk: string[] = [];
    const seen: unknown[] = [];
    await beforeEverySync(file, async () => {
      onDisk.push(await readFile(file, "utf8"));
      seen.push([await textAt(storage, "/a.txt"), { ...(await storage.stat("/a.txt")) }]);
    });
    await storage.append("/a.txt", content(" new"));
    expect(onDisk).toContain("old new");
    expect(seen).toEqual(onDisk.map(() => ["old", { ...before }]));
    expect(await textAt(storage, "/a.txt")).toBe("old new");
  });

  it("is taken back when it fails half-way", async () => {
    const { root, file } = await rootWith("old");
    const storage = diskStorage(root);
    const handles = await fileHandles(file);
    const { appendFile } = handles;
    const error = Object.assign(new Error("no space"), { code: "ENOSPC" });
    let half = "";
    vi.spyOn(handles, "appendFile").mockImplementation(async function (this: FileHandle, bytes) {
      if ((await this.stat()).ino !== (await stat(file)).ino) return appendFile.call(this, bytes);
      await appendFile.call(this, bytes.slice(0, 2));
      half = await readFile(file, "utf8");
      throw error;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    await expect(storage.append("/a.txt", content(" new"))).rejects.toMatchObject({ code: "full", cause: error });
    expect(half).toBe("old n");
    expect(await textAt(storage, "/a.txt")).toBe("old");
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("does not overwrite what another program adds at the same time", async () => {
    const { root, file } = await rootWith("old");
    let hasAdded = false;
    await beforeEverySync(file, async () => {
      if (!hasAdded) await writeFile(file, " other", { flag: "a" });
      hasAdded = true;
    });
    await diskStorage(root).append("/a.txt", content(" new"));
    expect(await readFile(file, "utf8")).toBe("old other new");
  });

  it("adds more than it copies at a time", async () => {
    const { root } = await rootWith("old");
    const piece = Buffer.alloc(300_000, "x");
    const { stat: after } = await diskStorage(root).append("/a.txt", content(piece, piece, piece));
    expect(after.size).toBe(900_003);
  });
});
