import { describe, expect, it } from "vitest";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { deferred } from "../../helpers/deferred.ts";
import { content, namesAt, textAt, withBytes } from "../content.ts";
import { storageContract } from "../contract.ts";

describe("a memory storage", () => {
  storageContract(async (files = {}) => memoryStorage(files));

  it("holds text, bytes and empty directories", async () => {
    const storage = memoryStorage({ "/a.txt": "grün", "/b.bin": new Uint8Array([1, 2]), "/dir/": "" });
    expect(await textAt(storage, "/a.txt")).toBe("grün");
    expect([(await storage.stat("/b.bin"))?.size, await namesAt(storage, "/")]).toEqual([2, ["a.txt", "b.bin", "dir"]]);
  });

  it("neither writes to what it was given nor changes with it", async () => {
    const bytes = Buffer.from("old");
    const storage = memoryStorage(Object.freeze({ "/a.txt": bytes, "/b.txt": bytes }));
    await storage.append("/a.txt", content(" and new"));
    await storage.update(
      "/a.txt",
      withBytes((current) => current.fill(65)),
    );
    expect(bytes.toString()).toBe("old");
    bytes.fill(0);
    expect(await textAt(storage, "/b.txt")).toBe("old");
  });

  it("gives two storages different versions of the same file", async () => {
    const [a, b] = [memoryStorage({ "/a.txt": "a" }), memoryStorage({ "/a.txt": "b" })];
    expect((await a.stat("/a.txt"))?.version).not.toBe((await b.stat("/a.txt"))?.version);
  });

  it.each(["a.txt", "", "//a.txt", "/dir//a.txt", "/../a.txt", "/./a.txt", "/dir/.."])(
    "refuses the path %j",
    (path) => {
      expect(() => memoryStorage({ [path]: "" })).toThrow(JSON.stringify(path));
    },
  );

  it("refuses a path that is both a file and a directory, or a directory with content", () => {
    expect(() => memoryStorage({ "/a": "", "/a/b": "" })).toThrow('"/a/b" cannot be both');
    expect(() => memoryStorage({ "/a/b": "", "/a": "" })).toThrow('"/a" cannot be both');
    expect(() => memoryStorage({ "/dir/": "text" })).toThrow('"/dir/" cannot be both');
  });

  it("tells its watchers of every change, after its maker had the result", async () => {
    const storage = memoryStorage({ "/old.txt": "old", "/list.txt": "1", "/dir/": "" });
    const order: string[] = [];
    const heard = deferred();
    const unwatch = await storage.watch?.({
      changed(path, stat, wasThere) {
        order.push(`told ${path} ${stat?.size} ${wasThere}`);
        if (order.length === 8) heard.resolve();
      },
      ignores: (path) => path === "/ignored.txt",
      failed() {},
    });
    await storage.write("/ignored.txt", content("x"));
    await storage.remove("/dir/");
    const changes = [
      storage.write("/new.txt", content("new")).then(() => order.push("made")),
      storage.append("/list.txt", content("2")).then(() => order.push("made")),
      storage.remove("/old.txt").then(() => order.push("made")),
      storage.write("/sub/b.txt", content("b")).then(() => order.push("made")),
    ];
    await Promise.all(changes);
    await heard.promise;
    expect(order.slice(0, 4)).toEqual(["made", "made", "made", "made"]);
    expect(order.slice(4).sort()).toEqual([
      "told /list.txt 2 true",
      "told /new.txt 3 false",
      "told /old.txt undefined true",
      "told /sub/b.txt 1 false",
    ]);
    await unwatch?.();
    await storage.write("/late.txt", content("late"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order.length).toBe(8);
  });

  it("tells of the last of several changes that follow each other at once", async () => {
    const storage = memoryStorage();
    const heard = new Promise<unknown>((resolve) => {
      void storage.watch?.({ changed: (_, stat) => resolve(stat), ignores: () => false, failed() {} });
    });
    await storage.write("/a.txt", content("1"));
    await storage.append("/a.txt", content("2"));
    const { stat } = await storage.update("/a.txt", () => Buffer.from("123"));
    expect(await heard).toEqual(stat);
  });
});
