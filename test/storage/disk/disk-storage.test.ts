import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
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
    expect(() => diskStorage("")).toThrow('root: "" does not exist');
  });

  it("refuses a root that is a file", async () => {
    const root = join(await directoryWith({ "/a.txt": "" }), "a.txt");
    expect(() => diskStorage(root)).toThrow("is not a directory");
  });
});

describe("a disk storage without fsync", () => {
  storageContract(async (files = {}) => diskStorage(await directoryWith(files), { durability: "rename" }));
});
