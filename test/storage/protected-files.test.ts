import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { ProtectedFiles } from "../../src/storage/protected-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

describe("protected files", () => {
  it("are hidden in storages that were known before and that come later", async () => {
    const root = await temporaryDirectory();
    const secret = join(root, "users.html");
    await writeFile(secret, "secret");
    const files = new ProtectedFiles();
    const [before, after] = [diskStorage(root), diskStorage(root)];
    await files.cover(before);
    expect(await before.stat("/users.html")).toMatchObject({ type: "file" });
    await files.protect(secret);
    await files.cover(after);
    expect(await Promise.all([before, after].map((storage) => storage.stat("/users.html")))).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("are looked for once, however many storages there are", async () => {
    const root = await temporaryDirectory();
    const told: unknown[] = [];
    const storage = () => ({ ...memoryStorage(), protect: async (_: string, names: unknown) => void told.push(names) });
    const files = new ProtectedFiles();
    for (const each of [storage(), storage()]) await files.cover(each);
    await files.protect(join(root, "Users.html"));
    await files.cover(storage());
    expect(told).toEqual(Array(3).fill(Array(2).fill(join(root, "users.html").toLowerCase())));
    expect(new Set(told).size).toBe(1);
  });

  it("are no concern of a storage that is not on the disk", async () => {
    const files = new ProtectedFiles();
    const storage = memoryStorage({ "/a.txt": "a" });
    await files.cover(storage);
    await files.protect("/a.txt");
    expect(await storage.stat("/a.txt")).toMatchObject({ type: "file" });
  });
});
