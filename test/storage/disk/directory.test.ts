import { mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Elsewhere, liesInPlace, within } from "../../../src/storage/disk/directory.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("an open directory", () => {
  it("is not opened by way of a link", async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, "real", "below"), { recursive: true });
    await symlink("real", join(root, "link"));
    for (const location of [join(root, "link"), join(root, "link", "below")])
      await expect(within(location, async () => "entered")).rejects.toThrow(Elsewhere);
  });

  it("stays the same directory when a link takes its place", { tags: ["linux"] }, async () => {
    const parent = await temporaryDirectory();
    await Promise.all([mkdir(join(parent, "root")), mkdir(join(parent, "outside"))]);
    const isInPlace = await within(join(parent, "root"), async (directory) => {
      const before = liesInPlace(directory);
      await rename(join(parent, "root"), join(parent, "moved"));
      await symlink("outside", join(parent, "root"));
      await writeFile(directory.at("a.txt"), "a");
      return [before, liesInPlace(directory)];
    });
    expect(isInPlace).toEqual([true, false]);
    expect(await readdir(join(parent, "moved"))).toEqual(["a.txt"]);
    expect(await readdir(join(parent, "outside"))).toEqual([]);
  });
});
