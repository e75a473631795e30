import { execFile } from "node:child_process";
import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import type { Content } from "../../../src/storage/storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { compiled } from "../compiled.ts";
import { brokenContent, content, namesAt, withBytes } from "../content.ts";

const run = promisify(execFile);
const fullDisk = compiled("full-disk");
const refuses = (code: string) => expect.objectContaining({ name: "StorageError", code });
/** More than is held in memory: received into a temporary file. */
const long = Buffer.alloc(100_000, "x");
const temporaryName = ".filement-0123abcd-1-ff.tmp";

async function rootWith(text: string, mode = 0o644): Promise<{ root: string; file: string }> {
  const root = await temporaryDirectory({ "a.txt": text });
  const file = join(root, "a.txt");
  await chmod(file, mode);
  return { root, file };
}

describe("a write to the disk", () => {
  it.each([0o600, 0o664, 0o755])("keeps the mode of the file it replaces (%o)", async (mode) => {
    const { root, file } = await rootWith("old", mode);
    await diskStorage(root).write("/a.txt", content("new"));
    expect((await stat(file)).mode & 0o7777).toBe(mode);
  });

  it("keeps the owner of the file it replaces", { tags: ["root"] }, async () => {
    const { root, file } = await rootWith("old", 0o4755);
    await chown(file, 1234, 5678);
    await chmod(file, 0o4755);
    await diskStorage(root).write("/a.txt", content("new"));
    expect(await stat(file)).toMatchObject({ uid: 1234, gid: 5678 });
    expect((await stat(file)).mode & 0o7777).toBe(0o755);
  });

  it("gives a new file the mode that every new file gets", async () => {
    const root = await temporaryDirectory({ "other.txt": "" });
    await diskStorage(root).write("/a.txt", content("new"));
    expect((await stat(join(root, "a.txt"))).mode).toBe((await stat(join(root, "other.txt"))).mode);
  });

  it("keeps the new content of a private file private while it arrives", async () => {
    const { root } = await rootWith("old", 0o600);
    const modes: number[] = [];
    async function* looking(): Content {
      yield long;
      for (const name of await readdir(root)) modes.push((await lstat(join(root, name))).mode & 0o777);
    }
    await diskStorage(root).write("/a.txt", looking());
    expect(modes).toEqual([0o600, 0o600]);
  });

  it("neither shows nor touches temporary files", async () => {
    const { root } = await rootWith("old");
    await writeFile(join(root, temporaryName), "half");
    const storage = diskStorage(root);
    for (const path of [`/${temporaryName}`, `/${temporaryName}/a.txt`, `/new/${temporaryName.toUpperCase()}`]) {
      expect(await storage.stat(path)).toBeUndefined();
      expect(await storage.open(path)).toBeUndefined();
      await expect(storage.write(path, content("x"))).rejects.toEqual(refuses("forbidden"));
      await expect(storage.remove(path)).rejects.toEqual(refuses("forbidden"));
    }
    expect(await readFile(join(root, temporaryName), "utf8")).toBe("half");
  });

  it("removes the directories it made when it fails in the end", async () => {
    const root = await temporaryDirectory();
    const path = `/new/deep/${"x".repeat(300)}`;
    await expect(diskStorage(root).write(path, content("x"))).rejects.toEqual(refuses("name-too-long"));
    expect(await readdir(root)).toEqual([]);
  });

  it("makes directories again that were removed while the content arrived", async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, "dir"));
    const storage = diskStorage(root);
    async function* making(): Content {
      yield Buffer.from("x");
      await storage.write("/new/other.txt", content("y"));
      await storage.remove("/new/other.txt");
      await storage.remove("/new");
    }
    await storage.write("/new/a.txt", making());
    expect(await readFile(join(root, "new", "a.txt"), "utf8")).toBe("x");
  });

  it("says conflict when its directory was removed with all it held", async () => {
    const { root } = await rootWith("old");
    await mkdir(join(root, "dir"));
    async function* removing(): Content {
      yield long;
      await rm(join(root, "dir"), { recursive: true });
    }
    await expect(diskStorage(root).write("/dir/a.txt", removing())).rejects.toEqual(refuses("conflict"));
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it.each(["/a.txt", "/new/b.txt"])("says full when the disk is, and leaves nothing behind (%s)", async (path) => {
    const { root, file } = await rootWith("old");
    const error = Object.assign(new Error("no space"), { code: "ENOSPC" });
    await expect(diskStorage(root).write(path, brokenContent("x", error))).rejects.toEqual(refuses("full"));
    expect(await readdir(root)).toEqual(["a.txt"]);
    expect(await readFile(file, "utf8")).toBe("old");
  });

  it("changes nothing when the system refuses to store so much", { tags: ["posix"] }, async () => {
    const old = "o".repeat(7000);
    const { root, file } = await rootWith(old);
    // 16 blocks of 512 bytes, 8 KiB: the shell's own measure.
    const { stdout } = await run("sh", ["-c", 'ulimit -f 16 && exec "$0" "$@"', process.execPath, fullDisk(), root]);
    expect(JSON.parse(stdout)).toEqual(["full", "full", "full", "full", "full"]);
    expect(await readFile(file, "utf8")).toBe(old);
    expect(await readdir(root)).toEqual(["a.txt"]);
  });
});

const addX = (bytes: Uint8Array): Uint8Array => Buffer.concat([bytes, Buffer.from("x")]);

describe("an edit on the disk", () => {
  it.each([
    ["in place", (file: string, text: string) => writeFile(file, text)],
    [
      "by renaming",
      async (file: string, text: string) => {
        await writeFile(`${file}.new`, text);
        await rename(`${file}.new`, file);
      },
    ],
  ])("is redone when another program changed the file %s", async (_, change) => {
    const root = await temporaryDirectory({ "a.txt": "old" });
    const file = join(root, "a.txt");
    const seen: string[] = [];
    const result = await diskStorage(root).update(
      "/a.txt",
      withBytes(async (bytes) => {
        seen.push(Buffer.from(bytes).toString());
        if (seen.length === 1) await change(file, "newer");
        return addX(bytes);
      }),
    );
    expect(seen).toEqual(["old", "newer"]);
    expect(await readFile(file, "utf8")).toBe("newerx");
    expect(result).toMatchObject({ changed: true, stat: { size: 6 } });
  });

  it("gives up with conflict when the file never stays the same", async () => {
    const root = await temporaryDirectory({ "a.txt": "0" });
    const file = join(root, "a.txt");
    let count = 0;
    const updating = diskStorage(root).update(
      "/a.txt",
      withBytes(async (bytes) => {
        count += 1;
        await writeFile(file, String(count).padEnd(count, "-"));
        return addX(bytes);
      }),
    );
    await expect(updating).rejects.toMatchObject({ name: "StorageError", code: "conflict" });
    expect(count).toBe(5);
    expect(await readFile(file, "utf8")).toBe("5----");
    expect(await namesAt(diskStorage(root), "/")).toEqual(["a.txt"]);
  });

  it("does not bring back a file that was removed meanwhile", async () => {
    const root = await temporaryDirectory({ "a.txt": "old" });
    const updating = diskStorage(root).update(
      "/a.txt",
      withBytes(async (bytes) => {
        await rm(join(root, "a.txt"));
        return addX(bytes);
      }),
    );
    await expect(updating).rejects.toMatchObject({ code: "not-found" });
    expect(await namesAt(diskStorage(root), "/")).toEqual([]);
  });
});
