import syncFs from "node:fs";
import fs, { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { content, namesAt, textAt, withBytes } from "./content.ts";

/** What is done while a directory is exchanged with a link. */
export const operations: Readonly<Record<string, (storage: Storage) => Promise<unknown>>> = {
  read: (storage) => textAt(storage, "/dir/a.txt"),
  "look, and read": async (storage) => [await storage.stat("/dir/a.txt"), await textAt(storage, "/dir/a.txt")],
  list: (storage) => namesAt(storage, "/dir/"),
  write: (storage) => storage.write("/dir/a.txt", content("written")),
  create: (storage) => storage.write("/dir/b.txt", content("created"), { exclusive: true }),
  "create below": (storage) => storage.write("/dir/new/deep/b.txt", content("created")),
  append: (storage) => storage.append("/dir/a.txt", content("appended")),
  update: (storage) =>
    storage.update(
      "/dir/a.txt",
      withBytes((bytes) => Buffer.concat([bytes, Buffer.from("edited")])),
    ),
  remove: (storage) => storage.remove("/dir/a.txt"),
  start: async (storage) => storage.start?.(),
};

/** What a process of another machine left behind long ago, here and there. */
const leftover = ".filement-00000000-1-ab.tmp";

/** What is outside, and stays there. */
export const outsideBefore: Pick<Outcome["outside"], "names" | "text"> = {
  names: [leftover, "a.txt"],
  text: "SECRET TEXT",
};

/** What became of an operation, and of the directory outside of the root. */
interface Outcome {
  /** Whether the operation made so many system calls. */
  readonly hasSwapped: boolean;
  /** What it gave, with all that it read afterwards, as text. */
  readonly told: string;
  /** The names outside, those of empty temporary files and directories apart, and what the file there holds. */
  readonly outside: { readonly names: readonly string[]; readonly empty: readonly string[]; readonly text: string };
}

/** Runs an operation once for each `stride`th system call, {@link swapped}: it must tell nothing of the outside. */
export async function* eachSwap(name: string, swap: Swap, stride: number): AsyncGenerator<Outcome & { step: number }> {
  let step = 1;
  for (let isSwapped = true; isSwapped; step += stride) {
    const outcome = await swapped(name, step, swap);
    isSwapped = outcome.hasSwapped;
    expect([step, outcome.told]).toEqual([step, expect.not.stringMatching(/SECRET|"size":11/)]);
    yield { step, ...outcome };
  }
  expect(step).toBeGreaterThan(3);
}

type Swap = "for good" | "for one call";

/**
 * Runs an operation in a storage in which, right before the system call of that number, `/dir` is swapped for a link to a directory
 * outside the root that holds files of the same names. Where the swap is `"for one call"`, both change back right after it.
 */
async function swapped(name: string, step: number, swap: Swap): Promise<Outcome> {
  const parent = await temporaryDirectory();
  const [root, outside] = [join(parent, "root"), join(parent, "outside")];
  for (const directory of [join(root, "dir"), outside]) {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "a.txt"), directory === outside ? "SECRET TEXT" : "public");
    await writeFile(join(directory, leftover), "left");
    await utimes(join(directory, leftover), 0, 0);
  }
  const storage = diskStorage(root);
  const calls = countedCalls();
  calls.before(step, () => {
    syncFs.renameSync(join(root, "dir"), join(root, "moved"));
    syncFs.symlinkSync(outside, join(root, "dir"));
  });
  if (swap === "for one call") {
    calls.after(step, () => {
      syncFs.unlinkSync(join(root, "dir"));
      syncFs.renameSync(join(root, "moved"), join(root, "dir"));
    });
  }
  const outcome = await operations[name]?.(storage).catch((error: Error) => error.name);
  const afterwards = [
    await storage.stat("/dir/a.txt").catch(String),
    await textAt(storage, "/dir/a.txt").catch(String),
  ];
  calls.restore();
  return {
    hasSwapped: calls.count() >= step,
    told: JSON.stringify([outcome, afterwards]) ?? "",
    outside: await contentsOf(outside),
  };
}

async function contentsOf(directory: string): Promise<Outcome["outside"]> {
  const [names, empty]: [string[], string[]] = [[], []];
  for (const name of (await readdir(directory)).sort()) {
    const place = join(directory, name);
    const [stats, within] = [await stat(place), await readdir(place).catch(() => [name])];
    const isEmpty = stats.isDirectory() ? within.length === 0 : name.startsWith(".filement-") && stats.size === 0;
    (isEmpty ? empty : names).push(name);
  }
  return { names, empty, text: await readFile(join(directory, "a.txt"), "utf8").catch(() => "REMOVED") };
}

/** Counts the calls that deal with names, and does something before and after one of them. */
function countedCalls() {
  const tasks = new Map<string, () => void>();
  let count = 0;
  const originals = { ...fs };
  const { readlinkSync } = syncFs;
  const begin = (): number => {
    count += 1;
    tasks.get(`before ${count}`)?.();
    return count;
  };
  for (const name of ["open", "lstat", "realpath", "rename", "link", "unlink", "opendir"] as const) {
    const original = fs[name] as (...values: unknown[]) => Promise<unknown>;
    Object.assign(fs, {
      [name]: async (...values: unknown[]) => {
        const number = begin();
        return original(...values).finally(() => tasks.get(`after ${number}`)?.());
      },
    });
  }
  const callbacks = syncFs as unknown as Record<string, (...values: unknown[]) => void>;
  const names = ["open", "lstat", "readlink", "rename", "link", "unlink", "mkdir"];
  const originalCallbacks = Object.fromEntries(names.map((name) => [name, callbacks[name]]));
  for (const name of names) {
    callbacks[name] = (...values) => {
      const number = begin();
      const callback = values.pop() as (...results: unknown[]) => void;
      originalCallbacks[name]?.(...values, (...results: unknown[]) => {
        tasks.get(`after ${number}`)?.();
        callback(...results);
      });
    };
  }
  Object.assign(syncFs, {
    readlinkSync(path: string) {
      const number = begin();
      const location = readlinkSync(path);
      tasks.get(`after ${number}`)?.();
      return location;
    },
  });
  const restore = (): void => {
    Object.assign(fs, originals);
    Object.assign(syncFs, { readlinkSync, ...originalCallbacks });
    syncBuiltinESMExports();
  };
  syncBuiltinESMExports();
  onTestFinished(restore);
  return {
    before: (step: number, task: () => void) => tasks.set(`before ${step}`, task),
    after: (step: number, task: () => void) => tasks.set(`after ${step}`, task),
    count: () => count,
    restore,
  };
}
