import { lstat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errnoOf } from "./file-record.ts";
import { tidyDirectory } from "./recovery.ts";

/** How many directories are tidied before a start is over: all of most roots. */
const atStart = 100;

/** Between two of the others, in milliseconds: a server has better things to do. */
const paceMs = 5;

/** Tidies the directories of a root on its own file system: the first before `begin` is over, the others slowly. */
export class Sweep {
  readonly #root: string;
  readonly #report: (problem: unknown) => void;
  #left: string[] = [];
  #device: number | undefined;
  #isClosed = false;
  #underWay: Promise<void> | undefined;

  constructor(root: string, report: (problem: unknown) => void) {
    this.#root = root;
    this.#report = report;
  }

  /** Resolves when the first directories are tidied. Rejects where the root cannot be read. */
  async begin(): Promise<void> {
    this.#device = (await lstat(this.#root)).dev;
    if (await isReadOnly(this.#root)) return;
    this.#left = [this.#root];
    for (let count = 0; count < atStart && this.#left.length > 0; count += 1) await this.#next();
    void this.#goOn();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#underWay;
  }

  async #goOn(): Promise<void> {
    while (this.#left.length > 0) {
      await pause(paceMs, undefined, { ref: false });
      if (this.#isClosed) return;
      this.#underWay = this.#next().catch(this.#report);
      await this.#underWay;
    }
  }

  async #next(): Promise<void> {
    const directory = this.#left.pop();
    if (directory === undefined || !(await this.#isOurs(directory))) return;
    for (const each of await tidyDirectory(directory, directory === this.#root)) this.#left.push(each);
  }

  /** Whether it is still a directory, and of the same file system as the root. */
  async #isOurs(directory: string): Promise<boolean> {
    const stats = await lstat(directory).catch(() => undefined); // gone, or not for us to see
    return stats?.isDirectory() === true && stats.dev === this.#device;
  }
}

/** Whether the disk takes no changes, found by a removal of nothing: Deno wants a right for `access`. */
async function isReadOnly(root: string): Promise<boolean> {
  return unlink(join(root, ".filement-none.tmp")).then(
    () => false,
    (error) => errnoOf(error) === "EROFS",
  );
}
