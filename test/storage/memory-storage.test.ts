import { describe, expect, it } from "vitest";
import { memoryStorage } from "../../src/storage/memory-storage.ts";
import { content, namesAt, textAt } from "./content.ts";
import { storageContract } from "./contract.ts";

describe("a memory storage", () => {
  storageContract(async (files = {}) => memoryStorage(files));

  it("holds text and bytes", async () => {
    const storage = memoryStorage({ "/a.txt": "grün", "/b.bin": new Uint8Array([1, 2]) });
    expect(await textAt(storage, "/a.txt")).toBe("grün");
    expect((await storage.stat("/b.bin"))?.size).toBe(2);
  });

  it("holds empty directories", async () => {
    expect(await namesAt(memoryStorage({ "/dir/": "" }), "/")).toEqual(["dir"]);
  });

  it("never writes to what it was given", async () => {
    const bytes = Buffer.from("old");
    const files = Object.freeze({ "/a.txt": bytes });
    const storage = memoryStorage(files);
    await storage.append("/a.txt", content(" and new"));
    await storage.update("/a.txt", (current) => current.fill(65));
    expect(bytes.toString()).toBe("old");
  });

  it("does not change with what it was given", async () => {
    const bytes = Buffer.from("old");
    const storage = memoryStorage({ "/a.txt": bytes });
    bytes.fill(0);
    expect(await textAt(storage, "/a.txt")).toBe("old");
  });

  it("gives readers bytes of their own", async () => {
    const storage = memoryStorage({ "/a.txt": "old" });
    const file = await storage.open("/a.txt");
    (await file?.bytes())?.fill(0);
    expect(await textAt(storage, "/a.txt")).toBe("old");
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

  it("refuses a path that is both a file and a directory", () => {
    expect(() => memoryStorage({ "/a": "", "/a/b": "" })).toThrow('"/a/b" cannot be both');
    expect(() => memoryStorage({ "/a/b": "", "/a": "" })).toThrow('"/a" cannot be both');
  });

  it("refuses a directory with content", () => {
    expect(() => memoryStorage({ "/dir/": "text" })).toThrow('"/dir/" cannot be both');
  });
});
