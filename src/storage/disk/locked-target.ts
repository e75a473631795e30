import { basename, dirname } from "node:path";
import type { HeldLock } from "../locks.ts";
import { StorageError } from "../storage.ts";
import type { Disk } from "./disk.ts";
import { diskLocks } from "./disk-locks.ts";
import type { Target } from "./paths.ts";

/** How often something is tried again when others change the same directory or file at the same time. */
export const maxAttempts = 5;

/** Any long time: it only says that there is something to wait for. */
const aliveMs = 3_600_000;

/** A target whose lock is held. */
export interface LockedTarget extends Omit<Target, "exists"> {
  readonly name: string;
  readonly held: HeldLock | undefined;
}

/** What is done under the lock. Where it says "elsewhere", it has done nothing: the path leads elsewhere by now. */
type Task = (target: LockedTarget) => Promise<"done" | "elsewhere">;

/**
 * Runs `task` while nothing else on this machine changes the file that `path` leads to. Most paths have no links in
 * them and lead to directories that exist, which the task finds out; it is run again with what other paths turn out to
 * lead to.
 */
export async function locked(disk: Disk, path: string, since: number, task: Task): Promise<void> {
  // Those who wait for another process do not keep this one from its end, once the storage is closed.
  const alive = setInterval(() => {}, aliveMs);
  disk.alive.add(alive);
  try {
    const plain = disk.paths.plainLocation(path);
    if (plain !== undefined) {
      const place = { real: plain, directory: dirname(plain), missing: [], name: basename(plain) };
      if ((await diskLocks.run(plain, (held) => task({ ...place, held }), since)) === "done") return;
    }
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const { real } = await disk.paths.target(path);
      const outcome = await diskLocks.run(
        real,
        async (held) => {
          // While this one waited, links may have been changed and directories made or removed.
          const target = await disk.paths.target(path);
          return target.real === real ? task({ ...target, name: basename(real), held }) : "elsewhere";
        },
        since,
      );
      if (outcome === "done") return;
    }
    throw new StorageError("conflict");
  } finally {
    clearInterval(alive);
    disk.alive.delete(alive);
  }
}
