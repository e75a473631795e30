import { mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { OpenDirectory } from "../../../src/storage/disk/open-directory.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

async function opened(real: string): Promise<OpenDirectory> {
  const directory = await OpenDirectory.open(real);
  onTestFinished(() => directory.close());
  return directory;
}

describe("an open directory", () => {
  it("gives paths to what is in it", async () => {
    const root = await temporaryDirectory();
    const directory = await opened(root);
    await writeFile(directory.at("a.txt"), "a");
    expect(await readdir(root)).toEqual(["a.txt"]);
    expect(await directory.isInPlace()).toBe(true);
  });

  it("is not opened by way of a link", async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, "real", "below"), { recursive: true });
    await symlink("real", join(root, "link"));
    await expect(OpenDirectory.open(join(root, "link"))).rejects.toThrow();
    await expect((await opened(root)).openBelow("link")).rejects.toThrow();
    const below = await (await opened(root)).openBelow("real");
    onTestFinished(() => below.close());
    expect(below.real).toBe(join(root, "real"));
  });

  it("is not opened where a directory above it has become a link", { tags: ["linux"] }, async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, "real", "below"), { recursive: true });
    await symlink("real", join(root, "link"));
    await expect(OpenDirectory.open(join(root, "link", "below"))).rejects.toMatchObject({ code: "conflict" });
  });

  it("stays the same directory when a link takes its place", { tags: ["linux"] }, async () => {
    const parent = await temporaryDirectory();
    await Promise.all([mkdir(join(parent, "root")), mkdir(join(parent, "outside"))]);
    const directory = await opened(join(parent, "root"));
    await rename(join(parent, "root"), join(parent, "moved"));
    await symlink("outside", join(parent, "root"));
    await writeFile(directory.at("a.txt"), "a");
    expect(await readdir(join(parent, "moved"))).toEqual(["a.txt"]);
    expect(await readdir(join(parent, "outside"))).toEqual([]);
    expect(await directory.isInPlace()).toBe(false);
  });
});
