import { type FSWatcher, watch } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { errnoOf, meansAbsent } from "./file-record.ts";

/**
 * The kernel keeps 16,384 events for a process (`fs.inotify.max_queued_events`), throws away what comes on top, and
 * nobody is told. With this many at once, some may be missing.
 */
const maxAtOnce = 4096;

/** The system has no more watches, or no more descriptors. */
const exhausted: ReadonlySet<string> = new Set(["ENOSPC", "EMFILE", "ENFILE", "ENOMEM"]);

export interface DirectoryListener {
  /** Called when so much has happened at once that the system may have dropped some of it. */
  lost(): void;
  /** Called once, when the system allows no more watches. */
  failed(error: Error): void;
}

export class DirectoryEvents {
  readonly #listener: DirectoryListener;
  #atOnce = 0;
  #isExhaustionTold = false;

  constructor(listener: DirectoryListener) {
    this.#listener = listener;
  }

  /**
   * Watches the directory at a real location. `noticed` is told the names to which something happened; `undefined`
   * where it was the directory itself, or nobody knows. `undefined` where the directory is gone, or no more can be
   * watched.
   */
  watch(real: string, path: string, noticed: (name: string | undefined) => void): FSWatcher | undefined {
    try {
      const watcher = watch(real, { persistent: false }, (_, name) => {
        this.#count();
        noticed(name ?? undefined);
      });
      return watcher.on("error", () => noticed(undefined)); // on Windows, the removal of the directory
    } catch (error) {
      if (meansAbsent(error)) return undefined; // its removal was an event in the directory above
      if (!exhausted.has(errnoOf(error))) throw error;
      if (!this.#isExhaustionTold) this.#listener.failed(exhaustion(path, error));
      this.#isExhaustionTold = true;
      return undefined;
    }
  }

  #count(): void {
    this.#atOnce += 1;
    if (this.#atOnce === 1) void this.#endCount();
  }

  async #endCount(): Promise<void> {
    await setImmediate(); // comes after all events that there were to be read
    if (this.#atOnce >= maxAtOnce) this.#listener.lost();
    this.#atOnce = 0;
  }
}

function exhaustion(path: string, cause: unknown): Error {
  const limits = "fs.inotify.max_user_watches, fs.inotify.max_user_instances and the limit of open files";
  const what = `watch: the system allows no more watches (${errnoOf(cause)})`;
  return new Error(`${what}; edits in ${path}, and maybe elsewhere, are not announced. On Linux see ${limits}.`, {
    cause,
  });
}
