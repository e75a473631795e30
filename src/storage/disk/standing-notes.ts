import { LRUCache } from "lru-cache";
import type { Disk } from "./disk.ts";
import { diskLocks } from "./disk-locks.ts";
import type { LockedTarget } from "./locked-target.ts";

/** So long after an append the next one is expected, in milliseconds. */
const soonMs = 1000;
const maxFiles = 1000;

/**
 * Notes that stay where appends to one file follow each other soon: the next one is written into the same note, whose
 * name is on the disk already. A note that stays does no harm, and goes when no other append comes.
 */
export class StandingNotes {
  readonly #disk: Disk;
  /** When a file was last appended to, by its identity. */
  readonly #last = new LRUCache<string, number>({ max: maxFiles });
  readonly #standing = new Map<string, { readonly timer: NodeJS.Timeout; readonly remove: () => Promise<unknown> }>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Whether the note of an append that is about to be made is to stay. Called under the lock of the file. */
  keeps({ real, directory }: LockedTarget, identity: string): boolean {
    const now = performance.now();
    const last = this.#last.get(identity) ?? Number.NEGATIVE_INFINITY;
    this.#last.set(identity, now);
    if (now - last > soonMs) return false;
    const standing = this.#standing.get(identity);
    standing?.timer.refresh();
    if (standing) return true;
    if (this.#standing.size >= maxFiles) return false;
    const inode = BigInt(identity.slice(identity.lastIndexOf(":") + 1));
    const forget = (): Promise<unknown> => this.#disk.run({ kind: "forget", directory, inode });
    const remove = async (): Promise<void> => {
      try {
        const isGone = await diskLocks.tryRun(real, forget);
        if (!isGone) return void this.#standing.get(identity)?.timer.refresh(); // the file is being changed
      } catch (error) {
        this.#disk.report(error);
      }
      this.#standing.delete(identity);
    };
    this.#standing.set(identity, { timer: setTimeout(remove, soonMs).unref(), remove });
    return true;
  }

  async close(): Promise<void> {
    for (const { timer, remove } of this.#standing.values()) {
      clearTimeout(timer);
      await remove();
    }
  }
}
