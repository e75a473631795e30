import { spawn } from "node:child_process";
import fs, { writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, rmdir, symlink } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { diskLocks } from "../../../src/storage/disk/disk-locks.ts";
import { type DiskStorageOptions, diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import type { Storage, StorageWatcher } from "../../../src/storage/storage.ts";
import { deferred } from "../../helpers/deferred.ts";
import { seedOf, timesOf } from "../../helpers/effort.ts";
import { fastClock } from "../../helpers/fast-clock.ts";
import { runNodeToEnd } from "../../helpers/run-node.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { ToldChanges } from "../../helpers/told-changes.ts";
import { compiled } from "../compiled.ts";
import { content, withBytes } from "../content.ts";

/** Has the system refuse to watch anything until the test is over. */
function refuseWatches(code: string): void {
  const spy = vi.spyOn(fs, "watch").mockImplementation(() => {
    throw Object.assign(new Error(`${code}: watch`), { code });
  });
  syncBuiltinESMExports(); // for those who import { watch }
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

interface Told {
  readonly path: string;
  /** What is there now; `undefined` for nothing. */
  readonly version: string | undefined;
  readonly wasThere: boolean;
}

// Written with `writeFileSync`: between its two steps, no event is read, however busy the machine is.

/** A watched storage in a directory, and what was told of it. */
class Watched extends ToldChanges<Told> {
  readonly storage: Storage;
  readonly failures: unknown[] = [];
  unwatch = async (): Promise<void> => {};

  constructor(root: string, options: DiskStorageOptions) {
    super(root);
    this.storage = diskStorage(root, options);
  }

  async watch(watcher: Partial<StorageWatcher>): Promise<void> {
    const unwatch = await this.storage.watch?.({
      changed: (path, stat, wasThere) => this.hear({ path, version: stat?.version, wasThere }),
      ignores: () => false,
      failed: (error) => void this.failures.push(error),
      ...watcher,
    });
    this.unwatch = unwatch ?? this.unwatch;
  }

  at(path: string): string {
    return join(this.root, path);
  }

  /** What was told of files that came, changed or went, in words, sorted; without what came and went unseen. */
  async summary(): Promise<string[]> {
    await this.settled();
    return this.told
      .filter(({ path, version, wasThere }) => !path.startsWith("/sentinel") && (version !== undefined || wasThere))
      .map(({ path, version, wasThere }) => `${version === undefined ? "-" : wasThere ? "*" : "+"} ${path}`)
      .sort();
  }
}

interface Options extends DiskStorageOptions {
  readonly watcher?: Partial<StorageWatcher>;
}

/** Watches a directory with these files until the test is over. */
async function watched(files: Readonly<Record<string, string>> = {}, options: Options = {}): Promise<Watched> {
  const directory = await temporaryDirectory();
  const { watcher = {}, ...rest } = options;
  const root = join(directory, "site");
  await mkdir(root);
  const site = new Watched(root, rest);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(site.at(path), ".."), { recursive: true });
    writeFileSync(site.at(path), text);
  }
  await site.watch(watcher);
  onTestFinished(() => site.unwatch());
  return site;
}

beforeEach(() => fastClock());

