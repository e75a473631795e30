import { readdir, rm } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("the check of a disk", () => {
  it.each(["fsync", "rename"] as const)(
    "passes where files can be stored, and leaves nothing behind: %s",
    async (durability) => {
      const root = await temporaryDirectory();
      await diskStorage(root, { durability }).check?.();
      expect(await readdir(root)).toEqual([]);
    },
  );

  it("fails where the directory is gone", async () => {
    const root = await temporaryDirectory();
    const storage = diskStorage(root);
    await rm(root, { recursive: true });
    await expect(storage.check?.()).rejects.toThrow();
  });
});
