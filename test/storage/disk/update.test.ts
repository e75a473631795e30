import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { namesAt } from "../content.ts";

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
    const root = await temporaryDirectory();
    const file = join(root, "a.txt");
    await writeFile(file, "old");
    const seen: string[] = [];
    const result = await diskStorage(root).update("/a.txt", async (bytes) => {
      seen.push(Buffer.from(bytes).toString());
      if (seen.length === 1) await change(file, "newer");
      return addX(bytes);
    });
    expect(seen).toEqual(["old", "newer"]);
    expect(await readFile(file, "utf8")).toBe("newerx");
    expect(result).toMatchObject({ changed: true, stat: { size: 6 } });
  });

  it("gives up with conflict when the file never stays the same", async () => {
    const root = await temporaryDirectory();
    const file = join(root, "a.txt");
    await writeFile(file, "0");
    let count = 0;
    const updating = diskStorage(root).update("/a.txt", async (bytes) => {
      count += 1;
      await writeFile(file, String(count).padEnd(count, "-"));
      return addX(bytes);
    });
    await expect(updating).rejects.toMatchObject({ name: "StorageError", code: "conflict" });
    expect(count).toBe(5);
    expect(await readFile(file, "utf8")).toBe("5----");
    expect(await namesAt(diskStorage(root), "/")).toEqual(["a.txt"]);
  });

  it("does not bring back a file that was removed meanwhile", async () => {
    const root = await temporaryDirectory();
    await writeFile(join(root, "a.txt"), "old");
    const updating = diskStorage(root).update("/a.txt", async (bytes) => {
      await rm(join(root, "a.txt"));
      return addX(bytes);
    });
    await expect(updating).rejects.toMatchObject({ code: "not-found" });
    expect(await namesAt(diskStorage(root), "/")).toEqual([]);
  });

  it("keeps the mode of the file", async () => {
    const root = await temporaryDirectory();
    await writeFile(join(root, "a.txt"), "old", { mode: 0o640 });
    await diskStorage(root).update("/a.txt", addX);
    expect((await stat(join(root, "a.txt"))).mode & 0o777).toBe(0o640);
  });

  it("waits for edits through another storage of the same directory", async () => {
    const root = await temporaryDirectory();
    await writeFile(join(root, "a.txt"), "");
    const storages = [diskStorage(root), diskStorage(root)];
    await Promise.all(storages.flatMap((storage) => Array.from({ length: 20 }, () => storage.update("/a.txt", addX))));
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("x".repeat(40));
  });
});
