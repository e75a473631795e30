import { execFile } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { content, textAt } from "../content.ts";
import { type Call, replaceCall } from "../replace-call.ts";

const run = promisify(execFile);

/** Counts the calls of some functions. */
function counted(...names: string[]): () => number {
  let count = 0;
  for (const name of names) {
    replaceCall(name, (original, values) => {
      count += 1;
      original(...values);
    });
  }
  return () => count;
}

const failure = (code: string): Error => Object.assign(new Error(`${code}: made by a test`), { code });

async function mounted(place: string, program: string, ...words: string[]): Promise<void> {
  await run(program, words);
  onTestFinished(async () => void (await run("umount", ["--lazy", place])));
}

async function rootWith(text: string) {
  const root = await temporaryDirectory();
  fs.writeFileSync(join(root, "a.txt"), text);
  return { root, storage: diskStorage(root), textOf: () => fs.readFileSync(join(root, "a.txt"), "utf8") };
}

describe("changes of one file that wait together", () => {
  it("are stored at once, and each is answered", async () => {
    const { storage, textOf } = await rootWith("old");
    const renames = counted("rename");
    const results = await Promise.all(["a", "b", "c", "d"].map((text) => storage.write("/a.txt", content(text))));
    expect([renames(), textOf()]).toEqual([1, "d"]);
    expect(new Set(results.map(({ stat }) => stat.version)).size).toBe(4);
    expect(results.at(-1)?.stat.version).toBe((await storage.stat("/a.txt"))?.version);
  });

  it("are refused by the version that is stored where they found just that", async () => {
    const { storage } = await rootWith("old");
    await storage.stat("/a.txt");
    const judged: (string | undefined)[] = [];
    const check = (current: { readonly version: string } | undefined): void => {
      judged.push(current?.version);
      throw new Error("not this one");
    };
    const [made, refused] = await Promise.allSettled([
      storage.write("/a.txt", content("new")),
      storage.write("/a.txt", content("never"), { check }),
    ]);
    expect([made.status, refused.status]).toEqual(["fulfilled", "rejected"]);
    expect(judged.at(-1)).toBe((await storage.stat("/a.txt"))?.version);
  });

  it("share note, write and syncs where all are appends", async () => {
    const { root, storage, textOf } = await rootWith("");
    const [notes, syncs] = [counted("unlink"), counted("fdatasync")];
    await Promise.all(Array.from({ length: 16 }, (_, i) => storage.append("/a.txt", content(`${i},`))));
    expect(textOf()).toBe(Array.from({ length: 16 }, (_, i) => `${i},`).join(""));
    expect([notes(), syncs()]).toEqual([2, 2]);
    for (const text of ["a", "b"]) await storage.append("/a.txt", content(text));
    expect([notes(), syncs()]).toEqual([3, 6]); // the next are written into a note that stays, and goes at the end
    await storage.close?.();
    expect([notes(), fs.readdirSync(root)]).toEqual([4, ["a.txt"]]);
  });

  it("are made one after the other where they cannot be stored together", async () => {
    const { storage, textOf } = await rootWith("old");
    const tooMuch = "x".repeat(1000);
    replaceCall("write", (write, values) => {
      const [, bytes] = values as [number, Uint8Array];
      if (!Buffer.from(bytes).includes(tooMuch)) return write(...values);
      setImmediate(values.at(-1) as Call, failure("ENOSPC"));
    });
    const texts = ["1", "2", tooMuch, "3"];
    const outcomes = await Promise.allSettled(texts.map((text) => storage.append("/a.txt", content(text))));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(textOf()).toBe("old123");
  });
});

