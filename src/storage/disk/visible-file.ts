import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { join, sep } from "node:path";
import type { Readable } from "node:stream";
import { LRUCache } from "lru-cache";
import { type ByteSpan, type OpenFile, StorageError, type StoredStat } from "../storage.ts";
import { appendNoteName, type Before, noteAt } from "./append-note.ts";
import { type Directory, hasOpened, stillHolds } from "./directory.ts";
import { diskLocks } from "./disk-locks.ts";
import { guardFlags } from "./file-calls.ts";
import { errnoOf, fileIdentity, meansAbsent, statOf, storedStat } from "./file-record.ts";
import { FileStream, type StreamSource } from "./file-stream.ts";
import { inPool } from "./system-calls.ts";
import { type CutAppend, endAppend } from "./take-back.ts";

// An append grows a file in place, in several steps, and its process may die in the middle. Until the last step all
// readers are told what the file was before, and so read the old version whole: those of this process by this table, by
// device and inode since one file can have several names; those of others by the note that lies beside the file.
const pending = new Map<string, StoredStat>();

interface WholeFile {
  readonly stat: StoredStat;
  readonly identity: string;
}

/** Versions that are known to be whole, by real location: what is as it was needs no second look. About 4 MiB. */
const settled = new LRUCache<string, WholeFile>({ max: 10_000 });

/** How often a file is looked at that is another one each time. */
const maxLooks = 10;

/** What is at a name; `"elsewhere"` where a link leads on, or has taken the place of a directory. */
export type Seen<T> = T | "elsewhere" | undefined;

/** Takes note that a version of a file is whole, and lies where it seems to. */
export function settle(real: string, stat: StoredStat, identity: string): void {
  settled.set(real, { stat, identity });
}

/** What was found to be whole at a location, and may have changed since. */
export function knownWhole(real: string): WholeFile | undefined {
  return settled.get(real);
}

/** What readers are to know of a file or directory; `undefined` for anything else. */
export async function statAt(directory: Directory, name: string): Promise<Seen<StoredStat>> {
  const read = async (): Promise<BigIntStats> => {
    const stats = await lstat(directory.at(name), { bigint: true });
    if (await inPool(stillHolds(directory, name, stats))) return stats;
    throw new StorageError("conflict");
  };
  try {
    const stats = await read();
    if (stats.isSymbolicLink()) return "elsewhere";
    if (!stats.isFile() && !stats.isDirectory()) return undefined;
    return await visibleStat(directory, name, stats, read);
  } catch (error) {
    if (error instanceof StorageError) return "elsewhere";
    if (meansAbsent(error)) return undefined;
    throw error;
  }
}

/** What readers are to know of a file, given its record; `again` reads the record anew. */
export async function visibleStat(
  directory: Directory,
  name: string,
  stats: BigIntStats,
  again: () => Promise<BigIntStats>,
): Promise<StoredStat> {
  const real = join(directory.real, name);
  let stat = storedStat(stats);
  let seen = stats;
  for (let look = 0; look < maxLooks; look += 1) {
    const before = pending.get(fileIdentity(seen));
    if (before) return before;
    if (stat.type === "directory" || settled.get(real)?.stat.version === stat.version) return stat;
    const found = await beforeAppend(directory, name, seen);
    if (found) return statOf({ ino: seen.ino, ...found });
    // An append may have ended since the record was read, which would then be one of its intermediate steps.
    const read = await again();
    const now = storedStat(read);
    if (now.version === stat.version) {
      settle(real, now, fileIdentity(read));
      return now;
    }
    [seen, stat] = [read, now];
  }
  return stat; // another program writes to it all the time, and leaves no notes
}

/** Real locations below which reading changes nothing: a cut append is told of as if it had not begun. */
export const onlyRead: Set<string> = new Set();

function isOnlyRead(real: string): boolean {
  for (const root of onlyRead) if (`${real}${sep}`.startsWith(root.endsWith(sep) ? root : root + sep)) return true;
  return false;
}