describe("a watched directory tree", () => {
  it("tells of a file that was made, with its version, of one that was changed, and of one that is gone", async () => {
    const site = await watched({ "/a.txt": "a", "/sub/b.txt": "b" });
    writeFileSync(site.at("/new.txt"), "new");
    writeFileSync(site.at("/a.txt"), "changed");
    await rm(site.at("/sub/b.txt"));
    await expect.poll(() => site.summary()).toEqual(["* /a.txt", "+ /new.txt", "- /sub/b.txt"]);
    const version = (await site.storage.stat("/new.txt"))?.version;
    expect(site.told.find(({ path }) => path === "/new.txt")).toEqual({ path: "/new.txt", version, wasThere: false });
  });

  it("tells nothing of what was there before, nor of what is only read", async () => {
    const site = await watched({ "/a.txt": "a", "/sub/b.txt": "b" });
    await readFile(site.at("/a.txt"));
    await readdir(site.at("/sub"));
    expect(await site.summary()).toEqual([]);
  });

  it("tells once of a file that is emptied and written in pieces", async () => {
    const site = await watched({ "/a.txt": "a" });
    const handle = fs.openSync(site.at("/a.txt"), "w");
    for (let piece = 0; piece < 50; piece += 1) fs.writeSync(handle, "piece");
    fs.closeSync(handle);
    await expect.poll(() => site.summary()).toEqual(["* /a.txt"]);
    expect(site.told.find(({ path }) => path === "/a.txt")?.version).toBe((await site.storage.stat("/a.txt"))?.version);
  });

  it("tells once of a file that an editor saves by renaming, and not of the editor's own", async () => {
    const site = await watched({ "/a.txt": "a" });
    writeFileSync(site.at("/.a.txt.swp"), "new");
    writeFileSync(site.at("/4913"), "");
    fs.rmSync(site.at("/4913"));
    fs.renameSync(site.at("/.a.txt.swp"), site.at("/a.txt"));
    await expect.poll(() => site.summary()).toEqual(["* /a.txt"]);
  });

  it("tells of files that are moved in, out and about", async () => {
    const site = await watched({ "/out.txt": "out", "/old/about.txt": "about", "/new/other.txt": "other" });
    writeFileSync(site.at("/../in.txt"), "in");
    await rename(site.at("/../in.txt"), site.at("/in.txt"));
    await rename(site.at("/out.txt"), site.at("/../out.txt"));
    await rename(site.at("/old/about.txt"), site.at("/new/about.txt"));
    await expect
      .poll(() => site.summary())
      .toEqual(["+ /in.txt", "+ /new/about.txt", "- /old/about.txt", "- /out.txt"]);
  });

  it("tells of all files of a directory that is moved in, and follows it from then on", async () => {
    const site = await watched();
    await mkdir(site.at("/../made/deep/deeper"), { recursive: true });
    writeFileSync(site.at("/../made/a.txt"), "a");
    writeFileSync(site.at("/../made/deep/deeper/b.txt"), "b");
    await rename(site.at("/../made"), site.at("/made"));
    await expect.poll(() => site.summary()).toEqual(["+ /made/a.txt", "+ /made/deep/deeper/b.txt"]);
    writeFileSync(site.at("/made/deep/deeper/b.txt"), "changed");
    await expect.poll(() => site.summary()).toContain("* /made/deep/deeper/b.txt");
  });

  it("tells of all files of a directory that is moved out or removed", async () => {
    const files = { "/out/a.txt": "a", "/out/deep/b.txt": "b", "/gone/c.txt": "c", "/gone/deep/d.txt": "d" };
    const site = await watched(files);
    await rename(site.at("/out"), site.at("/../out"));
    await rm(site.at("/gone"), { recursive: true });
    await expect
      .poll(() => site.summary())
      .toEqual(["- /gone/c.txt", "- /gone/deep/d.txt", "- /out/a.txt", "- /out/deep/b.txt"]);
    writeFileSync(site.at("/../out/a.txt"), "no longer ours");
    expect(await site.summary()).toHaveLength(4);
  });

  it("follows a directory that is removed and at once made again", async () => {
    const site = await watched({ "/sub/a.txt": "a", "/sub/same.txt": "same" });
    fs.rmSync(site.at("/sub"), { recursive: true });
    fs.mkdirSync(site.at("/sub"));
    writeFileSync(site.at("/sub/same.txt"), "same");
    await expect.poll(() => site.summary()).toEqual(["* /sub/same.txt", "- /sub/a.txt"]);
    writeFileSync(site.at("/sub/later.txt"), "later");
    await expect.poll(() => site.summary()).toContain("+ /sub/later.txt");
  });

  it("tells of a file in whose place a directory comes, and the other way round", async () => {
    const site = await watched({ "/file": "file", "/directory/a.txt": "a" });
    fs.rmSync(site.at("/file"));
    fs.mkdirSync(site.at("/file"));
    writeFileSync(site.at("/file/b.txt"), "b");
    fs.rmSync(site.at("/directory"), { recursive: true });
    writeFileSync(site.at("/directory"), "now a file");
    await expect.poll(() => site.summary()).toEqual(["+ /directory", "+ /file/b.txt", "- /directory/a.txt", "- /file"]);
  });

  const oddNames = [
    "with space.txt",
    "#?%25&+=;.txt",
    "'\"`$(x)<b>.txt",
    "-rf",
    "caf\u00e9.txt",
    "cafe\u0301.txt",
    "\u{1f600}.html",
    "...",
    "~",
    "x".repeat(255),
  ];

  it("tells of files with any name", async () => {
    const site = await watched();
    await mkdir(site.at("/in/ddd"), { recursive: true });
    for (const name of oddNames) for (const path of [`/${name}`, `/in/ddd/${name}`]) writeFileSync(site.at(path), "x");
    const expected = oddNames.flatMap((name) => [`+ /${name}`, `+ /in/ddd/${name}`]).sort();
    await expect.poll(() => site.summary()).toEqual(expected);
  });

  it("tells nothing of names that no request can spell, nor of the server's own", async () => {
    const site = await watched();
    const names = ["back\\slash", "line\nbreak", "bell\u0007", ".filement-00000000-1-aa.tmp"];
    for (const name of names) writeFileSync(site.at(`/${name}`), "x");
    writeFileSync(Buffer.concat([Buffer.from(site.at("/latin1-")), Buffer.from([0xe9])]), "x");
    await mkdir(site.at("/.filement-directory.tmp"));
    writeFileSync(site.at("/.filement-directory.tmp/a.txt"), "x");
    expect(await site.summary()).toEqual([]);
  });

  it("tells nothing of what the watcher ignores, and watches no directory for it", async () => {
    const asked: string[] = [];
    const ignores = (path: string): boolean => {
      asked.push(path);
      return path === "/.git";
    };
    const site = await watched({ "/.git/objects/aa": "x" }, { watcher: { ignores } });
    writeFileSync(site.at("/.git/objects/bb"), "x");
    expect(await site.summary()).toEqual([]);
    expect(asked.filter((path) => path.startsWith("/.git/"))).toEqual([]);
  });

  it("tells nothing of protected files, also of those that became so later", async () => {
    const site = await watched({ "/users.json": "[]", "/log/access.log": "" });
    await site.storage.protect?.(site.at("/users.json"));
    await site.storage.protect?.(site.at("/new.log"));
    await site.storage.protect?.(site.at("/log"));
    writeFileSync(site.at("/users.json"), "[1]");
    writeFileSync(site.at("/new.log"), "1");
    writeFileSync(site.at("/log/access.log"), "1");
    await rm(site.at("/users.json"));
    writeFileSync(site.at("/public.txt"), "1");
    await expect.poll(() => site.summary()).toEqual(["+ /public.txt"]);
    expect(site.told.map(({ path }) => path)).not.toContain("/users.json");
  });
});

