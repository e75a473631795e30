import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import type { ByteSpan, CommitCheck, Content, OpenFile, Storage, StoredStat } from "../../src/storage/storage.ts";
import { timesOf } from "../helpers/effort.ts";
import { brokenContent, content, entriesAt, namesAt, slowContent, textAt, withBytes } from "./content.ts";

/** What every storage promises. `make` gives one with just these files; not every disk takes `oddName`. */
export function storageContract(
  make: (files?: Readonly<Record<string, string>>) => Promise<Storage>,
  oddName = 'it\'s "quoted" & <b>',
): void {
  const refuses = (code: string) => expect.objectContaining({ name: "StorageError", code });

  async function opened(storage: Storage, path: string): Promise<OpenFile> {
    const file = await storage.open(path);
    if (file === undefined) throw new Error(`${path} should be there`);
    return file;
  }

  describe("stat", () => {
    it("tells a file's size, date and version", async () => {
      const storage = await make({ "/a.txt": "hello" });
      const stat = await storage.stat("/a.txt");
      expect(stat).toMatchObject({ type: "file", size: 5, modified: expect.any(Date) });
      expect(stat?.version).toMatch(/^[A-Za-z0-9_-]+$/);
      expect({ ...(await storage.stat("/a.txt")) }).toEqual({ ...stat });
    });

    it("knows the root and directories, with or without a slash at the end", async () => {
      const storage = await make({ "/dir/a.txt": "hello" });
      const stats = await Promise.all(["/", "/dir", "/dir/"].map((path) => storage.stat(path)));
      expect(stats).toEqual(Array(3).fill(expect.objectContaining({ type: "directory", size: 0 })));
    });

    it.each(["/no.txt", "/no/no.txt", "/a.txt/", "/a.txt/b", "/a.txt/b/"])("finds nothing at %s", async (path) => {
      const storage = await make({ "/a.txt": "hello" });
      expect(await storage.stat(path)).toBeUndefined();
    });
  });

  describe("open", () => {
    it("reads and streams all bytes, a span of them, and none of an empty file", async () => {
      const storage = await make({ "/a.txt": "0123456789", "/empty": "" });
      const file = await opened(storage, "/a.txt");
      const empty = await opened(storage, "/empty");
      for (const read of [
        async (from: OpenFile, span?: ByteSpan) => Buffer.from(await from.bytes(span)),
        (from: OpenFile, span?: ByteSpan) => buffer(from.stream(span)),
      ]) {
        const texts = [
          await read(file),
          await read(file, { start: 2, end: 4 }),
          await read(file, { start: 9, end: 9 }),
        ];
        expect([...texts, await read(empty)].map(String)).toEqual(["0123456789", "234", "9", ""]);
      }
      await Promise.all([file.close(), empty.close()]);
    });

    it("gives back exactly the bytes that were stored, whatever they are", async () => {
      const storage = await make();
      const bytes = Buffer.from(Array.from({ length: 700_001 }, (_, index) => (index * 31) % 256));
      await storage.write("/a.bin", content(bytes.subarray(0, 300_000), bytes.subarray(300_000)));
      const file = await opened(storage, "/a.bin");
      expect(bytes.equals(await file.bytes())).toBe(true);
      expect(bytes.equals(await buffer(file.stream()))).toBe(true);
      expect(bytes.subarray(150_000, 600_001).equals(await buffer(file.stream({ start: 150_000, end: 600_000 })))).toBe(
        true,
      );
      await file.close();
    });

    it.each(["/", "/dir", "/dir/", "/no.txt", "/a.txt/", "/a.txt/b"])("opens nothing at %s", async (path) => {
      const storage = await make({ "/a.txt": "hello", "/dir/b.txt": "" });
      expect(await storage.open(path)).toBeUndefined();
    });

    it("goes on with the version it opened, whatever happens to the path", async () => {
      const storage = await make({ "/a.txt": "old content", "/b.txt": "old content", "/c.txt": "old content" });
      const [a, b, c] = await Promise.all(["/a.txt", "/b.txt", "/c.txt"].map((path) => opened(storage, path)));
      await storage.write("/a.txt", content("new"));
      await storage.append("/b.txt", content(" and more"));
      await storage.remove("/c.txt");
      const texts = await Promise.all([a, b, c].map(async (file) => file && (await buffer(file.stream())).toString()));
      await Promise.all([a, b, c].map((file) => file?.close()));
      expect(texts).toEqual(["old content", "old content", "old content"]);
    });

    it("may be closed twice, and while a stream is read", async () => {
      const storage = await make({ "/a.txt": "hello" });
      const file = await opened(storage, "/a.txt");
      const stream = file.stream();
      await file.close();
      await file.close();
      expect((await buffer(stream)).toString()).toBe("hello");
    });
  });

  describe("list", () => {
    it("gives the names in a directory and what they name, which stat measures", async () => {
      const storage = await make({ "/dir/a.txt": "hello", "/dir/sub/b.txt": "", "/other.txt": "" });
      expect(await entriesAt(storage, "/dir/")).toEqual([
        { name: "a.txt", type: "file" },
        { name: "sub", type: "directory" },
      ]);
      expect(await storage.stat("/dir/a.txt")).toMatchObject({ type: "file", size: 5 });
      expect(await storage.stat("/dir/sub")).toMatchObject({ type: "directory", size: 0 });
    });

    it("gives each name once while what it names is removed and made again", async () => {
      const storage = await make({ "/a": "", "/b": "", "/c": "" });
      const names: string[] = [];
      for await (const { name } of storage.list("/")) {
        names.push(name);
        await storage.remove(`/${name}`);
        await storage.write(`/${name}`, content("again"));
      }
      expect(names.sort()).toEqual(["a", "b", "c"]);
    });

    it("gives all of many entries", async () => {
      const names = Array.from({ length: timesOf(50, 150) }, (_, index) => `${1000 + index}.txt`);
      const storage = await make(Object.fromEntries(names.map((name) => [`/${name}`, ""])));
      expect(await namesAt(storage, "/")).toEqual(names);
    });

    it("may be left early", async () => {
      const storage = await make({ "/a": "", "/b": "", "/c": "" });
      let seen = 0;
      for await (const _ of storage.list("/")) {
        seen += 1;
        break;
      }
      expect(seen).toBe(1);
    });

    it.each(["/no/", "/a.txt", "/a.txt/"])("refuses %s with not-found", async (path) => {
      const storage = await make({ "/a.txt": "" });
      await expect(entriesAt(storage, path)).rejects.toEqual(refuses("not-found"));
    });
  });

  describe("write", () => {
    it("creates a file, and the directories above it, and tells what stat will tell", async () => {
      const storage = await make();
      const result = await storage.write("/new/deep/a.txt", content("hel", "", "lo"));
      expect(result).toMatchObject({ created: true, stat: { type: "file", size: 5 } });
      expect(await textAt(storage, "/new/deep/a.txt")).toBe("hello");
      expect({ ...(await storage.stat("/new/deep/a.txt")) }).toEqual({ ...result.stat });
    });

    it("replaces a file as a whole, also by nothing", async () => {
      const storage = await make({ "/a.txt": "a longer text" });
      expect((await storage.write("/a.txt", content("short"))).created).toBe(false);
      expect(await textAt(storage, "/a.txt")).toBe("short");
      await storage.write("/a.txt", content());
      expect(await storage.stat("/a.txt")).toMatchObject({ type: "file", size: 0 });
    });

    it("gives every content a version of its own, however fast they follow", async () => {
      const storage = await make();
      const versions = new Set<string>();
      const times = timesOf(40, 100);
      for (let count = 0; count < times; count += 1) {
        versions.add((await storage.write("/a.txt", content(String(count % 10)))).stat.version);
      }
      expect(versions.size).toBe(times);
    });

    it("stores names with spaces, quotes, dots and letters of any script", async () => {
      const storage = await make();
      const names = ["a b.txt", "100%.txt", oddName, "..a", "ü-日本-🙂.txt"].sort();
      for (const name of names) await storage.write(`/${name}`, content(name));
      expect(await namesAt(storage, "/")).toEqual(names);
      expect(await textAt(storage, "/ü-日本-🙂.txt")).toBe("ü-日本-🙂.txt");
    });

    it("changes nothing when the content breaks off, and throws what that threw, as an append does", async () => {
      const storage = await make({ "/a.txt": "old" });
      const error = new Error("the client left");
      await expect(storage.append("/a.txt", brokenContent("new", error))).rejects.toBe(error);
      await expect(storage.write("/a.txt", brokenContent("new", error))).rejects.toBe(error);
      await expect(storage.write("/dir/b.txt", brokenContent("new", error))).rejects.toBe(error);
      expect(await namesAt(storage, "/")).toEqual(["a.txt"]);
      expect(await textAt(storage, "/a.txt")).toBe("old");
    });

    it("checks after the last byte of the content", async () => {
      const storage = await make({ "/a.txt": "old" });
      const seen: Array<number | undefined> = [];
      const { slow, finish } = slowContent("new");
      const writing = storage.write("/a.txt", slow, { check: (current) => void seen.push(current?.size) });
      await storage.write("/a.txt", content("in between"));
      finish();
      await writing;
      expect(seen).toEqual([10]);
    });

    it("refuses to replace a file when it is to be a new one", async () => {
      const storage = await make({ "/a.txt": "old" });
      await expect(storage.write("/a.txt", content("new"), { exclusive: true })).rejects.toEqual(refuses("exists"));
      expect(await textAt(storage, "/a.txt")).toBe("old");
    });

    it("lets one of many creators win", async () => {
      const storage = await make();
      const attempts = Array.from({ length: 20 }, (_, index) =>
        storage.write("/new/a.txt", content(String(index)), { exclusive: true }).then(
          () => String(index),
          (error: unknown) => error,
        ),
      );
      const outcomes = await Promise.all(attempts);
      expect(outcomes.filter((outcome) => typeof outcome !== "string")).toEqual(Array(19).fill(refuses("exists")));
      expect(outcomes).toContain(await textAt(storage, "/new/a.txt"));
      expect(await namesAt(storage, "/new/")).toEqual(["a.txt"]);
    });

    it("refuses to make directories when it is told not to", async () => {
      const storage = await make({ "/dir/a.txt": "" });
      const options = { createParents: false };
      await expect(storage.write("/new/a.txt", content(""), options)).rejects.toEqual(refuses("no-parent"));
      expect((await storage.write("/dir/b.txt", content(""), options)).created).toBe(true);
      expect(await namesAt(storage, "/")).toEqual(["dir"]);
    });

    it("makes 32 directories at most", async () => {
      const storage = await make({ "/a.txt": "" });
      const below = (count: number): string => `${"/d".repeat(count)}/b.txt`;
      await expect(storage.write(below(33), content("x"))).rejects.toEqual(refuses("too-deep"));
      const refused = { code: expect.stringMatching(/^(not-found|too-deep)$/) };
      await expect(storage.append(below(33), content("x"))).rejects.toMatchObject(refused);
      expect(await namesAt(storage, "/")).toEqual(["a.txt"]);
      expect((await storage.write(below(32), content("x"))).created).toBe(true);
    });

    it.each([
      ["/", "is-directory"],
      ["/dir", "is-directory"],
      ["/dir/", "is-directory"],
      ["/new/", "is-directory"],
      ["/a.txt/b", "not-a-directory"],
      ["/a.txt/b/c", "not-a-directory"],
    ])("refuses %s with %s", async (path, code) => {
      const storage = await make({ "/a.txt": "old", "/dir/b.txt": "" });
      await expect(storage.write(path, content("new"))).rejects.toEqual(refuses(code));
      expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
      expect(await textAt(storage, "/a.txt")).toBe("old");
    });

    it("does not let a slow sender keep others waiting", async () => {
      const storage = await make();
      const { slow, hasBegun, finish } = slowContent("slow");
      const writing = storage.write("/a.txt", slow);
      await hasBegun;
      await storage.write("/a.txt", content("quick"));
      expect(await textAt(storage, "/a.txt")).toBe("quick");
      finish();
      await writing;
      expect(await textAt(storage, "/a.txt")).toBe("slow");
    });
  });

  describe("append", () => {
    it("adds to the end of a file", async () => {
      const storage = await make({ "/a.txt": "one" });
      const before = await storage.stat("/a.txt");
      const result = await storage.append("/a.txt", content(" two", " three"));
      expect(await textAt(storage, "/a.txt")).toBe("one two three");
      expect(result).toMatchObject({ created: false, stat: { size: 13 } });
      expect({ ...(await storage.stat("/a.txt")) }).toEqual({ ...result.stat });
      expect(result.stat.version).not.toBe(before?.version);
    });

    it("leaves a file as it is when there is nothing to add", async () => {
      const storage = await make({ "/a.txt": "one" });
      const before = await storage.stat("/a.txt");
      const { stat } = await storage.append("/a.txt", content());
      expect({ ...stat }).toEqual({ ...before });
    });

    it.each([
      ["/no.txt", "not-found"],
      ["/no/no.txt", "not-found"],
      ["/", "is-directory"],
      ["/dir", "is-directory"],
      ["/dir/", "is-directory"],
      ["/a.txt/b", "not-a-directory"],
    ])("refuses %s with %s, as an update does", async (path, code) => {
      const storage = await make({ "/a.txt": "", "/dir/b.txt": "" });
      await expect(storage.append(path, content("more"))).rejects.toEqual(refuses(code));
      if (path !== "/")
        await expect(
          storage.update(
            path,
            withBytes((bytes) => bytes),
          ),
        ).rejects.toEqual(refuses(code));
    });

    it("tells that the file was removed while the content arrived", async () => {
      const storage = await make({ "/a.txt": "one" });
      async function* removing(): Content {
        yield Buffer.from("two");
        await storage.remove("/a.txt");
      }
      await expect(storage.append("/a.txt", removing())).rejects.toEqual(refuses("not-found"));
      expect(await namesAt(storage, "/")).toEqual([]);
    });

    it("loses none of many at once", async () => {
      const storage = await make({ "/log.txt": "" });
      const lines = Array.from({ length: timesOf(20, 200) }, (_, index) => `line ${1000 + index}\n`);
      await Promise.all(lines.map((line) => storage.append("/log.txt", content(line))));
      const stored = (await textAt(storage, "/log.txt")) ?? "";
      expect(stored.split(/(?<=\n)/).sort()).toEqual(lines);
      expect(await namesAt(storage, "/")).toEqual(["log.txt"]);
    });
  });

  describe("update", () => {
    const toUpper = (bytes: Uint8Array): Uint8Array => Buffer.from(Buffer.from(bytes).toString().toUpperCase());

    it("replaces a file by what the edit makes of it", async () => {
      const storage = await make({ "/a.txt": "hello" });
      const result = await storage.update("/a.txt", withBytes(toUpper));
      expect(await textAt(storage, "/a.txt")).toBe("HELLO");
      expect(result).toMatchObject({ created: false, changed: true, stat: { size: 5 } });
      expect({ ...(await storage.stat("/a.txt")) }).toEqual({ ...result.stat });
    });

    it("gives the edit the stat of the bytes it gets", async () => {
      const storage = await make({ "/a.txt": "hello" });
      let seen: StoredStat | undefined;
      await storage.update(
        "/a.txt",
        withBytes((_, stat) => {
          seen = stat;
          return undefined;
        }),
      );
      expect({ ...seen }).toEqual({ ...(await storage.stat("/a.txt")) });
    });

    it("writes nothing when the edit gives nothing", async () => {
      const storage = await make({ "/a.txt": "hello" });
      const before = await storage.stat("/a.txt");
      const result = await storage.update("/a.txt", () => undefined);
      expect(result.changed).toBe(false);
      expect({ ...result.stat }).toEqual({ ...before });
      expect({ ...(await storage.stat("/a.txt")) }).toEqual({ ...before });
    });

    it("throws what the edit throws, and writes nothing", async () => {
      const storage = await make({ "/a.txt": "hello" });
      const error = new Error("invalid");
      await expect(storage.update("/a.txt", () => Promise.reject(error))).rejects.toBe(error);
      expect(await textAt(storage, "/a.txt")).toBe("hello");
      expect(await namesAt(storage, "/")).toEqual(["a.txt"]);
    });

    it("loses none of many at once", async () => {
      const storage = await make({ "/count.txt": "0" });
      const increment = async (bytes: Uint8Array): Promise<Uint8Array> => {
        await new Promise(setImmediate);
        return Buffer.from(String(Number(Buffer.from(bytes).toString()) + 1));
      };
      const count = timesOf(20, 200);
      await Promise.all(Array.from({ length: count }, () => storage.update("/count.txt", withBytes(increment))));
      expect(await textAt(storage, "/count.txt")).toBe(String(count));
    });

    it("does not let a write come between its reading and its writing", async () => {
      const storage = await make({ "/a.txt": "old" });
      let writing: Promise<unknown> | undefined;
      let found: string | undefined;
      const check = (current: StoredStat | undefined): void => {
        found = current?.version;
      };
      const { stat } = await storage.update(
        "/a.txt",
        withBytes(async (bytes) => {
          writing = storage.write("/a.txt", content("written"), { check });
          await new Promise(setImmediate);
          return toUpper(bytes);
        }),
      );
      await writing;
      expect(found).toBe(stat.version);
      expect(await textAt(storage, "/a.txt")).toBe("written");
    });

    it("keeps no hold on the bytes it gave and got", async () => {
      const storage = await make({ "/a.txt": "hello" });
      const edited = Buffer.from("edited");
      await storage.update(
        "/a.txt",
        withBytes((bytes) => {
          bytes.fill(0);
          return edited;
        }),
      );
      edited.fill(0);
      expect(await textAt(storage, "/a.txt")).toBe("edited");
    });
  });

  describe("makeDirectory", () => {
    it.each(["/dir/new", "/dir/new/"])("makes an empty directory as %s", async (path) => {
      const storage = await make({ "/dir/a.txt": "" });
      await storage.makeDirectory?.(path);
      expect((await namesAt(storage, "/dir/")).sort()).toEqual(["a.txt", "new"]);
      expect([(await storage.stat("/dir/new"))?.type, await namesAt(storage, "/dir/new/")]).toEqual(["directory", []]);
      await storage.remove("/dir/new");
    });

    it.each([
      ["/", "exists"],
      ["/dir", "exists"],
      ["/dir/", "exists"],
      ["/a.txt", "exists"],
      ["/none/new", "no-parent"],
      ["/a.txt/new", "not-a-directory"],
    ])("refuses %s with %s", async (path, code) => {
      const storage = await make({ "/a.txt": "old", "/dir/b.txt": "" });
      await expect(storage.makeDirectory?.(path)).rejects.toEqual(refuses(code));
      expect((await namesAt(storage, "/")).sort()).toEqual(["a.txt", "dir"]);
    });

    it("makes a directory once, however many ask for it at the same time", async () => {
      const storage = await make({ "/a.txt": "" });
      const made = await Promise.allSettled([1, 2, 3].map(() => storage.makeDirectory?.("/dir")));
      expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });
  });

  describe("remove", () => {
    it("removes a file, and leaves its directory", async () => {
      const storage = await make({ "/dir/a.txt": "" });
      await storage.remove("/dir/a.txt");
      expect(await namesAt(storage, "/dir/")).toEqual([]);
    });

    it.each(["/dir", "/dir/"])("removes an empty directory as %s", async (path) => {
      const storage = await make({ "/dir/a.txt": "" });
      await storage.remove("/dir/a.txt");
      await storage.remove(path);
      expect(await namesAt(storage, "/")).toEqual([]);
    });

    it.each([
      ["/", "forbidden"],
      ["/no.txt", "not-found"],
      ["/no/no.txt", "not-found"],
      ["/a.txt/", "not-found"],
      ["/dir", "not-empty"],
      ["/dir/", "not-empty"],
    ])("refuses %s with %s", async (path, code) => {
      const storage = await make({ "/a.txt": "old", "/dir/b.txt": "" });
      await expect(storage.remove(path)).rejects.toEqual(refuses(code));
      expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
    });

    it("gives a file that is made again a version it never had", async () => {
      const storage = await make();
      const first = await storage.write("/a.txt", content("same"));
      await storage.remove("/a.txt");
      const second = await storage.write("/a.txt", content("same"));
      expect(second).toMatchObject({ created: true });
      expect(second.stat.version).not.toBe(first.stat.version);
    });
  });

  describe("the check", () => {
    const changes: Record<string, (storage: Storage, check: CommitCheck) => Promise<unknown>> = {
      write: (storage, check) => storage.write("/a.txt", content("new"), { check }),
      append: (storage, check) => storage.append("/a.txt", content("new"), { check }),
      remove: (storage, check) => storage.remove("/a.txt", { check }),
      create: (storage, check) => storage.write("/dir/b.txt", content("new"), { check }),
    };

    it.each(Object.keys(changes))("of %s is shown what is stored, and can prevent the change", async (what) => {
      const storage = await make({ "/a.txt": "old" });
      const before = await storage.stat("/a.txt");
      const error = new Error("changed meanwhile");
      let seen: StoredStat | undefined;
      const changing = changes[what]?.(storage, (current) => {
        seen = current;
        throw error;
      });
      await expect(changing).rejects.toBe(error);
      expect({ ...seen }).toEqual(what === "create" ? {} : { ...before });
      expect(await namesAt(storage, "/")).toEqual(["a.txt"]);
      expect(await textAt(storage, "/a.txt")).toBe("old");
    });
  });

  describe("many changes at once", () => {
    it("survives directories that come and go while files are written into them", async () => {
      const storage = await make();
      const outcomes = await Promise.all(
        Array.from({ length: timesOf(40, 100) }, (_, index) =>
          (index % 2 === 0 ? storage.write(`/dir/sub/${index}.txt`, content("x")) : removeAll(storage)).then(
            () => "done",
            (error: unknown) => error,
          ),
        ),
      );
      const errors = outcomes.filter((outcome) => outcome !== "done");
      expect(errors).toEqual(errors.map(() => expect.objectContaining({ name: "StorageError" })));
    });

    async function removeAll(storage: Storage): Promise<void> {
      for (const name of await namesAt(storage, "/dir/sub/")) await storage.remove(`/dir/sub/${name}`);
      await storage.remove("/dir/sub/");
      await storage.remove("/dir/");
    }
  });

  describe("a program's edits", () => {
    it("are made together or not at all, and lists at the same time lose nothing", async () => {
      const files = createFileServer({ storage: await make({ "/list.html": "<ul></ul><p>0</p>" }) });
      const added = Array.from({ length: 8 }, (_, index) => `<li>${index}</li>`);
      const done = await Promise.all(
        added.map((html) =>
          files.edit("/list.html", [
            { op: "insert", selector: "ul", position: "beforeend", html },
            { op: "setText", selector: "p", text: html },
          ]),
        ),
      );
      const { content, etag } = await files.read("/list.html");
      const text = content.toString();
      expect(text.match(/<li>\d<\/li>/g)?.toSorted()).toEqual(added);
      expect(text).toMatch(/^<ul>(?:<li>\d<\/li>){8}<\/ul><p>&lt;li&gt;\d&lt;\/li&gt;<\/p>$/);
      expect(new Set(done.map((each) => each.etag))).toHaveProperty("size", 8);
      expect(done.map((each) => each.etag)).toContain(etag);
      const failing = files.edit("/list.html", [
        { op: "remove", selector: "li" },
        { op: "test", selector: "p", matches: 2 },
      ]);
      await expect(failing).rejects.toMatchObject({ code: "EDIT_PRECONDITION_FAILED", index: 1 });
      expect(await files.read("/list.html")).toEqual({ content, etag, matches: undefined });
      await files.close();
    });
  });
}
