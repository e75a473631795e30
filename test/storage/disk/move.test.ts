import { link, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { content, textAt } from "../content.ts";

async function root() {
  const root = await temporaryDirectory();
  await mkdir(join(root, "dir"));
  await writeFile(join(root, "a.txt"), "a");
  await writeFile(join(root, "b.txt"), "b");
  return { root, storage: diskStorage(root) };
}

describe("a move on the disk", () => {
  it.each([
    ["/dir/new.txt", true],
    ["/b.txt", false],
  ])("is a rename of the same file to %s", async (to, created) => {
    const { root: at, storage } = await root();
    const { ino } = await stat(join(at, "a.txt"));
    const made = await storage.move?.("/a.txt", to);
    expect(made).toMatchObject({ created, stat: { size: 1 } });
    expect([(await stat(join(at, to))).ino, made?.stat.version]).toEqual([ino, (await storage.stat(to))?.version]);
    expect([await storage.stat("/a.txt"), await textAt(storage, to)]).toEqual([undefined, "a"]);
  });

  it.each(["check", "checkTarget"])("does nothing where the %s refuses", async (which) => {
    const { storage } = await root();
    const refuse = () => {
      throw new Error("refused");
    };
    await expect(storage.move?.("/a.txt", "/b.txt", { [which]: refuse })).rejects.toThrow("refused");
    expect([await textAt(storage, "/a.txt"), await textAt(storage, "/b.txt")]).toEqual(["a", "b"]);
  });

  it("is left to a copy for links, hard links, directories, and what is not there", async () => {
    const { root: at, storage } = await root();
    await symlink("a.txt", join(at, "link.txt"));
    await symlink("dir", join(at, "other"));
    await writeFile(join(at, "c.txt"), "c");
    await link(join(at, "c.txt"), join(at, "d.txt"));
    const before = await readdir(at);
    const moves = [
      ["/link.txt", "/n.txt"],
      ["/a.txt", "/link.txt"],
      ["/a.txt", "/other/n.txt"],
      ["/c.txt", "/n.txt"],
      ["/dir", "/n"],
      ["/a.txt", "/dir"],
      ["/none.txt", "/n.txt"],
      ["/a.txt", "/none/n.txt"],
      ["/a.txt", "/A.txt"],
    ] as const;
    for (const [from, to] of moves) expect(await storage.move?.(from, to), `${from} ${to}`).toBeUndefined();
    expect(await readdir(at)).toEqual(before);
  });

  it("does not wait for ever for another one the other way round", async () => {
    const { storage } = await root();
    for (let round = 0; round < 20; round += 1) {
      await Promise.all([storage.move?.("/a.txt", "/b.txt"), storage.move?.("/b.txt", "/a.txt")]);
      const there = (await storage.stat("/a.txt")) ? "/a.txt" : "/b.txt";
      const gone = there === "/a.txt" ? "/b.txt" : "/a.txt";
      expect(await storage.stat(gone)).toBeUndefined();
      await storage.write(gone, content("again"));
    }
  });
});
