import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { HeldLock } from "../locks.ts";
import { Elsewhere } from "./directory.ts";
import { diskLocks } from "./disk-locks.ts";
import { type DiskThread, threadOf } from "./disk-thread.ts";
import type { Job, JobResult } from "./jobs.ts";
import { type DiskPaths, type Target, targetAt } from "./paths.ts";

/** How often something is tried again when others change the same directory or file at the same time. */
export const maxAttempts = 5;

/** Any long time: it only says that there is something to wait for. */
const aliveMs = 3_600_000;

export interface LockedTarget extends Target {
  readonly held: HeldLock | undefined;
}

/** A root on a disk, as all who change it use it. */
export class Disk {
  readonly paths: DiskPaths;
  /** Whether reading changes nothing: a cut append is told of as if it had not begun. */
  readonly isReadOnly: boolean;
  /** Whether a change is on the disk itself, beyond a power failure, before it counts as made. */
  readonly sync: boolean;
  /** Called with the path of a file under its lock, before it is changed: watchers look. They never reject. */
  readonly witnesses: Set<(path: string) => Promise<void>> = new Set();
  /** Told of what went wrong after a change was made; the change stands. */
  report: (problem: unknown) => void = () => {};
  readonly #thread: DiskThread;
  /** Keeps the process alive while changes wait for a lock, until the storage closes. */
  readonly #alive = setInterval(() => {}, aliveMs).unref();
  #waiting = 0;

  constructor(paths: DiskPaths, isReadOnly: boolean, sync: boolean) {
    this.paths = paths;
    this.isReadOnly = isReadOnly;
    this.sync = sync;
    this.#thread = threadOf(statSync(paths.root).dev);
  }

  /** Does a job, as `DiskThread.run` does. Throws `Elsewhere` where its directory is not there, or not any more. */
  async run(job: Job, late?: (error: unknown) => void): Promise<JobResult> {
    const result = await this.#thread.run(job, late);
    for (const problem of result.problems) this.report(problem);
    return result;
  }

  removeSpares(): Promise<void> {
    return this.#thread.removeSpares(this.paths.root);
  }

  look(location: string): Promise<JobResult> {
    return this.run({ kind: "look", directory: dirname(location), name: basename(location) });
  }

  /** Lets watchers look at a file that is about to be changed: what others did to it is announced first. */
  async callWitnesses(path: string): Promise<void> {
    for (const witness of this.witnesses) await witness(path);
  }

  /**
   * Runs `task` while nothing else on this machine changes the file that `path` leads to. Where the task throws
   * `Elsewhere`, it has done nothing, and is run again with what the path leads to by now. Most paths have no links in
   * them and lead to directories that exist: that is tried first. `since` is when it began to wait.
   */
  async locked<T>(
    path: string,
    task: (target: LockedTarget) => Promise<T>,
    since: number = performance.now(),
  ): Promise<T> {
    // Those who wait for another process do not keep this one from its end, once the storage is closed.
    if (this.#waiting === 0) this.#alive.ref();
    this.#waiting += 1;
    try {
      for (let attempt = 0; ; attempt += 1) {
        const plain = attempt === 0 ? this.paths.plainLocation(path) : undefined;
        const real = plain ?? (await this.paths.target(path)).real;
        try {
          const run = async (held: HeldLock | undefined): Promise<T> => {
            // While this one waited, links may have been changed and directories made or removed.
            const target = plain === undefined ? await this.paths.target(path) : targetAt(plain);
            if (target.real !== real) throw new Elsewhere();
            return task({ ...target, held });
          };
          return await diskLocks.run(real, run, since);
        } catch (error) {
          if (!(error instanceof Elsewhere) || attempt === maxAttempts) throw error;
        }
      }
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#alive.unref();
    }
  }

  close(): void {
    clearInterval(this.#alive);
  }
}
