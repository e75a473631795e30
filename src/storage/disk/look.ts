import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { LRUCache } from "lru-cache";
import type { OpenFile, StoredStat } from "../storage.ts";
import { beforeAppended, endAppend, noteAt } from "./append.ts";
import { type Directory, Elsewhere, isTold, recordIn, requireOpened, unlessElsewhere, within } from "./directory.ts";
import type { Disk } from "./disk.ts";
import { diskLocks } from "./disk-locks.ts";
import { errnoOf, type FileRecord, fileIdentity, meansAbsent, statOf, storedStat } from "./file-record.ts";
import { OpenDiskFile } from "./open-disk-file.ts";
import { guardFlags, inPool } from "./system-calls.ts";
import { appendNoteName } from "./temporary-names.ts";

// An append grows a file in place, in several steps, and its process may die in the middle. Until the last step all
// readers are told what the file was before, and so read the old version whole: those of this process by this table, by
// device and inode since one file can have several names; those of others by the note that lies beside the file.
const pending = new Map<string, PendingAppend>();

interface PendingAppend {
  readonly stat: StoredStat;
  readonly real: string;
  /** Asked once for all readers of a moment: it takes many system calls. */
  proof?: Promise<boolean> | undefined;
}

export interface WholeFile {
  readonly stat: StoredStat;
  /** Names it, whatever paths lead to it. */
  readonly identity: string;
  /** Whether it has several names: then its own lock has to be held as well where it is changed in place. */
  readonly isShared: boolean;
}

/** Versions that are known to be whole, by real location: what is as it was needs no second look. About 4 MiB. */
const settled = new LRUCache<string, WholeFile>({ maxSize: 10_000, sizeCalculation: () => 1 });

/** How often a file is looked at that is another one each time. */
const maxLooks = 10;

/**
 * How often a path is looked up anew after a part of it was moved, or became a link. Where only names lead to
 * directories, each time could be the one in which that goes unnoticed.
 */
const maxAttempts = isTold() ? 5 : 1;

/** Looks at a name; `undefined` where nothing can be seen. Throws {@link Elsewhere} where a link leads on. */
type See<T> = (disk: Disk, directory: Directory, name: string) => Promise<T | undefined>;

/**
 * What `see` sees at a path, by way of its directory, which is open and was found to lie inside the root: nothing is
 * told of, nor remembered, that was reached by the path alone. `undefined` where nothing is to be seen.
 */
export async function look<T>(disk: Disk, path: string, see: See<T>): Promise<T | undefined> {
  let plain = disk.paths.plainLocation(path); // most paths have no links in them
  for (let attempt = plain === undefined ? 1 : 0; attempt <= maxAttempts; attempt += 1) {
    const real = plain ?? (await disk.paths.find(path));
    plain = undefined;
    if (real === undefined) return undefined;
    const [directory, name] = real === disk.paths.root ? [real, "."] : [dirname(real), basename(real)];
    try {
      return await within(directory, (open) => see(disk, open, name));
    } catch (error) {
      unlessElsewhere(error);
    }
  }
  return undefined;
}

/** Takes note that a version of a file is whole, and lies where it seems to; gives what is known of it. */
export function settle(real: string, record: Omit<FileRecord, "type">, isOwn = false): WholeFile {
  const stat = statOf(record, "file", isOwn);
  const known = settled.get(real);
  if (!isOwn && known?.stat.version === stat.version) return known; // it may be our own
  const file = { stat, identity: fileIdentity(record), isShared: record.nlink > 1n };
  settled.set(real, file);
  return file;
}

/** Nothing lies at a location any more. */
export function forget(real: string): void {
  settled.delete(real);
}

/** What was found to be whole at a location, and may have changed since. */
export function knownWhole(real: string): WholeFile | undefined {
  return settled.get(real);
}

/** What readers are to know of a file or directory; `undefined` for anything else. */
export async function statAt(disk: Disk, directory: Directory, name: string): Promise<StoredStat | undefined> {
  const read = (): Promise<BigIntStats> => inPool(recordIn(directory, name));
  try {
    const stats = await read();
    if (stats.isSymbolicLink()) throw new Elsewhere();
    return stats.isFile() || stats.isDirectory() ? await visibleStat(disk, directory, name, stats, read) : undefined;
  } catch (error) {
    if (meansAbsent(error)) return undefined;
    throw error;
  }
}