describe("a change of a file", () => {
  it("reads nothing where the edit knows the version", async () => {
    const { storage, textOf } = await rootWith("old");
    await storage.stat("/a.txt");
    const reads = counted("read");
    await storage.update("/a.txt", () => Buffer.from("new"));
    expect([reads(), textOf()]).toEqual([0, "new"]);
  });

  it("is remembered by the next one, whatever a reader finds that has the file open which it replaced", async () => {
    const { storage } = await rootWith("old");
    let writing: Promise<unknown> | undefined;
    replaceCall("open", (open, values) => {
      // The reader looks for the note of an append when it has opened the file.
      const isReader = String(values[0]).includes(".filement-append-") && !writing;
      if (!isReader) return open(...values);
      writing = storage.write("/a.txt", content("new"));
      writing.then(() => open(...values));
    });
    const file = await storage.open("/a.txt");
    await file?.close();
    await writing;
    const found: string[] = [];
    await storage.update("/a.txt", async (read) => {
      found.push((await read()).toString());
      return Buffer.from("newer");
    });
    expect(found).toEqual(["new"]);
  });

  it("leaves the file known: no directory is opened to tell of it, as long as the same ones lead there", async () => {
    const { root, storage } = await rootWith("old");
    fs.mkdirSync(join(root, "folder"));
    await storage.write("/folder/a.txt", content("old"));
    for (let time = 1; time <= 2; time += 1) await storage.stat("/folder/a.txt");
    const { stat } = await storage.write("/folder/a.txt", content("new"));
    const opens = counted("open");
    expect([await storage.stat("/folder/a.txt"), opens()]).toEqual([stat, 0]);
    const elsewhere = await temporaryDirectory();
    fs.renameSync(join(root, "folder"), join(root, "other"));
    fs.linkSync(join(root, "other/a.txt"), join(elsewhere, "a.txt"));
    fs.symlinkSync(elsewhere, join(root, "folder"));
    expect(await storage.stat("/folder/a.txt")).toBeUndefined();
  });

  it.each(["rename", "link", "unlink"])("that was made and reports an error is answered as made (%s)", async (name) => {
    const { root, storage } = await rootWith("old");
    let hasFailed = false;
    replaceCall(name, (original, values) => {
      const callback = values.pop() as Call;
      original(...values, (error: unknown) => {
        const isFirst = !hasFailed;
        hasFailed = true;
        callback(isFirst ? failure("EIO") : error);
      });
    });
    if (name === "unlink") await storage.remove("/a.txt");
    else await storage.write(name === "link" ? "/b.txt" : "/a.txt", content("new"));
    expect(hasFailed).toBe(true);
    const expected = { rename: ["a.txt"], link: ["a.txt", "b.txt"], unlink: [] }[name];
    expect(fs.readdirSync(root).sort()).toEqual(expected);
  });

  it.each(["EPERM", "EIO"])("is created as a whole where the file system has no links (%s)", async (code) => {
    const { root, storage } = await rootWith("old");
    replaceCall("link", (_, values) => setImmediate(values.at(-1) as Call, failure(code)));
    const sizes: number[] = [];
    replaceCall("rename", (rename, values) => {
      if (fs.existsSync(join(root, "b.txt"))) sizes.push(fs.statSync(join(root, "b.txt")).size);
      rename(...values);
    });
    await storage.write("/b.txt", content("new"), { exclusive: true });
    expect([sizes, await textAt(storage, "/b.txt")]).toEqual([[], "new"]);
    await expect(storage.write("/b.txt", content("again"), { exclusive: true })).rejects.toMatchObject({
      code: "exists",
    });
  });

  it.each(["new", "new".repeat(99_999)])("is not made where closing says that it is not kept", async (text) => {
    const { root, textOf } = await rootWith("old");
    replaceCall("close", (close, [file, callback]) => {
      const error = fs.fstatSync(Number(file)).isFile() ? failure("EDQUOT") : undefined;
      close(file, (own: unknown) => (callback as Call)(error ?? own));
    });
    const storage = diskStorage(root, { durability: "rename" });
    await expect(storage.write("/a.txt", content(text))).rejects.toMatchObject({ code: "full" });
    expect([textOf(), fs.readdirSync(root)]).toEqual(["old", ["a.txt"]]);
  });

  it.each(["new", "new".repeat(99_999)])(
    "tells the version that stays where names have attributes of their own",
    {
      tags: ["bindfs", "mounts"],
    },
    async (text) => {
      const [below, root] = [await temporaryDirectory(), await temporaryDirectory()];
      await mounted(root, "bindfs", below, root);
      const { stat } = await diskStorage(root).write("/a.txt", content(text));
      expect(stat.version).toBe((await diskStorage(below).stat("/a.txt"))?.version);
    },
  );

  it("is forbidden for a file that is mounted by itself", { tags: ["mounts"] }, async () => {
    const { root, storage, textOf } = await rootWith("old");
    const elsewhere = join(await temporaryDirectory(), "b.txt");
    fs.writeFileSync(elsewhere, "mounted");
    await mounted(join(root, "a.txt"), "mount", "--bind", elsewhere, join(root, "a.txt"));
    for (const change of [() => storage.write("/a.txt", content("new")), () => storage.remove("/a.txt")])
      await expect(change()).rejects.toMatchObject({ code: "forbidden" });
    expect(textOf()).toBe("mounted");
  });

  it.each([
    ["win32", "EPERM", "busy"],
    ["linux", "EBUSY", "forbidden"], // of a disk over SMB
  ])("waits for those who read the file on %s, and is not made where they go on", async (system, error, code) => {
    const { storage, textOf } = await rootWith("old");
    const { platform } = process;
    Object.defineProperty(process, "platform", { value: system });
    onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
    let refusals = 3;
    replaceCall("rename", (rename, values) => {
      refusals -= 1;
      if (refusals < 0) rename(...values);
      else setImmediate(values.at(-1) as Call, failure(error));
    });
    await storage.write("/a.txt", content("new"));
    expect(textOf()).toBe("new");
    refusals = 100;
    await expect(storage.write("/a.txt", content("newer"))).rejects.toMatchObject({ code });
    expect(textOf()).toBe("new");
  });
});
