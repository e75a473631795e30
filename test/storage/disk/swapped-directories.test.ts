import syncFs from "node:fs";
import fs, { mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { content, namesAt, textAt } from "../content.ts";

interface Swapped {
  readonly root: string;
  readonly outside: string;
  readonly storage: Storage;
}

/**
 * A storage in which, right before the system call of that number, `/dir` is swapped for a link to a directory outside the
 * root that holds files of the same names. The calls begin to count with the first after this.
 */
async function swapping(step: number): Promise<Swapped & { hasSwapped(): boolean }> {
  const parent = await temporaryDirectory();
  const [root, outside] = [join(parent, "root"), join(parent, "outside")];
  for (const directory of [join(root, "dir"), outside]) {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "a.txt"), directory === outside ? "SECRET" : "public");
  }
  const storage = diskStorage(root);
  let count = 0;
  const originals = { ...fs };
  const { readlinkSync } = syncFs;
  const beforeCall = (): void => {
    count += 1;
    if (count !== step) return;
    syncFs.renameSync(join(root, "dir"), join(root, "moved"));
    syncFs.symlinkSync(outside, join(root, "dir"));
  };
  for (const name of ["open", "lstat", "realpath", "rename", "link", "unlink", "opendir"] as const) {
    const original = fs[name] as (...values: unknown[]) => Promise<unknown>;
    Object.assign(fs, {
      [name]: async (...values: unknown[]) => {
        beforeCall();
        return original(...values);
      },
    });
  }
  Object.assign(syncFs, {
    readlinkSync(path: string) {
      beforeCall();
      return readlinkSync(path);
    },
  });
  const restore = (): void => {
    Object.assign(fs, originals);
    Object.assign(syncFs, { readlinkSync });
    syncBuiltinESMExports();
  };
  syncBuiltinESMExports();
  onTestFinished(restore);
  return {
    root,
    outside,
    storage,
    hasSwapped() {
      restore();
      return count >= step;
    },
  };
}

const operations: Record<string, (storage: Storage) => Promise<unknown>> = {
  read: (storage) => textAt(storage, "/dir/a.txt"),
  list: (storage) => namesAt(storage, "/dir/"),
  write: (storage) => storage.write("/dir/a.txt", content("written")),
  create: (storage) => storage.write("/dir/b.txt", content("created"), { exclusive: true }),
  "create below": (storage) => storage.write("/dir/new/deep/b.txt", content("created")),
  append: (storage) => storage.append("/dir/a.txt", content("appended")),
  update: (storage) => storage.update("/dir/a.txt", (bytes) => Buffer.concat([bytes, Buffer.from("edited")])),
  remove: (storage) => storage.remove("/dir/a.txt"),
};

describe("a directory that is swapped for a link at any moment of an operation", { tags: ["linux"] }, () => {
  it.each(Object.keys(operations))("lets %s neither show nor change what lies outside", async (name) => {
    let step = 1;
    for (let isSwapped = true; isSwapped; step += 1) {
      const { outside, storage, hasSwapped } = await swapping(step);
      const outcome = await operations[name]?.(storage).catch((error: Error) => error.name);
      isSwapped = hasSwapped();
      expect([step, JSON.stringify(outcome) ?? ""]).toEqual([step, expect.not.stringContaining("SECRET")]);
      expect([step, await readdir(outside)]).toEqual([step, ["a.txt"]]);
      expect([step, await readFile(join(outside, "a.txt"), "utf8")]).toEqual([step, "SECRET"]);
    }
    expect(step).toBeGreaterThan(3);
  });
});

describe("a link that lies outside the root", () => {
  it("is not removed, though it leads back into the root by way of another", async () => {
    const parent = await temporaryDirectory();
    const [root, outside] = [join(parent, "root"), join(parent, "outside")];
    await Promise.all([mkdir(root), mkdir(outside)]);
    await writeFile(join(root, "a.txt"), "a");
    await symlink(outside, join(root, "out"));
    await symlink(join(root, "a.txt"), join(outside, "back.txt"));
    await expect(diskStorage(root).remove("/out/back.txt")).rejects.toMatchObject({ code: "forbidden" });
    expect(await readdir(outside)).toEqual(["back.txt"]);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("a");
    await rename(join(outside, "back.txt"), join(root, "inside.txt"));
    await diskStorage(root).remove("/inside.txt");
    expect((await readdir(root)).sort()).toEqual(["a.txt", "out"]);
  });
});
