import { EventEmitter, once } from "node:events";
import { mkdir, readFile, rename, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { WatchedFile, type WatchedFileOptions } from "../../src/local-files/watched-file.ts";
import { fastClock } from "../helpers/fast-clock.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { until } from "../helpers/until.ts";

interface Watching {
  readonly users: WatchedFile<string>;
  readonly location: string;
  readonly failures: string[];
  /** How often the file was read. */
  loads(): number;
}

/** Watches a file that says `one`; content that begins with `broken` is refused. */
async function watching(options: Partial<WatchedFileOptions<string>> = {}): Promise<Watching> {
  const location = options.location ?? join(await temporaryDirectory(), "users");
  if (options.location === undefined) await writeFile(location, "one");
  const failures: string[] = [];
  let loads = 0;
  const users = await WatchedFile.open<string>({
    location,
    async load(path) {
      loads += 1;
      const text = await readFile(path, "utf8");
      if (text === "" || text.startsWith("broken")) throw new Error(`it is ${text}`);
      return text;
    },
    onFailure: (error) => failures.push(error instanceof Error ? error.message : String(error)),
    ...options,
  });
  onTestFinished(() => users.close());
  return { users, location, failures, loads: () => loads };
}

/** Puts a file into the place of another, so that no reader finds half of it. */
async function replace(location: string, text: string): Promise<void> {
  await writeFile(`${location}.new`, text);
  await rename(`${location}.new`, location);
}

beforeEach(() => fastClock());

describe("WatchedFile", () => {
  it("throws what reading the file for the first time throws", async () => {
    const directory = await temporaryDirectory();
    await expect(watching({ location: join(directory, "none") })).rejects.toThrow("ENOENT");
    await writeFile(join(directory, "users"), "broken");
    await expect(watching({ location: join(directory, "users") })).rejects.toThrow("it is broken");
  });

  const changes: readonly [string, (location: string) => Promise<void>][] = [
    ["is written", (location) => writeFile(location, "two")],
    ["is replaced by renaming another file", (location) => replace(location, "two")],
    [
      "is removed and made anew",
      async (location) => {
        await rm(location);
        await writeFile(location, "two");
      },
    ],
    [
      "keeps its size and its time of change",
      async (location) => {
        await writeFile(`${location}.new`, "two");
        await utimes(`${location}.new`, 1000, 1000);
        await rename(`${location}.new`, location);
      },
    ],
  ];

  it.each(changes)("has the new content after the file %s", async (_how, change) => {
    const { users, location, failures } = await watching();
    await utimes(location, 1000, 1000);
    expect(await users.current()).toBe("one");
    await change(location);
    await until(async () => (await users.current()) === "two");
    expect([users.latest, failures]).toEqual(["two", []]);
  });

  it("keeps the former content while the file is broken, reports that once, and takes the next version", async () => {
    const { users, location, failures, loads } = await watching();
    await replace(location, "broken");
    await until(() => failures.length > 0);
    for (const reads of [5, 7]) {
      await replace(location, "broken");
      await until(() => loads() >= reads);
    }
    expect([await users.current(), failures]).toEqual(["one", ["it is broken"]]);
    await replace(location, "broken still");
    await until(() => failures.length > 1);
    expect([await users.current(), failures]).toEqual(["one", ["it is broken", "it is broken still"]]);
    await writeFile(location, "two");
    await until(async () => (await users.current()) === "two");
  });

  it("keeps the former content while the file is gone, and reports that", async () => {
    const { users, location, failures } = await watching();
    await rm(location);
    await until(() => failures.length > 0);
    expect([await users.current(), failures]).toEqual(["one", [expect.stringContaining("ENOENT")]]);
  });

  it("gives no alarm for a file that is whole again at the second look", async () => {
    const { users, location, failures, loads } = await watching();
    await writeFile(location, "");
    await until(() => loads() > 1);
    await writeFile(location, "two");
    await until(async () => (await users.current()) === "two");
    await writeFile(location, "broken");
    await until(() => failures.length > 0);
    expect(failures).toEqual(["it is broken"]);
  });

  it("reads the file once for each change, and twice where it is broken", async () => {
    const { users, location, failures, loads } = await watching();
    await replace(location, "two");
    await until(async () => (await users.current()) === "two");
    await replace(location, "broken");
    await until(() => failures.length > 0);
    await replace(location, "three");
    await until(async () => (await users.current()) === "three");
    expect(loads()).toBe(5);
  });

  it("does not take what changes while it is read, but what it becomes", async () => {
    const events = new EventEmitter();
    const reading = once(events, "reading");
    const written = once(events, "written");
    const { users, location } = await watching({
      async load(path) {
        const text = await readFile(path, "utf8");
        if (text === "two") {
          events.emit("reading");
          await written;
        }
        return text;
      },
    });
    await replace(location, "two");
    await reading;
    const seen = users.current(); // waits for what is being read
    await writeFile(location, "three");
    events.emit("written");
    expect(await seen).toBe("one");
    await until(async () => (await users.current()) !== "one");
    expect(users.latest).toBe("three");
  });

  it("does not look any more once it is closed", async () => {
    const { users, location, loads } = await watching();
    const other = await watching({ location });
    await users.close();
    await users.close();
    await writeFile(location, "two");
    await until(async () => (await other.users.current()) === "two");
    expect([await users.current(), loads()]).toEqual(["one", 1]);
  });
});

interface Following {
  /** Waits for the next call of `onChange`, and tells how many there have been. */
  next(): Promise<number>;
  calls(): number;
  /** Changes the disk. What is read meanwhile is there when all of it is done, however long that takes. */
  change(work: () => Promise<unknown>): Promise<void>;
  stop(): unknown;
}

/** Follows a file until the test is over. */
async function following(file: string): Promise<Following> {
  let calls = 0;
  let told = 0;
  let wake = (): void => {};
  let changing: Promise<unknown> = Promise.resolve();
  const followed = await WatchedFile.open({
    location: file,
    load: () => changing,
    onChange: () => {
      calls += 1;
      wake();
    },
  });
  onTestFinished(() => followed.close());
  return {
    async next() {
      while (calls === told) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      told = calls;
      return calls;
    },
    calls: () => calls,
    async change(work) {
      changing = work();
      await changing;
    },
    stop: () => followed.close(),
  };
}

async function page(): Promise<{ directory: string; file: string }> {
  const directory = await temporaryDirectory({ "config.html": "first" });
  const file = join(directory, "config.html");
  return { directory, file };
}

describe("WatchedFile with onChange", () => {
  it("tells of a file that is truncated and written in steps once", async () => {
    const { file } = await page();
    const { next, change } = await following(file);
    await change(async () => {
      await truncate(file);
      for (const text of ["a", "ab", "abc"]) await writeFile(file, text);
    });
    expect(await next()).toBe(1);
  });

  it("tells of a file that is gone, and of its return", async () => {
    const { file } = await page();
    const { next, change } = await following(file);
    await rm(file);
    expect(await next()).toBe(1);
    await change(() => writeFile(file, "again"));
    expect(await next()).toBe(2);
  });

  it("tells of a link that is turned to another directory, as Kubernetes does it", async () => {
    const directory = await temporaryDirectory();
    for (const version of ["one", "two"]) {
      await mkdir(join(directory, version));
      await writeFile(join(directory, version, "config.html"), version);
    }
    await symlink("one", join(directory, "..data"));
    await symlink("..data/config.html", join(directory, "config.html"));
    const { next } = await following(join(directory, "config.html"));
    await symlink("two", join(directory, "..data_tmp"));
    await rename(join(directory, "..data_tmp"), join(directory, "..data"));
    expect(await next()).toBe(1);
  });

  it("says nothing after it was stopped, in the middle of a change", async () => {
    const { file } = await page();
    const stopped = await following(file);
    const other = await following(file);
    await stopped.change(async () => {
      await other.change(() => writeFile(file, "second"));
      stopped.stop();
    });
    await other.next();
    await other.change(() => writeFile(file, "third"));
    await other.next();
    expect(stopped.calls()).toBe(0);
  });
});
