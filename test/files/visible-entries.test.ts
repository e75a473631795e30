import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { ClientSlice, measureEntries, type TreeLimits, visibleTree } from "../../src/files/visible-entries.ts";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Storage, StorageError, type StoredEntry } from "../../src/storage/storage.ts";
import { type Asked, fileRequest } from "../helpers/file-request.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { onDisk } from "../helpers/test-site.ts";

const plenty: TreeLimits = { maxEntries: 1000, maxBytes: 1000 };
const notes = { "/n/a.txt": "12345", "/n/b/c.txt": "678", "/n/b/d/e.txt": "9", "/other.txt": "" };

async function pathsBelow(
  storage: Storage,
  path: string,
  asked: Asked & { readonly limits?: Partial<TreeLimits> } = {},
): Promise<string[]> {
  const { limits } = asked;
  const request = await fileRequest(storage, path, asked);
  const tree = await visibleTree(request, { ...plenty, ...limits });
  return tree.map((entry) => entry.path);
}

describe("everything below a directory", () => {
  it("has directories first, each before those in it", async () => {
    const found = ["/n/b/", "/n/b/d/", "/n/a.txt", "/n/b/c.txt", "/n/b/d/e.txt"];
    expect(await pathsBelow(memoryStorage(notes), "/n/")).toEqual(found);
  });

  it("is held without sizes and dates", async () => {
    const tree = await visibleTree(await fileRequest(memoryStorage(notes), "/n/"), plenty);
    expect(tree).toContainEqual({ type: "file", path: "/n/a.txt" });
  });

  it("is without what asks who the client is on its own", async () => {
    const isGuardedAlike = (path: string, other: string): boolean => path === "/n/" && !other.startsWith("/n/b/d/");
    expect(await pathsBelow(memoryStorage(notes), "/n/", { isGuardedAlike })).not.toContain("/n/b/d/");
  });

  it("is without what links to directories lead to, and without links out of the root", async () => {
    const directory = await temporaryDirectory();
    const outside = await temporaryDirectory();
    await onDisk(outside, { "/secret.txt": "s" });
    await onDisk(directory, { "/a/b.txt": "b" });
    await symlink(outside, join(directory, "out"));
    await symlink(join(outside, "secret.txt"), join(directory, "a/s.txt"));
    await symlink(join(directory, "a"), join(directory, "again"));
    await symlink("..", join(directory, "a/up"));
    await symlink("b.txt", join(directory, "a/c.txt"));
    expect(await pathsBelow(diskStorage(directory), "/")).toEqual(["/a/", "/a/b.txt", "/a/c.txt"]);
  });

  it("is without a directory that has gone, or cannot be read, by the time it is its turn", async () => {
    const storage = memoryStorage(notes);
    const list: Storage["list"] = (path) => {
      if (path === "/n/b/") throw new StorageError("forbidden");
      return storage.list(path);
    };
    expect(await pathsBelow({ ...storage, list }, "/n/")).toEqual(["/n/a.txt"]);
  });

  it("is no longer looked for when the client has left, also where it may see none of it", async () => {
    const request = await fileRequest(memoryStorage(notes), "/n/", { permits: () => false });
    await expect(visibleTree(request, plenty, {}, new ClientSlice(AbortSignal.abort()))).rejects.toThrow("has left");
  });

  it.each([
    [{ maxEntries: 5 }, undefined],
    [{ maxEntries: 4 }, "It has more than 4 files and folders."],
    [{ maxBytes: 9 }, undefined],
    [{ maxBytes: 8 }, "Its files have more than 8 bytes."],
  ])("is refused with 413 beyond the limits: %o", async (limits, problem) => {
    const walking = pathsBelow(memoryStorage(notes), "/n/", { limits });
    if (problem === undefined) return expect(await walking).toHaveLength(5);
    const details = expect.stringContaining(problem);
    return expect(walking).rejects.toMatchObject({ status: 413, code: "DIRECTORY_TOO_LARGE", message: details });
  });
});

const file = (name: string): StoredEntry => ({ name, type: "file" });

async function measured(storage: Pick<Storage, "stat">, names: readonly StoredEntry[]): Promise<string[]> {
  const found: string[] = [];
  for await (const batch of measureEntries(storage, "/d/", names)) {
    for (const { name, type, stat } of batch) found.push(`${name} ${type} ${stat.size}`);
  }
  return found;
}

describe("measureEntries", () => {
  test("tells what stat tells, in the order of the names", async () => {
    const storage = memoryStorage({ "/d/b": "four", "/d/a": "xx", "/d/sub/c": "" });
    const names = [file("b"), { name: "sub", type: "directory" } as const, file("a")];
    expect(await measured(storage, names)).toEqual(["b file 4", "sub directory 0", "a file 2"]);
  });

  test.each([new StorageError("busy"), new Error("the disk is broken")])(
    "fails where stat fails: %s",
    async (error) => {
      const stat = async (): Promise<never> => {
        throw error;
      };
      await expect(measured({ stat }, [file("a")])).rejects.toBe(error);
    },
  );

  test("measures no more than a reader has asked for", async () => {
    const asked: string[] = [];
    const stat = async (path: string): Promise<undefined> => {
      asked.push(path);
    };
    const names = Array.from({ length: 1000 }, (_, i) => file(`f${i}`));
    const batches = measureEntries({ stat }, "/d/", names);
    await batches.next();
    await batches.return(undefined);
    expect(asked.length).toBeLessThan(100);
  });
});
