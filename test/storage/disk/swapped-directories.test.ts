import { mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { isCampaign } from "../../helpers/effort.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { eachSwap, operations, outsideBefore } from "../swapped-directories.ts";

/** Between the system calls that `npm test` tries. */
const stride = isCampaign ? 1 : 3;

describe.each(["for good", "for one call"] as const)(
  "a directory that is swapped for a link %s",
  { tags: ["linux"] },
  (swap) => {
    it.each(Object.keys(operations))("lets %s neither show nor change what lies outside", async (name) => {
      for await (const { step, outside } of eachSwap(name, swap, stride))
        expect([step, outside]).toEqual([step, { ...outsideBefore, empty: [] }]);
    });
  },
);

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
