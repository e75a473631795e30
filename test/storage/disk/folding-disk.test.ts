import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { exfatDisk, exfatNeeds } from "../../helpers/exfat-disk.ts";
import { content, namesAt, textAt } from "../content.ts";
import { storageContract } from "../contract.ts";

describe("a storage on a disk that ignores case and has no hard links", { tags: exfatNeeds }, () => {
  const directoryWith = exfatDisk();

  storageContract(async (files = {}) => diskStorage(await directoryWith(files)), "it's & that");

  it("finds files by the names that the disk lists, and by no others", async () => {
    const storage = diskStorage(await directoryWith({ "/Dir/\u00c9t\u00e9.txt": "here" }));
    for (const path of ["/dir/\u00c9t\u00e9.txt", "/Dir/\u00e9T\u00c9.TXT", "/DIR/\u00c9t\u00e9.txt"]) {
      expect(await storage.stat(path)).toBeUndefined();
      expect(await textAt(storage, path)).toBeUndefined();
      await expect(storage.write(path, content("x"))).rejects.toMatchObject({ code: "forbidden" });
      await expect(storage.remove(path)).rejects.toMatchObject({ code: "forbidden" });
      expect(await storage.listedPath?.(path)).toBe("/Dir/\u00c9t\u00e9.txt");
    }
    expect(await textAt(storage, "/Dir/\u00c9t\u00e9.txt")).toBe("here");
    expect(await storage.listedPath?.("/DIR/")).toBe("/Dir/");
    expect(await storage.listedPath?.("/DIR/New/a.txt")).toBe("/Dir/New/a.txt");
    await expect(namesAt(storage, "/dir/")).rejects.toMatchObject({ code: "not-found" });
  });

  it("hides a protected file by all of its names, also one that is not there yet", async () => {
    const root = await directoryWith({ "/users.htpasswd": "secret" });
    const storage = diskStorage(root);
    await storage.protect?.(join(root, "USERS.htpasswd"));
    await storage.protect?.(join(root, "access.log"));
    for (const path of ["/users.htpasswd", "/USERS.HTPASSWD", "/Users.htpasswd", "/ACCESS.LOG"]) {
      expect(await textAt(storage, path)).toBeUndefined();
      await expect(storage.write(path, content("x"))).rejects.toMatchObject({ code: "forbidden" });
    }
    expect([await namesAt(storage, "/"), await readdir(root)]).toEqual([[], ["users.htpasswd"]]);
  });

  it("makes one file of two spellings that come at once", async () => {
    const root = await directoryWith();
    const storage = diskStorage(root);
    const paths = ["/m.html", "/M.html", "/m.HTML", "/M.HTML"];
    const made = await Promise.allSettled(paths.map((path) => storage.write(path, content(path), { exclusive: true })));
    const [name = ""] = await readdir(root);
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect([await readdir(root), await readFile(join(root, name), "utf8")]).toEqual([[name], `/${name}`]);
  });
});
