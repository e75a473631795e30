import { mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { liesInPlace } from "../../../src/storage/disk/directory.ts";
import { enterDirectory, leaveDirectory, type OpenDirectory } from "../../../src/storage/disk/open-directory.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { openedDirectory } from "../content.ts";

async function opened(real: string): Promise<OpenDirectory> {
  const directory = await openedDirectory(real);
  onTestFinished(() => leaveDirectory(directory));
  return directory;
}

describe("an open directory", () => {
  it("is not opened by way of a link", async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, "real", "below"), { recursive: true });
    await symlink("real", join(root, "link"));
    expect(await enterDirectory(join(root, "link"))).toBeUndefined();
    expect(await enterDirectory(join(root, "link", "below"))).toBeUndefined();
  });

  it("stays the same directory when a link takes its place", { tags: ["linux"] }, async () => {
    const parent = await temporaryDirectory();
    await Promise.all([mkdir(join(parent, "root")), mkdir(join(parent, "outside"))]);
    const directory = await opened(join(parent, "root"));
    expect(liesInPlace(directory)).toBe(true);
    await rename(join(parent, "root"), join(parent, "moved"));
    await symlink("outside", join(parent, "root"));
    await writeFile(directory.at("a.txt"), "a");
    expect(await readdir(join(parent, "moved"))).toEqual(["a.txt"]);
    expect(await readdir(join(parent, "outside"))).toEqual([]);
    expect(liesInPlace(directory)).toBe(false);
  });
});