describe("links in a watched tree", () => {
  it("tell nothing of a file that was protected since", async () => {
    const site = await watched({ "/users.json": "[]", "/other.json": "[]" });
    await symlink("users.json", site.at("/link.json"));
    await symlink("other.json", site.at("/to-other.json"));
    await expect.poll(() => site.summary()).toEqual(["+ /link.json", "+ /to-other.json"]);
    await site.storage.protect?.(site.at("/users.json"));
    writeFileSync(site.at("/users.json"), "[1]");
    writeFileSync(site.at("/other.json"), "[1]");
    const since = async (): Promise<string[]> => (await site.summary()).filter((each) => !each.startsWith("+"));
    await expect.poll(since).toEqual(["* /other.json", "* /to-other.json"]);
  });

  it("change with the file that they lead to, also those that were there at the start", async () => {
    const before = await watched({ "/pages/home.html": "home" });
    await symlink("pages/home.html", before.at("/early.html"));
    await before.unwatch();
    const site = new Watched(before.root, {});
    await site.watch({});
    onTestFinished(() => site.unwatch());
    await symlink("pages/home.html", site.at("/index.html"));
    await expect.poll(() => site.summary()).toEqual(["+ /index.html"]);
    writeFileSync(site.at("/pages/home.html"), "changed");
    const changed = ["* /early.html", "* /index.html", "* /pages/home.html", "+ /index.html"];
    await expect.poll(() => site.summary()).toEqual(changed);
    await rm(site.at("/pages/home.html"));
    const gone = async (): Promise<string[]> => (await site.summary()).filter((each) => each.startsWith("-"));
    await expect.poll(gone).toEqual(["- /early.html", "- /index.html", "- /pages/home.html"]);
  });

  it("to directories change with what is in them, and as a whole when they are turned", async () => {
    const site = await watched({ "/releases/1/a.html": "1", "/releases/1/old.html": "1", "/releases/2/a.html": "2" });
    await symlink("releases/1", site.at("/current"));
    await expect.poll(() => site.summary()).toEqual(["+ /current/a.html", "+ /current/old.html"]);
    site.told.length = 0;
    writeFileSync(site.at("/releases/1/a.html"), "changed");
    await expect.poll(() => site.summary()).toEqual(["* /current/a.html", "* /releases/1/a.html"]);
    site.told.length = 0;
    await symlink("releases/2", site.at("/next"));
    await rename(site.at("/next"), site.at("/current"));
    await expect.poll(() => site.summary()).toEqual(["* /current/a.html", "- /current/old.html"]);
  });

  it.each(["data", "..data"])("change where a further link is turned on their way, in %s", async (name) => {
    const files = { "/1/a.html": "1", "/1/below/a.html": "1", "/2/a.html": "2", "/2/below/a.html": "2" };
    const site = await watched(files, { watcher: { ignores: (path) => path.includes("/..") } }); // as hidden names are
    await symlink("1", site.at(`/${name}`));
    await symlink(`${name}/a.html`, site.at("/a.html"));
    await symlink(`${name}/below`, site.at("/below"));
    await expect.poll(() => site.summary()).toEqual(expect.arrayContaining(["+ /a.html", "+ /below/a.html"]));
    site.told.length = 0;
    await symlink("2", site.at("/..next"));
    await rename(site.at("/..next"), site.at(`/${name}`));
    await expect.poll(() => site.summary()).toEqual(expect.arrayContaining(["* /a.html", "* /below/a.html"]));
  });

  it("are not followed in circles", async () => {
    const site = await watched({ "/a/file": "x", "/b/file": "x" });
    await symlink(".", site.at("/self"));
    await symlink("../b", site.at("/a/to-b"));
    await symlink("../a", site.at("/b/to-a"));
    await symlink("loop", site.at("/loop"));
    await expect.poll(() => site.summary()).toContain("+ /b/to-a/file");
    writeFileSync(site.at("/a/file"), "changed");
    const changed = async (): Promise<string[]> => (await site.summary()).filter((each) => each.startsWith("*"));
    await expect.poll(changed).toEqual(["* /a/file", "* /b/to-a/file"]);
  });

  it("are not followed where a third one is on the path", async () => {
    const site = await watched({ "/a/file": "x", "/b/file": "x", "/c/file": "x" });
    await symlink("../c", site.at("/b/to-c"));
    await symlink("../b", site.at("/a/to-b"));
    await symlink("a", site.at("/to-a"));
    await expect.poll(() => site.summary()).toContain("+ /a/to-b/to-c/file");
    await expect.poll(() => site.summary()).toContain("+ /to-a/to-b/file");
    await site.settled();
    expect(await site.summary()).not.toContain("+ /to-a/to-b/to-c/file");
  });

  it("that leave the root are nothing, wherever they lead", async () => {
    const site = await watched();
    await mkdir(site.at("/../outside"));
    writeFileSync(site.at("/../outside/secret.txt"), "secret");
    await symlink("../outside/secret.txt", site.at("/file"));
    await symlink("../outside", site.at("/directory"));
    await symlink("../outside/none", site.at("/nowhere"));
    await site.settled();
    writeFileSync(site.at("/../outside/secret.txt"), "changed");
    expect(await site.summary()).toEqual([]);
  });
});

