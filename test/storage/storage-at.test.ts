import { describe, expect, it } from "vitest";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { storageAt } from "../../src/storage/storage-at.ts";
import { content, namesAt, textAt, withBytes } from "./content.ts";

const outside = ["/", "/a.txt", "/archives", "/archives/a.txt", "/archiv", "/sub/archive/a.txt"];

describe("a storage at a path", () => {
  it("has its files below that path", async () => {
    const storage = storageAt("/archive", memoryStorage({ "/a.txt": "a", "/sub/b.txt": "b" }));
    expect(await textAt(storage, "/archive/sub/b.txt")).toBe("b");
    expect((await namesAt(storage, "/archive/")).sort()).toEqual(["a.txt", "sub"]);
    expect(await storage.stat("/archive")).toMatchObject({ type: "directory" });
    expect(await storage.stat("/archive/")).toMatchObject({ type: "directory" });
    expect(await storage.open("/archive")).toBeUndefined();
  });

  it("changes files below that path", async () => {
    const inner = memoryStorage({ "/a.txt": "a" });
    const storage = storageAt("/archive", inner);
    await storage.write("/archive/new.txt", content("new"));
    await storage.append("/archive/a.txt", content("b"));
    await storage.update(
      "/archive/new.txt",
      withBytes((bytes) => Buffer.concat([bytes, Buffer.from("er")])),
    );
    expect([await textAt(inner, "/a.txt"), await textAt(inner, "/new.txt")]).toEqual(["ab", "newer"]);
    await storage.remove("/archive/a.txt");
    expect(await inner.stat("/a.txt")).toBeUndefined();
  });

  it.each(outside)("has nothing at %s, and stores nothing there", async (path) => {
    const inner = memoryStorage({ "/a.txt": "a", "/s/a.txt": "a" });
    const storage = storageAt("/archive", inner);
    expect([await storage.stat(path), await storage.open(path)]).toEqual([undefined, undefined]);
    await expect(namesAt(storage, path)).rejects.toMatchObject({ code: "not-found" });
    const changes = [
      storage.write(path, content("x")),
      storage.append(path, content("x")),
      storage.update(path, () => Buffer.from("x")),
      storage.remove(path),
    ];
    for (const change of changes) await expect(change).rejects.toMatchObject({ code: "forbidden" });
    expect(await namesAt(inner, "/")).toEqual(["a.txt", "s"]);
  });

  it("tells of changes below that path", async () => {
    const inner = memoryStorage({ "/a.txt": "a" });
    const told: unknown[] = [];
    const asked: string[] = [];
    const heard = new Promise<void>((resolve) => {
      const watcher = {
        changed(path: string, stat: unknown, wasThere: boolean): void {
          told.push([path, stat !== undefined, wasThere]);
          if (told.length === 2) resolve();
        },
        ignores(path: string): boolean {
          asked.push(path);
          return path === "/archive/ignored.txt";
        },
        failed() {},
      };
      void storageAt("/archive", inner).watch?.(watcher);
    });
    await inner.write("/ignored.txt", content("x"));
    await inner.write("/sub/new.txt", content("new"));
    await inner.remove("/a.txt");
    await heard;
    expect(told).toEqual([
      ["/archive/sub/new.txt", true, false],
      ["/archive/a.txt", false, true],
    ]);
    expect(asked).toContain("/archive/ignored.txt");
  });

  it("can be watched only where the storage in it can", () => {
    const { watch, ...unwatched } = memoryStorage();
    expect(watch).toBeTypeOf("function");
    expect(storageAt("/archive", unwatched)).not.toHaveProperty("watch");
  });
});
