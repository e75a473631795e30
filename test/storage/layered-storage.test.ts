import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { fileHandler } from "../../src/plugins/file-handler.ts";
import { layeredStorage, storageOfRoots } from "../../src/storage/layered-storage.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Storage, StoredStat } from "../../src/storage/storage.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { content, entriesAt, namesAt, textAt } from "./content.ts";
import { storageContract } from "./contract.ts";

describe("a storage with another one behind it", () => {
  storageContract(async (files = {}) => layeredStorage([memoryStorage(files), memoryStorage()]));
});

const own = { "/own.txt": "mine", "/both.txt": "first", "/here/a.txt": "a", "/mixed": "a file" };
const built = { "/built.js": "app()", "/both.txt": "second", "/here/b.txt": "b", "/there/c.txt": "c", "/mixed/x": "x" };

function twoLayers(): { storage: Storage; first: Storage; second: Storage } {
  const [first, second] = [memoryStorage(own), memoryStorage(built)];
  return { storage: layeredStorage([first, second]), first, second };
}

describe("several storages as one", () => {
  it("have at each path what the first of them has there", async () => {
    const { storage } = twoLayers();
    const paths = ["/own.txt", "/both.txt", "/built.js", "/here/b.txt", "/none"];
    expect(await Promise.all(paths.map((path) => textAt(storage, path)))).toEqual([
      "mine",
      "first",
      "app()",
      "b",
      undefined,
    ]);
    expect(await storage.stat("/built.js")).toMatchObject({ type: "file", size: 5 });
    expect(await storage.stat("/mixed")).toMatchObject({ type: "file" });
  });

  it("list each name once, as what it is in the first that has it", async () => {
    const { storage } = twoLayers();
    expect(await entriesAt(storage, "/")).toEqual([
      { name: "both.txt", type: "file" },
      { name: "built.js", type: "file" },
      { name: "here", type: "directory" },
      { name: "mixed", type: "file" },
      { name: "own.txt", type: "file" },
      { name: "there", type: "directory" },
    ]);
    expect(await namesAt(storage, "/here/")).toEqual(["a.txt", "b.txt"]);
    expect(await namesAt(storage, "/there")).toEqual(["c.txt"]);
    await expect(namesAt(storage, "/none/")).rejects.toMatchObject({ code: "not-found" });
  });

  it("list long directories completely", async () => {
    const names = Array.from({ length: 100 }, (_, i) => `/${i}.txt`);
    const files = (some: readonly string[]) => Object.fromEntries(some.map((name) => [name, "x"]));
    const storage = layeredStorage([memoryStorage(files(names.slice(0, 60))), memoryStorage(files(names.slice(40)))]);
    expect(await namesAt(storage, "/")).toHaveLength(100);
  });

  it("write to the first only, also into directories that only another has", async () => {
    const { storage, first, second } = twoLayers();
    await storage.write("/new.txt", content("new"));
    await storage.write("/there/new.txt", content("new"), { createParents: false });
    await storage.write("/both.txt", content("changed"));
    await storage.append("/own.txt", content("!"));
    await storage.update("/here/a.txt", () => Buffer.from("A"));
    await storage.remove("/new.txt");
    expect(
      await Promise.all(["/there/new.txt", "/both.txt", "/own.txt", "/here/a.txt"].map((path) => textAt(first, path))),
    ).toEqual(["new", "changed", "mine!", "A"]);
    expect(await Promise.all(Object.keys(built).map((path) => textAt(second, path)))).toEqual(Object.values(built));
    await expect(storage.write("/none/new.txt", content("x"), { createParents: false })).rejects.toMatchObject({
      code: "no-parent",
    });
  });

  it("neither replace nor remove what a later one has", async () => {
    const { storage, first } = twoLayers();
    const changes = [
      storage.write("/built.js", content("x")),
      storage.append("/built.js", content("x")),
      storage.update("/built.js", () => Buffer.from("x")),
      storage.remove("/built.js"),
      storage.remove("/both.txt"), // the second's would come to light
      storage.remove("/there"),
    ];
    for (const change of changes) await expect(change).rejects.toMatchObject({ code: "forbidden" });
    await expect(storage.write("/built.js/x", content("x"))).rejects.toMatchObject({ code: "not-a-directory" });
    expect(await entriesAt(first, "/")).toEqual(await entriesAt(memoryStorage(own), "/"));
    expect(await Promise.all(["/built.js", "/both.txt", "/there/"].map((path) => storage.refuses?.(path)))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("tell of the changes that can be seen", async () => {
    const { storage, first, second } = twoLayers();
    const told: [string, number | undefined, boolean][] = [];
    let heard = (): void => {};
    const unwatch = await storage.watch?.({
      changed(path: string, stat: StoredStat | undefined, wasThere: boolean) {
        told.push([path, stat?.size, wasThere]);
        heard();
      },
      ignores: () => false,
      failed: (error) => {
        throw error;
      },
    });
    const toldOf = async (count: number, change: () => Promise<unknown>): Promise<void> => {
      const come = new Promise<void>((resolve) => {
        heard = () => told.length === count && resolve();
      });
      await change();
      await come;
    };
    await toldOf(1, () => storage.write("/new.txt", content("12")));
    await toldOf(2, () => second.write("/built.js", content("123")));
    await second.write("/both.txt", content("unseen"));
    await toldOf(3, () => second.write("/later.txt", content("1"))); // what came before it has been told by then
    await toldOf(5, () => first.remove("/both.txt"));
    await unwatch?.();
    await first.write("/late.txt", content("x"));
    expect(told).toEqual([
      ["/new.txt", 2, false],
      ["/built.js", 3, true],
      ["/later.txt", 1, false],
      ["/both.txt", undefined, true],
      ["/both.txt", 6, false],
    ]);
  });

  it("tell one observer what is asked of those whose store lies elsewhere", () => {
    expect(twoLayers().storage.observe).toBeUndefined();
    const observers = new Set<unknown>();
    const observe: Storage["observe"] = (observer) => {
      observers.add(observer);
      return () => observers.delete(observer);
    };
    const storage = layeredStorage([memoryStorage(), { ...memoryStorage(), observe }]);
    const observer = { requested() {}, lostRace() {} };
    const end = storage.observe?.(observer);
    expect([...observers]).toEqual([observer]);
    end?.();
    expect(observers.size).toBe(0);
  });

  it("are told what an opened file is wanted for", async () => {
    const purposes: unknown[] = [];
    const inner = memoryStorage({ "/a.txt": "a" });
    const open: Storage["open"] = (path, purpose) => {
      purposes.push(purpose);
      return inner.open(path, purpose);
    };
    await (await layeredStorage([memoryStorage(), { ...inner, open }]).open("/a.txt", "properties"))?.close();
    expect(purposes).toEqual(["properties"]);
  });

  it("cannot be watched where one of them cannot", () => {
    const { watch: _watch, ...blind } = memoryStorage();
    expect(layeredStorage([memoryStorage(), blind]).watch).toBeUndefined();
  });
});

describe("several roots", () => {
  async function site(): Promise<{ files: FileServer; roots: readonly [string, string] }> {
    const [first, second] = [await temporaryDirectory(), await temporaryDirectory()];
    await writeFile(join(first, "index.html"), "<h1>Own</h1>");
    await mkdir(join(second, "assets"));
    await writeFile(join(second, "index.html"), "<h1>Built</h1>");
    await writeFile(join(second, "page.html"), "<p>built</p>");
    await writeFile(join(second, "secret.key"), "secret");
    const files = createFileServer({
      root: [first, second],
      protectedFiles: [join(second, "secret.key")],
      watch: true,
    });
    onTestFinished(() => files.close());
    return { files, roots: [first, second] };
  }

  const ask = (files: FileServer, method: string, path: string, headers: Record<string, string> = {}) =>
    files.fetch(
      new Request(`http://localhost${path}`, { method, headers, ...(/^P/.test(method) && { body: "<b>new</b>" }) }),
    );

  it("are served in order, and only the first is written to", async () => {
    const { files, roots } = await site();
    expect(await (await ask(files, "GET", "/")).text()).toBe("<h1>Own</h1>");
    expect(await (await ask(files, "GET", "/page.html")).text()).toBe("<p>built</p>");
    expect((await ask(files, "PUT", "/assets/new.html")).status).toBe(201);
    expect(await textAt(storageOfRoots(roots[0]), "/assets/new.html")).toBe("<b>new</b>");
    for (const [method, headers] of [["PUT"], ["DELETE"], ["POST", { range: "selector=p" }]] as const) {
      expect((await ask(files, method, "/page.html", headers)).status).toBe(403);
    }
    expect((await ask(files, "DELETE", "/index.html")).status).toBe(403);
    const allowed = async (path: string) => (await ask(files, "OPTIONS", path)).headers.get("allow");
    expect(await allowed("/page.html")).toBe("GET, HEAD, OPTIONS");
    expect(await allowed("/index.html")).toBe("GET, HEAD, PUT, POST, DELETE, PATCH, MOVE, COPY, OPTIONS");
  });

  it("are healthy while the first can be written to and the others are there", async () => {
    const [upload, built] = [await temporaryDirectory(), join(await temporaryDirectory(), "built")];
    await mkdir(built);
    const storage = storageOfRoots([upload, built]);
    await storage.start?.();
    await storage.check?.();
    expect([await namesAt(storage, "/"), await readdir(built)]).toEqual([[], []]);
    await rm(built, { recursive: true });
    await expect(storage.check?.()).rejects.toMatchObject({ code: "unavailable" });
  });

  it("hide what is protected in each of them", async () => {
    const { files } = await site();
    expect((await ask(files, "GET", "/secret.key")).status).toBe(404);
    expect((await ask(files, "PUT", "/secret.key")).status).toBe(403);
    const listing = await ask(files, "GET", "/", { accept: "application/json" });
    const { entries } = (await listing.json()) as { entries: { name: string }[] };
    expect(entries.map(({ name }) => name)).toEqual(["assets", "index.html", "page.html"]);
  });

  it("are watched, each of them", async () => {
    const { files, roots } = await site();
    await files.ready();
    const changes = files.changes[Symbol.asyncIterator]();
    await writeFile(join(roots[0], "one.txt"), "1");
    expect((await changes.next()).value).toMatchObject({ path: "/one.txt", kind: "created" });
    await writeFile(join(roots[1], "two.txt"), "2");
    expect((await changes.next()).value).toMatchObject({ path: "/two.txt", kind: "created" });
    await rm(join(roots[1], "two.txt"));
    let change = (await changes.next()).value;
    while (change?.kind !== "deleted") change = (await changes.next()).value;
    expect(change.path).toBe("/two.txt");
  });

  it("may be directories and storages", async () => {
    const root = await temporaryDirectory();
    await writeFile(join(root, "here.txt"), "here");
    const built = memoryStorage({ "/built.js": "app()" });
    for (const config of [{ root: [root, built] }, { plugins: [fileHandler({ root: [root, built] })] }]) {
      const files = createFileServer(config);
      expect(await (await ask(files, "GET", "/here.txt")).text()).toBe("here");
      expect(await (await ask(files, "GET", "/built.js")).text()).toBe("app()");
      expect((await ask(files, "PUT", "/built.js")).status).toBe(403);
      await files.close();
    }
  });

  it("must all be directories or storages", async () => {
    const root = await temporaryDirectory();
    expect(() => createFileServer({ root: [root, join(root, "none")] })).toThrow(/none/);
    expect(() => createFileServer({ root: [] })).toThrow("root is []: expected a string");
    expect(() => createFileServer({ root: [root, ""] })).toThrow('root[1] is "": expected a directory or a storage');
  });
});