describe("changes through a watched storage", () => {
  it("are told of as well, once", async () => {
    const site = await watched({ "/old.txt": "old", "/list.txt": "1" });
    await site.storage.write("/new.txt", content("new"));
    await site.storage.append("/list.txt", content("2"));
    await site.storage.remove("/old.txt");
    await expect.poll(() => site.summary()).toEqual(["* /list.txt", "+ /new.txt", "- /old.txt"]);
    expect(site.told.find(({ path }) => path === "/list.txt")?.version).toBe(
      (await site.storage.stat("/list.txt"))?.version,
    );
  });

  it("are told of after their maker had the result", async () => {
    const order: string[] = [];
    const changed: StorageWatcher["changed"] = (_, stat) => void (stat && order.push(`told of ${stat.version}`));
    const site = await watched({}, { watcher: { changed } });
    const writes = Array.from({ length: 3 }, async (_, i) => {
      for (let count = 0; count < 20; count += 1) {
        const { stat } = await site.storage.write(`/${i}.txt`, content(`${count}`));
        order.push(`wrote ${stat.version}`);
      }
    });
    await Promise.all(writes);
    await expect.poll(() => order.length).toBe(120);
    const written = new Set<string>();
    for (const each of order) {
      const [what, version = ""] = each.split(/ (?:of )?/);
      if (what === "wrote") written.add(version);
      expect(written).toContain(version);
    }
  });

  it("are told of after what others did to the same file before", async () => {
    const site = await watched({ "/a.txt": "a" });
    writeFileSync(site.at("/a.txt"), "by another program");
    const other = (await site.storage.stat("/a.txt"))?.version;
    const { stat } = await site.storage.update(
      "/a.txt",
      withBytes((bytes) => Buffer.concat([bytes, Buffer.from(", and us")])),
    );
    await site.until(() => site.told.some(({ version }) => version === stat.version));
    await site.settled();
    const versions = site.told.filter(({ path }) => path === "/a.txt").map(({ version }) => version);
    expect(versions).toEqual([other, stat.version]);
  });

  it("are not looked at half-way", async () => {
    const site = await watched({ "/a.txt": "a" });
    await diskLocks.run(site.at("/a.txt"), async () => {
      writeFileSync(site.at("/a.txt"), "half");
      await site.settled();
      expect(site.told.filter(({ path }) => path === "/a.txt")).toEqual([]);
      writeFileSync(site.at("/a.txt"), "half and whole");
    });
    await expect.poll(() => site.summary()).toEqual(["* /a.txt"]);
    const version = (await site.storage.stat("/a.txt"))?.version;
    expect(site.told.find(({ path }) => path === "/a.txt")?.version).toBe(version);
  });
});