/** The state before an append that is under way. One whose process has died is ended first. */
async function beforeAppend(directory: Directory, name: string, stats: BigIntStats): Promise<Before | undefined> {
  const cut = { note: directory.at(appendNoteName(stats.ino)), file: directory.at(name) };
  const { before } = (await inPool(noteAt(cut.note))) ?? {};
  if (!before || isOnlyRead(directory.real)) return before;
  try {
    return (await endIfAbandoned(join(directory.real, name), stats, cut)) ? undefined : before;
  } catch {
    return before; // it cannot be ended now; the next change of the file says why
  }
}

/**
 * Ends the append that a note is about, and gives whether it did: not where somebody holds a lock of the file, who is
 * at work on it or will end it.
 */
export async function endIfAbandoned(real: string, stats: BigIntStats | undefined, cut: CutAppend): Promise<boolean> {
  const outcome = await diskLocks.tryRun(real, async () => {
    const end = (): Promise<void> => inPool(endAppend(cut));
    return stats && stats.nlink > 1n ? diskLocks.tryRun(fileIdentity(stats), end) : { value: await end() };
  });
  return outcome?.value !== undefined;
}

/** Runs `append` while readers are told that the file is still what `stat` says. */
export async function whileAppending<T>(identity: string, stat: StoredStat, append: () => Promise<T>): Promise<T> {
  pending.set(identity, stat);
  try {
    return await append();
  } finally {
    pending.delete(identity);
  }
}

export async function openFile(directory: Directory, name: string): Promise<Seen<OpenFile>> {
  let handle: FileHandle;
  try {
    handle = await open(directory.at(name), constants.O_RDONLY | guardFlags);
  } catch (error) {
    if (errnoOf(error) === "ELOOP") return "elsewhere";
    if (meansAbsent(error)) return undefined;
    throw error;
  }
  let isOpen = false;
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return undefined; // a directory, a FIFO, a device
    if (!(await inPool(hasOpened(directory, name, handle.fd)))) return "elsewhere";
    const stat = await visibleStat(directory, name, stats, () => handle.stat({ bigint: true }));
    isOpen = true;
    return new OpenDiskFile(handle, stat);
  } finally {
    if (!isOpen) await handle.close();
  }
}

class OpenDiskFile implements OpenFile {
  readonly stat: StoredStat;
  readonly #handle: FileHandle;
  #isClosed = false;
  /** The one who opened it and every reading under way; the last to leave closes the file. */
  #users = 1;

  constructor(handle: FileHandle, stat: StoredStat) {
    this.#handle = handle;
    this.stat = stat;
  }

  async bytes(span: ByteSpan = this.#whole()): Promise<Uint8Array> {
    this.#enter();
    try {
      // Not from Buffer's pool, which a small piece kept in a cache would keep from being freed.
      const bytes = Buffer.allocUnsafeSlow(span.end + 1 - span.start);
      let filled = 0;
      while (filled < bytes.length) filled += await this.#read(bytes.subarray(filled), span.start + filled);
      return bytes;
    } finally {
      await this.#leave();
    }
  }

  stream(span: ByteSpan = this.#whole()): Readable {
    this.#enter();
    const read: StreamSource["read"] = (into, position) => this.#read(into, position);
    return new FileStream({ read, done: () => this.#leave() }, span);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#leave();
  }

  #whole(): ByteSpan {
    return { start: 0, end: this.stat.size - 1 };
  }

  async #read(into: Uint8Array, position: number): Promise<number> {
    const { bytesRead } = await this.#handle.read(into, 0, into.length, position);
    // Never padded: a client that was promised more bytes must learn that they will not come.
    if (bytesRead === 0) throw new Error("the file became shorter while it was read");
    return bytesRead;
  }

  #enter(): void {
    if (this.#users === 0) throw new Error("the file was closed before it was read");
    this.#users += 1;
  }

  async #leave(): Promise<void> {
    this.#users -= 1;
    if (this.#users === 0) await this.#handle.close();
  }
}
