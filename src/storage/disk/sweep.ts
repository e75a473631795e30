import { lstat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ChangeWitness } from "./disk.ts";
import { errnoOf } from "./file-record.ts";
import type { DiskPaths } from "./paths.ts";
import { tidyDirectory } from "./recovery.ts";
import { abandonedAfterMs } from "./temporary-file.ts";

/** How many directories are tidied before a start is over: all of most roots. */
const atStart = 100;

/** Between two of the others, in milliseconds: a server has better things to do. */
const paceMs = 5;

/**
 * Tidies the directories of a root after a start, each once: those in which something is changed at once, the others slowly, and
 * none of other file systems. Nothing waits for it but the start, and that for the first few only.
 */
export class Sweep implements ChangeWitness {
  readonly #paths: Pick<DiskPaths, "root" | "locationOf">;
  readonly #report: (problem: unknown) => void;
  /** Directories that are still to be tidied. */
  #left: string[] = [];
  readonly #touched = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  #device: number | undefined;
  #isSomeInUse = false;
  #isClosed = false;
  #again: NodeJS.Timeout | undefined;
  readonly #readOnly: boolean;

  constructor(paths: Pick<DiskPaths, "root" | "locationOf">, report: (problem: unknown) => void, readOnly = false) {
    this.#paths = paths;
    this.#readOnly = readOnly;
    this.#report = report;
  }

  /** Resolves when the first directories are tidied. Rejects where the root cannot be read. */
  async begin(): Promise<void> {
    const { root } = this.#paths;
    this.#device = (await lstat(root)).dev;
    if (this.#readOnly || (await isReadOnly(root))) return;
    this.#left = [root];
    for (let count = 0; count < atStart && this.#left.length > 0; count += 1) await this.#next();
    void this.#goOn();
  }

  async beforeChange(path: string): Promise<void> {
    const directory = dirname(this.#paths.locationOf(path) ?? "");
    if (this.#left.length === 0 || this.#isClosed || this.#touched.has(directory)) return;
    this.#touched.add(directory);
    this.#track(tidyDirectory(directory, false).then(() => {}));
  }

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#again);
    await Promise.all(this.#underWay);
  }

  async #goOn(): Promise<void> {
    while (this.#left.length > 0) {
      await pause(paceMs, undefined, { ref: false });
      if (this.#isClosed) return;
      await this.#track(this.#next());
    }
    this.#touched.clear();
    // Files of another process, which may still die: looked at again when that would be beyond doubt.
    if (!this.#isSomeInUse || this.#isClosed) return;
    this.#isSomeInUse = false;
    this.#again = setTimeout(() => void this.begin().catch(this.#report), abandonedAfterMs).unref();
  }

  async #next(): Promise<void> {
    const directory = this.#left.pop();
    if (directory === undefined || !(await this.#isOurs(directory))) return;
    const { subdirectories, isSomeInUse } = await tidyDirectory(directory, directory === this.#paths.root);
    for (const subdirectory of subdirectories) this.#left.push(subdirectory);
    if (isSomeInUse) this.#isSomeInUse = true;
  }

  /** Whether it is still a directory, and of the same file system as the root. */
  async #isOurs(directory: string): Promise<boolean> {
    const stats = await lstat(directory).catch(ignoreFailure);
    return stats?.isDirectory() === true && stats.dev === this.#device;
  }

  #track(task: Promise<void>): Promise<void> {
    const done = task.catch(this.#report).finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
    return done;
  }
}

/** Whether the disk takes no changes: it says so even where there is nothing to remove. Deno's `access` takes a right of its own. */
async function isReadOnly(root: string): Promise<boolean> {
  return unlink(join(root, ".filement-none.tmp")).then(
    () => false,
    (error) => errnoOf(error) === "EROFS",
  );
}

/** It is gone, or not for us to see. */
function ignoreFailure(): undefined {}