describe("the root of a watched storage", () => {
  it("may be removed and made again", async () => {
    const site = await watched({ "/a.txt": "a", "/sub/b.txt": "b" });
    await rm(site.root, { recursive: true });
    await site.until(() => site.told.filter(({ wasThere }) => wasThere).length === 2);
    await mkdir(site.at("/sub"), { recursive: true });
    writeFileSync(site.at("/sub/c.txt"), "c");
    await site.until(() => site.told.some(({ path }) => path === "/sub/c.txt"));
    await expect.poll(() => site.summary()).toEqual(["+ /sub/c.txt", "- /a.txt", "- /sub/b.txt"]);
    expect(site.failures).toEqual([]);
  });

  it("may be exchanged for another", async () => {
    const site = await watched({ "/a.txt": "a", "/b.txt": "b" });
    await mkdir(site.at("/../next"));
    writeFileSync(site.at("/../next/a.txt"), "next");
    await rename(site.root, site.at("/../before"));
    await rename(site.at("/../next"), site.root);
    await site.until(() => site.told.filter(({ wasThere }) => wasThere).length === 2);
    await expect.poll(() => site.summary()).toEqual(["* /a.txt", "- /b.txt"]);
    writeFileSync(site.at("/c.txt"), "c");
    await expect.poll(() => site.summary()).toEqual(["* /a.txt", "+ /c.txt", "- /b.txt"]);
  });
});

