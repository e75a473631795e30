import { mkdir, readdir, readlink, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
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

describe("a directory that several use at once", { tags: ["linux"] }, () => {
  it("is opened once, and closed when the last one leaves", async () => {
    const root = await temporaryDirectory();
    const [one, other] = [await OpenDirectory.open(root), await OpenDirectory.open(root)];
    const first = one.at("a");
    expect(other.at("a")).toBe(first);
    await one.close();
    await one.close();
    expect(await other.isInPlace()).toBe(true);
    await other.close();
    await expect(readlink(dirname(first))).rejects.toThrow();
  });

  it("is opened anew where another has taken its place", async () => {
    const root = await temporaryDirectory();
    const location = join(root, "a");
    await mkdir(location);
    const before = await opened(location);
    await rename(location, join(root, "b"));
    await mkdir(location);
    const after = await opened(location);
    expect([await before.isInPlace(), await after.isInPlace()]).toEqual([false, true]);
    expect((await opened(location)).at("x")).toBe(after.at("x"));
  });
});