/** What readers are to know of a file, given its record; `again` reads the record anew. */
export async function visibleStat(
  disk: Disk,
  directory: Directory,
  name: string,
  stats: BigIntStats,
  again: () => Promise<BigIntStats>,
): Promise<StoredStat> {
  const real = join(directory.real, name);
  const known = settled.get(real);
  let seen = stats;
  for (let looks = 1; ; looks += 1) {
    const stat = storedStat(seen);
    const own = pending.get(fileIdentity(seen));
    if (own && (await isUnderWay(own, seen))) return own.stat;
    if (known?.stat.version === stat.version) return known.stat;
    // Another program may write to it all the time, and leaves no notes.
    if (looks > maxLooks || stat.type === "directory") return stat;
    const noted = await beforeAppend(disk, directory, name, seen);
    if (noted) return noted;
    // An append may have ended since the record was read, which would then be one of its intermediate steps.
    const now = await again();
    if (storedStat(now).version === stat.version) {
      // Not one that was replaced since it was opened, nor where a change has been made since.
      if (now.nlink > 0n && settled.get(real) === known) settle(real, now);
      return stat;
    }
    seen = now;
  }
}

/**
 * Whether a file is the one that this process is about to append to, or does. That one may be gone, and this be a new
 * one with its inode number.
 */
async function isUnderWay(append: PendingAppend, seen: BigIntStats): Promise<boolean> {
  if (storedStat(seen).version === append.stat.version) return true;
  append.proof ??= isProven(append, seen.ino);
  const isIts = await append.proof;
  if (!isIts) append.proof = undefined; // there may be nothing to be seen of it yet
  return isIts;
}

async function isProven({ stat, real }: PendingAppend, ino: bigint): Promise<boolean> {
  const place = join(dirname(real), appendNoteName(ino));
  const before = await inPool(beforeAppended(place, real, ino, true));
  return before !== undefined && statOf({ ino, ...before }).version === stat.version;
}

/** The state before an append that is under way. One of a dead process is ended first, unless files are only read. */
async function beforeAppend(
  { isReadOnly }: Disk,
  directory: Directory,
  name: string,
  stats: BigIntStats,
): Promise<StoredStat | undefined> {
  const noteName = appendNoteName(stats.ino);
  if (!(await inPool(noteAt(directory.at(noteName))))) return undefined;
  // Where it cannot be ended now, the next change of the file says why.
  const hasEnded = !isReadOnly && (await endIfAbandoned(directory, noteName, name, stats).catch(() => false));
  if (hasEnded) return undefined;
  const { ino } = stats;
  const before = await inPool(beforeAppended(directory.at(noteName), directory.at(name), ino, false));
  return before && statOf({ ino, ...before });
}

/** Ends the append that a note is about, unless a lock of the file is held: its holder will end it. */
export async function endIfAbandoned(
  directory: Directory,
  noteName: string,
  name: string,
  stats: BigIntStats | undefined,
): Promise<boolean> {
  const outcome = await diskLocks.tryRun(join(directory.real, name), async () => {
    const end = (): Promise<void> => inPool(endAppend(directory.at(noteName), directory.at(name)));
    return stats && stats.nlink > 1n ? diskLocks.tryRun(fileIdentity(stats), end) : { value: await end() };
  });
  return outcome?.value !== undefined;
}

/** Runs `append` while readers are told that the file is still what it was. */
export async function whileAppending<T>(
  real: string,
  { identity, stat }: WholeFile,
  append: () => Promise<T>,
): Promise<T> {
  pending.set(identity, { stat, real });
  try {
    return await append();
  } finally {
    pending.delete(identity);
  }
}

export async function openFile(disk: Disk, directory: Directory, name: string): Promise<OpenFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(directory.at(name), constants.O_RDONLY | guardFlags);
  } catch (error) {
    if (errnoOf(error) === "ELOOP") throw new Elsewhere();
    if (meansAbsent(error)) return undefined;
    throw error;
  }
  let file: OpenFile | undefined;
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return undefined; // a directory, a FIFO, a device
    await inPool(requireOpened(directory, name, handle.fd));
    const stat = await visibleStat(disk, directory, name, stats, () => handle.stat({ bigint: true }));
    file = new OpenDiskFile(handle, stat);
    return file;
  } finally {
    if (!file) await handle.close();
  }
}