describe("a burst of changes", () => {
  const isTold = ({ told }: Watched, count: number): boolean =>
    told.length >= count && told.filter(({ path, version }) => path.endsWith(".html") && version).length >= count;

  /** Each page once, none left out. */
  async function expectAllOnce(site: Watched, count: number): Promise<void> {
    const summary = (await site.summary()).filter((each) => each.endsWith(".html"));
    expect(new Set(summary).size).toBe(summary.length);
    expect(summary.length).toBe(count);
    expect(summary.every((each) => each.startsWith("+ "))).toBe(true);
  }

  it("is told whole, each file once", async () => {
    const site = await watched();
    const count = timesOf(200, 10_000);
    // Each file is made elsewhere and moved in. One that is written in place, on a machine that is busy enough, is seen
    // empty first.
    const script = `
      const { mkdirSync, renameSync, writeFileSync } = require("node:fs");
      const [, root, count] = process.argv;
      for (let i = 0; i < Number(count); i += 1) {
        const directory = root + "/d" + (i % 100) + "/e" + (i % 7);
        mkdirSync(directory, { recursive: true });
        writeFileSync(root + "/../made", "x");
        renameSync(root + "/../made", directory + "/" + i + ".html");
      }`;
    spawn(process.execPath, ["-e", script, site.root, String(count)]);
    await site.until(() => isTold(site, count));
    await expectAllOnce(site, count);
  });

  it("is told whole when the system has dropped events", async () => {
    const directories = 100;
    const count = timesOf(200, 10_000);
    const site = await watched({ "/1.txt": "", "/2.txt": "" });
    for (let i = 0; i < directories; i += 1) fs.mkdirSync(site.at(`/d${i}`));
    await site.settled();
    const makePages = (from: number, to: number): void => {
      for (let i = from; i < to; i += 1) writeFileSync(site.at(`/d${i % directories}/${i}.html`), "x");
    };
    // All of this holds the event loop. The system's queue takes 16,384 events, and is full after one for each directory.
    makePages(0, directories);
    const files = [fs.openSync(site.at("/1.txt"), "a"), fs.openSync(site.at("/2.txt"), "a")];
    // By turns, because the same event twice in a row is one.
    for (let turn = 0; turn < 10_000; turn += 1) for (const file of files) fs.writeSync(file, "x");
    for (const file of files) fs.closeSync(file);
    makePages(directories, count);
    await site.until(() => isTold(site, count));
    await expectAllOnce(site, count);
  });

  it("of anything leaves the watcher with what is there", async () => {
    const site = await watched({ "/a/1": "x", "/b/2": "x" });
    const known = new Map<string, string>();
    for (const path of ["/a/1", "/b/2"]) known.set(path, (await site.storage.stat(path))?.version ?? "");
    const random = seeded(20_261);
    const directories = ["", "/a", "/b", "/a/c", "/a/c/d"];
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const place = (): string => `${pick(directories)}/${Math.floor(random() * 6)}`;
    const actions = [
      async () => writeFileSync(site.at(place()), "x"),
      async () => writeFileSync(site.at(place()), "y", { flag: "a" }),
      () => rename(site.at(place()), site.at(place())),
      () => rename(site.at(pick(directories)), site.at(pick(directories))),
      () => rm(site.at(place()), { recursive: true }),
      () => rm(site.at(pick(directories.slice(1))), { recursive: true }),
      () => mkdir(site.at(pick(directories)), { recursive: true }),
      () => rmdir(site.at(place())),
      () => site.storage.write(place(), content("z")),
    ];
    for (let step = 0; step < timesOf(80, 3000); step += 1) {
      await pick(actions)().catch(() => {}); // what is not there cannot be moved; that is as good a step
      if (step % 100 === 99) await site.settled();
    }
    await site.settled();
    const there = (await everything(site)).sort();
    await expect.poll(() => afterAll(known, site.told)).toEqual(there);
    for (const { path, version, wasThere } of site.told) {
      expect(wasThere).toBe(known.has(path));
      expect(version === undefined ? undefined : known.get(path)).not.toBe(version ?? "");
      if (version === undefined) known.delete(path);
      else known.set(path, version);
    }
    expect([...known].sort()).toEqual(there);
    expect(site.failures).toEqual([]);
  });
});

