import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { leaveDirectory } from "../../../src/storage/disk/open-directory.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { openedDirectory, textAt } from "../content.ts";
import { storageContract } from "../contract.ts";

async function directoryWith(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryDirectory();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

describe("a disk storage", () => {
  storageContract(async (files = {}) => diskStorage(await directoryWith(files)));

  it("refuses a root that does not exist", async () => {
    const root = join(await temporaryDirectory(), "no");
    expect(() => diskStorage(root)).toThrow(`root: ${JSON.stringify(root)} does not exist`);
  });

  it("refuses a root that is a file", async () => {
    const root = join(await directoryWith({ "/a.txt": "" }), "a.txt");
    expect(() => diskStorage(root)).toThrow("is not a directory");
  });
});

describe("a disk storage without fsync", () => {
  storageContract(async (files = {}) => diskStorage(await directoryWith(files), { durability: "rename" }));

  it("is opened with frozen options", async () => {
    const root = await directoryWith({ "/a.txt": "hello" });
    const storage = diskStorage(root, Object.freeze({ durability: "rename" }));
    await storage.start?.();
    expect(await textAt(storage, "/a.txt")).toBe("hello");
    await storage.close?.();
  });
});

describe("a look at a path whose directory somebody has open", { tags: ["linux"] }, () => {
  it("tells what it tells otherwise", async () => {
    const parent = await directoryWith({ "/root/a.txt": "a", "/root/dir/b.txt": "b", "/secret.txt": "secret" });
    const root = join(parent, "root");
    await symlink("a.txt", join(root, "inside.txt"));
    await symlink("../secret.txt", join(root, "outside.txt"));
    const storage = diskStorage(root);
    const paths = ["/a.txt", "/a.txt/", "/dir", "/dir/", "/inside.txt", "/outside.txt", "/missing.txt", "/"];
    const all = () => Promise.all(paths.map(async (path) => ({ ...(await storage.stat(path)) })));
    const before = await all();
    const directory = await openedDirectory(root);
    onTestFinished(() => leaveDirectory(directory));
    expect(await all()).toEqual(before);
  });

  it("does not see what was moved away with that directory", async () => {
    const root = await directoryWith({ "/dir/a.txt": "a" });
    const storage = diskStorage(root);
    const directory = await openedDirectory(join(root, "dir"));
    onTestFinished(() => leaveDirectory(directory));
    await rename(join(root, "dir"), join(root, "moved"));
    expect(await storage.stat("/dir/a.txt")).toBeUndefined();
  });
});
