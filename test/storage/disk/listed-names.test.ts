import fs, { mkdir, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { foldedName, ListedNames } from "../../../src/storage/disk/listed-names.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

/** A root with files, in a disk that finds them by the names that `fold` takes for one; counts the looks at names. */
async function place(files: readonly string[], fold: (name: string) => string = (name) => name) {
  const root = await temporaryDirectory();
  for (const path of files) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), "");
  }
  const counts = { looks: 0, lists: 0 };
  const { lstat, readdir } = fs;
  const found = async (location: string): Promise<string> => {
    if (location.length <= root.length) return location;
    const directory = await found(dirname(location));
    const names = await readdir(directory).catch(() => []);
    const name = basename(location);
    return join(directory, names.find((each) => fold(each) === fold(name)) ?? name);
  };
  Object.assign(fs, {
    lstat: async (location: string) => {
      counts.looks += 1;
      return lstat(await found(location));
    },
    readdir: async (location: string) => {
      counts.lists += 1;
      return readdir(await found(location));
    },
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { lstat, readdir });
    syncBuiltinESMExports();
  });
  const names = new ListedNames(root);
  const listed = async (path: string) => (await names.listed(join(root, path)))?.slice(root.length);
  return { counts, listed, isKnown: (path: string) => names.isKnown(join(root, path)) };
}

describe("a name as its directory lists it", () => {
  it("is the name itself where others are other files, which is found out once for each directory", async () => {
    const { counts, listed, isKnown } = await place(["/dir/a.txt", "/dir/b.txt", "/dir/2024/05.html"]);
    expect(isKnown("/dir/a.txt")).toBe(false);
    expect([await listed("/dir/a.txt"), await listed("/Dir/a.txt")]).toEqual(["/dir/a.txt", "/Dir/a.txt"]);
    const { looks } = counts;
    for (const path of ["/dir/b.txt", "/dir/B.txt", "/dir/no.txt", "/dir/2024"]) {
      expect([isKnown(path), await listed(path)]).toEqual([true, path]);
    }
    expect([counts.looks, counts.lists]).toEqual([looks, 0]);
  });

  it.each([
    ["of another case", "/Dir/Name.txt", "/DIR/nAME.TXT", foldedName],
    ["beyond ASCII", "/\u00dcber/\u00c9.txt", "/\u00fcBER/\u00e9.TXT", foldedName],
    ["in another form of Unicode", "/dir/\u00e9.txt", "/dir/e\u0301.txt", (name: string) => name.normalize("NFD")],
  ])("is found by one %s", async (_what, path, asked, fold) => {
    const { listed } = await place([path], fold);
    expect([await listed(asked), await listed(path)]).toEqual([path, path]);
  });

  it("is known for a while, so that a large directory is not listed for each request", async () => {
    const { counts, listed, isKnown } = await place(["/a.txt"], foldedName);
    await listed("/a.txt");
    const { lists } = counts;
    await listed("/a.txt");
    expect([counts.lists, isKnown("/a.txt"), isKnown("/A.txt")]).toEqual([lists, true, false]);
  });

  it.each([
    ["/GIT~1/config", "/.git/config"],
    ["/12~1/config", "/.12/config"],
  ])("is none where a short one leads to something: %s", async (asked, path) => {
    const short = (name: string) => foldedName(name).replace(/^\.(git|12)$/, "$1~1");
    const { listed } = await place([path], short);
    expect([await listed(asked), await listed(path)]).toEqual([undefined, path]);
  });

  it("is each of two that differ in case only where the disk tells them apart", async () => {
    const { listed } = await place(["/a.txt", "/A.txt", "/A.TXT"]);
    for (const path of ["/a.txt", "/A.txt", "/A.TXT", "/a.TXT"]) expect(await listed(path)).toBe(path);
  });
});
