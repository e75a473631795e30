import { mkdir, readFile, rename, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { WatchedFile, type WatchedFileOptions } from "../../src/local-files/watched-file.ts";
import { fastClock } from "../helpers/fast-clock.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

interface Watching {
  readonly users: WatchedFile<string>;
  readonly location: string;
  readonly failures: string[];
  /** How often the file was read. */
  loads(): number;
  /** Lets time pass. */
  pass(ms: number): void;
}

/** Watches a file that says `one`; content that begins with `broken` is refused. */
async function watching(options: Partial<WatchedFileOptions<string>> = {}): Promise<Watching> {
  const location = options.location ?? join(await temporaryDirectory(), "users");
  if (options.location === undefined) await writeFile(location, "one");
  const failures: string[] = [];
  let loads = 0;
  let now = 5000;
  const users = await WatchedFile.open<string>({
    location,
    async load(path) {
      loads += 1;
      const text = await readFile(path, "utf8");
      if (text === "" || text.startsWith("broken")) throw new Error(`it is ${text}`);
      return text;
    },
    onFailure: (error) => failures.push(error instanceof Error ? error.message : String(error)),
    now: () => now,
    ...options,
  });
  onTestFinished(() => users.close());
  return {
    users,
    location,
    failures,
    loads: () => loads,
    pass: (ms) => {
      now += ms;
    },
  };
}

/** Puts a file into the place of another, so that nobody reads half of it. */
async function replace(location: string, text: string): Promise<void> {
  await writeFile(`${location}.new`, text);
  await rename(`${location}.new`, location);
}

/** Waits until something is so; the test fails at its own time limit otherwise. */
async function until(condition: () => unknown): Promise<void> {
  while (!(await condition())) await delay(5);
}

describe("WatchedFile", () => {
  it("throws what reading the file for the first time throws", async () => {
    const directory = await temporaryDirectory();
    await expect(watching({ location: join(directory, "none") })).rejects.toThrow("ENOENT");
    await writeFile(join(directory, "users"), "broken");
    await expect(watching({ location: join(directory, "users") })).rejects.toThrow("it is broken");
  });

  describe.each([
    ["where the system tells of changes", true],
    ["where it does not", false],
  ])("%s", (_where, isWatched) => {
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
      const { users, location, pass, failures } = await watching({ isWatched });
      await utimes(location, 1000, 1000);
      expect(await users.current()).toBe("one");
      await change(location);
      await until(async () => {
        if (!isWatched) pass(1000);
        return (await users.current()) === "two";
      });
      expect(failures).toEqual([]);
    });

    it("has the new content behind a link that leads elsewhere now", async () => {
      const directory = await temporaryDirectory();
      for (const name of ["one", "two"]) {
        await mkdir(join(directory, name));
        await writeFile(join(directory, name, "users"), name);
      }
      await symlink("one", join(directory, "current"));
      await symlink("current/users", join(directory, "users"));
      const { users, pass } = await watching({ location: join(directory, "users"), isWatched });
      expect(await users.current()).toBe("one");
      await symlink("two", join(directory, "next"));
      await rename(join(directory, "next"), join(directory, "current"));
      pass(1000);
      expect(await users.current()).toBe("two");
    });

    it("keeps the former content while the file is broken, reports that once, and takes the next version", async () => {
      fastClock();
      const { users, location, failures, pass } = await watching({ isWatched });
      const next = (): Promise<string> => {
        if (!isWatched) pass(1000);
        return users.current();
      };
      await replace(location, "broken");
      await until(async () => (await next()) && failures.length > 0);
      expect([await next(), failures]).toEqual(["one", ["it is broken"]]);
      await replace(location, "broken");
      for (let round = 0; round < 5; round += 1) expect(await next()).toBe("one");
      await replace(location, "broken still");
      await until(async () => (await next()) && failures.length > 1);
      expect([await next(), failures]).toEqual(["one", ["it is broken", "it is broken still"]]);
      await writeFile(location, "two");
      await until(async () => (await next()) === "two");
    });

    it("keeps the former content while the file is gone, and reports that", async () => {
      fastClock();
      const { users, location, failures, pass } = await watching({ isWatched });
      await rm(location);
      await until(async () => {
        if (!isWatched) pass(1000);
        return (await users.current()) && failures.length > 0;
      });
      expect([await users.current(), failures.length]).toEqual(["one", 1]);
      expect(failures[0]).toContain("ENOENT");
    });
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

  it("looks at the file once a second at most, and reads it only when it has changed", async () => {
    const { users, location, loads, pass } = await watching({ isWatched: false });
    pass(1000);
    expect([await users.current(), loads()]).toEqual(["one", 1]);
    await writeFile(location, "two");
    pass(999);
    expect([await users.current(), loads()]).toEqual(["one", 1]);
    pass(1);
    expect([await users.current(), loads()]).toEqual(["two", 2]);
    for (let round = 0; round < 5; round += 1) {
      pass(1000);
      await users.current();
    }
    expect(loads()).toBe(2);
  });

  it("reports the same reason once, however often the file is written with it", async () => {
    fastClock();
    const { users, location, failures, loads, pass } = await watching({ isWatched: false });
    for (const expected of [3, 5, 7]) {
      await writeFile(location, "broken");
      pass(1000);
      await until(async () => (await users.current()) && loads() >= expected);
      expect([await users.current(), failures, loads()]).toEqual(["one", ["it is broken"], expected]);
    }
  });

  it("does not take what changes while it is read, but what it becomes", async () => {
    let opened: () => void = () => {};
    const reading = new Promise<void>((resolve) => {
      opened = resolve;
    });
    let proceed: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const { users, location } = await watching({
      async load(path) {
        const text = await readFile(path, "utf8");
        if (text === "two") {
          opened();
          await gate;
        }
        return text;
      },
    });
    await replace(location, "two");
    await reading;
    await writeFile(location, "three");
    proceed();
    const seen = new Set<string>();
    await until(async () => seen.add(await users.current()).has("three"));
    expect([...seen].filter((text) => text !== "one")).toEqual(["three"]);
  });

  it("has everybody who asks wait for a change that is being read, and reads it once", async () => {
    const { users, location, loads, pass } = await watching({ isWatched: false });
    await writeFile(location, "two");
    pass(1000);
    expect(await Promise.all(Array.from({ length: 50 }, () => users.current()))).toEqual(Array(50).fill("two"));
    expect(loads()).toBe(2);
  });

  it("does not look any more once it is closed", async () => {
    const { users, location, loads, pass } = await watching({ isWatched: false });
    await writeFile(location, "broken");
    pass(1000);
    const looking = users.current();
    await users.close();
    await users.close();
    await looking;
    await writeFile(location, "two");
    pass(1000);
    expect([await users.current(), loads()]).toEqual(["one", 2]);
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
  const directory = await temporaryDirectory();
  const file = join(directory, "config.html");
  await writeFile(file, "first");
  return { directory, file };
}

describe("WatchedFile with onChange", () => {
  beforeEach(() => fastClock());

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