describe("the watching", () => {
  const script = compiled("watch-and-leave");

  it.each(["ended", "left as it is"])("does not keep a process running, %s", async (how) => {
    const root = await temporaryDirectory();
    const { code, stdout, stderr } = await runNodeToEnd([script(), root, how], { cwd: root });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "/a.txt\n", stderr: "" });
  });

  it("takes one watch for each directory, and gives them all back", { tags: ["linux"] }, async () => {
    const before = watchesOfProcess();
    const site = await watched({ "/a/b/c.txt": "x", "/a/b/d.txt": "x", "/e/f.txt": "x" });
    expect(watchesOfProcess() - before).toBe(4);
    await mkdir(site.at("/e/new"));
    await rm(site.at("/a"), { recursive: true });
    await site.settled();
    await expect.poll(() => watchesOfProcess() - before).toBe(3);
    await site.unwatch();
    expect(watchesOfProcess()).toBe(before);
  });

  it("has told for the last time when it has ended", async () => {
    const site = await watched();
    for (let i = 0; i < 200; i += 1) writeFileSync(site.at(`/${i}.txt`), "x");
    await site.until(() => site.told.length > 0);
    const ended = site.unwatch();
    await ended;
    const { length } = site.told;
    const other = await site.storage.watch?.({ changed: () => heard(), ignores: () => false, failed: () => {} });
    const { promise: sentinel, resolve: heard } = deferred();
    writeFileSync(site.at("/sentinel"), "");
    await sentinel;
    await other?.();
    expect(site.told.length).toBe(length);
  });

  it.each(["ENOSPC", "EMFILE"])(
    "says once when the system allows no more (%s), and keeps what it has",
    async (code) => {
      const site = await watched({ "/a.txt": "a" });
      refuseWatches(code);
      await mkdir(site.at("/one"));
      await mkdir(site.at("/two/three"), { recursive: true });
      writeFileSync(site.at("/a.txt"), "changed");
      await expect.poll(() => site.summary()).toEqual(["* /a.txt"]);
      await expect.poll(() => site.failures.length).toBeGreaterThan(0);
      expect(site.failures.map(String)).toEqual([
        expect.stringMatching(`^Error: watch: the system allows no more watches \\(${code}\\); edits in /(one|two)`),
      ]);
    },
  );

  it("does not make a change fail that it cannot look at", async () => {
    const site = await watched({ "/a.txt": "a" }, { watcher: { changed: fail } });
    writeFileSync(site.at("/a.txt"), "by another program");
    await site.storage.write("/a.txt", content("by us"));
    expect(await readFile(site.at("/a.txt"), "utf8")).toBe("by us");
    expect(site.failures.map(String)).toContain("Error: /a.txt");
  });
});

function fail(path: string): void {
  throw new Error(path);
}

/** Small and good enough; the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seedOf(seed);
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Paths and versions of the files that are left of those known before, after all that was told. */
function afterAll(known: ReadonlyMap<string, string>, told: readonly Told[]): [string, string][] {
  const left = new Map(known);
  for (const { path, version } of told) {
    if (version === undefined) left.delete(path);
    else left.set(path, version);
  }
  return [...left].sort();
}

/** Paths and versions of all files that there are, but for the sentinels' own. */
async function everything(site: Watched, path = "/"): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const entry of site.storage.list(path)) {
    const below = path + entry.name;
    if (entry.type === "file") found.push([below, (await site.storage.stat(below))?.version ?? ""]);
    else found.push(...(await everything(site, `${below}/`)));
  }
  return found;
}

/** How many directories this process has the kernel watch. */
function watchesOfProcess(): number {
  const texts = fs.readdirSync("/proc/self/fdinfo").map((descriptor) => {
    try {
      return fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8");
    } catch {
      return ""; // the one of the listing itself, closed since
    }
  });
  return texts.join("").match(/^inotify wd/gm)?.length ?? 0;
}
