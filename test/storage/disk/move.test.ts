import { mkdtempSync } from "node:fs";
import { link, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { timesOf } from "../../helpers/effort.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { content, textAt } from "../content.ts";

async function root() {
  const root = await temporaryDirectory({ "a.txt": "a", "b.txt": "b" });
  await mkdir(join(root, "dir"), { recursive: true });
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

  it("is a rename of a directory with all in it, of which watchers hear when its maker has been told", async () => {
    const { root: at, storage } = await root();
    await storage.write("/dir/in/c.txt", content("c"));
    const { ino } = await stat(join(at, "dir"));
    const version = (await storage.stat("/dir/in/c.txt"))?.version;
    const order: string[] = [];
    const unwatch = await storage.watch?.({
      changed: (path, now, wasThere) => void ((now || wasThere) && order.push(`${now?.type ?? "gone"} ${path}`)),
      ignores: () => false,
      failed: (error) => order.push(String(error)),
    });
    const moved = async (): Promise<void> => {
      expect(await textAt(storage, "/new/in/c.txt")).toBe("c");
      await writeFile(join(at, "later.txt"), ""); // what happened before is noticed before
      await expect.poll(() => order).toEqual(["file /later.txt"]);
      order.push("moved");
    };
    expect(await storage.move?.("/dir/", "/new/", { moved })).toMatchObject({ created: true });
    await expect.poll(() => order.slice(2).sort()).toEqual(["file /new/in/c.txt", "gone /dir/in/c.txt"]);
    await unwatch?.();
    expect([(await stat(join(at, "new"))).ino, (await storage.stat("/new/in/c.txt"))?.version]).toEqual([ino, version]);
  });

  it("refuses a directory in which something has to stay, and leaves one to a copy whose new path is taken", async () => {
    const { root: at, storage } = await root();
    await storage.write("/full/x.txt", content("x"));
    const within = { link: "../a.txt", none: "nothing", outside: "/etc/hosts", loop: ".." };
    for (const [name, target] of Object.entries(within)) {
      await mkdir(join(at, name));
      await symlink(target, join(at, name, "l"));
      await expect(storage.move?.(`/${name}/`, "/new/"), name).rejects.toMatchObject({ code: "forbidden" });
    }
    await storage.write("/kept/in/users.html", content("u"));
    await storage.protect?.(join(at, "kept/in/users.html"));
    await expect(storage.move?.("/kept/", "/new/")).rejects.toMatchObject({ code: "forbidden" });
    for (const taken of ["/full/", "/a.txt/"]) expect(await storage.move?.("/dir/", taken)).toBeUndefined();
    expect(await readdir(at)).not.toContain("new");
  });

  it("takes writes that are under way along, or has them find that the directory is gone", async () => {
    const { root: at, storage } = await root();
    for (let round = 0; round < timesOf(10, 200); round += 1) {
      const [from, to] = round % 2 === 0 ? ["/dir/", "/new/"] : ["/new/", "/dir/"];
      await storage.write(`${from}a.txt`, content("-"));
      const told: string[] = [];
      const writing = ["1", "2", "3", "4"].map(async (text) => {
        const made = await storage.append(`${from}a.txt`, content(text)).catch(() => undefined);
        if (made) told.push(text);
      });
      const seen: (string | undefined)[] = []; // told before, and found then
      const moving = storage.move?.(from, to, {
        check: () => void mkdtempSync(join(at, from, "made after a look ")),
        async moved() {
          seen.push(told.join(""), await textAt(storage, `${to}a.txt`));
        },
      });
      await Promise.all([...writing, moving]);
      expect(seen[1]?.startsWith(`-${seen[0]}`)).toBe(true);
      expect(await textAt(storage, `${to}a.txt`)).toBe(`-${told.join("")}`);
      await storage.remove(`${to}a.txt`);
    }
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
