import { LRUCache } from "lru-cache";
import { removeNote } from "./append.ts";
import type { Disk } from "./disk.ts";
import { diskLocks } from "./disk-locks.ts";
import type { LockedTarget } from "./locked-target.ts";
import { inPool } from "./system-calls.ts";
import { appendNoteName } from "./temporary-names.ts";
import { inDirectory } from "./write-programs.ts";

/** So long after an append the next one is expected, in milliseconds. */
const soonMs = 1000;
const maxFiles = 1000;

/**
 * Notes that stay where appends to one file follow each other soon: the next one is written into the same note, whose
 * name is on the disk already. A note that stays does no harm, and goes when no other append comes.
 */
export class StandingNotes {
  readonly #disk: Disk;
  /** Files that were appended to a moment ago, by identity. */
  readonly #recent = new LRUCache<string, true>({ max: maxFiles, ttl: soonMs });
  readonly #standing = new Map<string, { readonly timer: NodeJS.Timeout; readonly remove: () => Promise<void> }>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Whether the note of an append that is about to be made is to stay. Called under the lock of the file. */
  keeps({ real, directory }: LockedTarget, identity: string): boolean {
    const isExpected = this.#recent.has(identity);
    this.#recent.set(identity, true);
    if (!isExpected) return false;
    const standing = this.#standing.get(identity);
    standing?.timer.refresh();
    if (standing || this.#standing.size >= maxFiles) return standing !== undefined;
    const noteName = appendNoteName(BigInt(identity.slice(identity.lastIndexOf(":") + 1)));
    const forget = () => inPool(inDirectory(directory, (open) => removeNote(open.at(noteName))));
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
