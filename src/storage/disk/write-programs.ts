import { Buffer } from "node:buffer";
import { type BigIntStats, constants } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { StorageError } from "../storage.ts";
import {
  type AppendNote,
  appendNoteName,
  contextOf,
  isTrusted,
  markBegun,
  noteRecord,
  recordBytes,
} from "./append-note.ts";
import {
  closeDirectory,
  type Directory,
  Elsewhere,
  hasOpened,
  openDirectory,
  openIn,
  requireInPlace,
  sync,
} from "./directory.ts";
import { attempted, openIfThere, readInto, recordAt, unlessFailed, writeAll } from "./file-calls.ts";
import { errnoOf, storedStat } from "./file-record.ts";
import { call, type Program } from "./system-calls.ts";
import { endAppend, removeNote, takeBack } from "./take-back.ts";

interface Place {
  /** Real location of the directory; as long as that does not exist, of the nearest above. */
  readonly directory: string;
  /** Names of the directories below it that are to be made, outermost first. */
  readonly missing: readonly string[];
  readonly name: string;
  /** The version that is to be changed; `undefined` for nothing. */
  readonly expected: string | undefined;
  readonly sync: boolean;
}

/** Content in a temporary file; before that of an append is room for its record. */
export interface ReceivedContent {
  /** A path that leads to it as long as its directory is open. */
  readonly temporary: string;
  readonly byteLength: number;
  readonly checksum: number;
}

/** What is asked of the disk: plain values, which can be sent to another thread. */
export type Job =
  | { readonly kind: "look"; readonly directory: string; readonly name: string }
  | { readonly kind: "read"; readonly directory: string; readonly name: string; readonly expected: string }
  | (Place & {
      readonly kind: "replace";
      readonly content: Uint8Array | ReceivedContent;
      /** The name of a temporary file, where the content is not in one. */
      readonly temporary: string;
      readonly moment: number;
    })
  | (Place & {
      readonly kind: "append";
      readonly content: Uint8Array | ReceivedContent;
      /** Whether the lock of the file itself is held, beside that of its name. */
      readonly isAlone: boolean;
      /** Whether the note may stay for the next append: then that needs none of its own. */
      readonly keepsNote: boolean;
    })
  | (Place & { readonly kind: "remove" })
  | (Place & {
      readonly kind: "move";
      /** The new place, and the version that is replaced there. */
      readonly goal: Pick<Place, "directory" | "name" | "expected">;
    })
  | (Pick<Place, "directory" | "name" | "sync"> & { readonly kind: "make-directory" })
  | { readonly kind: "mend"; readonly directory: string; readonly name: string; readonly inode: bigint }
  | { readonly kind: "forget"; readonly directory: string; readonly inode: bigint };

export interface FileRecord extends Pick<BigIntStats, "dev" | "ino" | "nlink" | "size" | "mtimeNs" | "ctimeNs"> {
  readonly type: "file" | "directory" | "link" | "other";
}

export type JobResult =
  /** The directory is not there, or lies elsewhere, so that nothing was done. */
  | { readonly kind: "elsewhere" }
  /** Something else is there than expected; nothing was done. `hasNote`: an append may have been cut short. */
  | { readonly kind: "found"; readonly found: FileRecord | undefined; readonly hasNote: boolean }
  /** It is done: what is there now, as far as the system tells; and what has gone wrong after it. */
  | { readonly kind: "done"; readonly record: FileRecord | undefined; readonly problems: readonly unknown[] }
  | { readonly kind: "read"; readonly bytes: Uint8Array };

/** With O_APPEND, what another program adds at the same time is not overwritten. */
const appendFlags = constants.O_RDWR | constants.O_APPEND;
const createFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** What of a file's mode its successor gets: set-user-id and set-group-id were meant for the program that it was. */
const keptMode = 0o1777n;
/** Attributes that this user may not set, or the file system not keep, are left. */
const unkept: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"]);
const linksUnsupported: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EINVAL"]);

/** Up to here an append is one piece, also where another program appends at the same time. */
const pieceBytes = 8 * 1024 * 1024;

export function programOf(job: Job): Program<JobResult> {
  return inDirectory(job.directory, (directory) => {
    switch (job.kind) {
      case "look":
        return look(directory, job.name);
      case "read":
        return read(directory, job.name, job.expected);
      case "replace":
        return replace(directory, job);
      case "append":
        return append(directory, job);
      case "remove":
        return remove(directory, job);
      case "move":
        return inDirectory(job.goal.directory, (goal) => move(directory, goal, job));
      case "make-directory":
        return makeDirectory(directory, job);
      case "mend":
        return mend(directory, job.name, job.inode);
      case "forget":
        return forget(directory, job.inode);
    }
  });
}

function* inDirectory(real: string, use: (directory: Directory) => Program<JobResult>): Program<JobResult> {
  const directory = yield* openDirectory(real);
  if (!directory) return { kind: "elsewhere" };
  try {
    return yield* use(directory);
  } catch (error) {
    if (error instanceof Elsewhere) return { kind: "elsewhere" };
    throw error;
  } finally {
    yield* closeDirectory(directory);
  }
}

function recordOf(stats: BigIntStats): FileRecord {
  const { dev, ino, nlink, size, mtimeNs, ctimeNs } = stats;
  const type = stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "link" : "other";
  return { type, dev, ino, nlink, size, mtimeNs, ctimeNs };
}

function* look(directory: Directory, name: string): Program<JobResult> {
  const stats = yield* recordAt(directory.at(name));
  yield* requireInPlace(directory);
  return yield* found(directory, stats);
}

function* found(directory: Directory, stats: BigIntStats | undefined): Program<JobResult> {
  const hasNote = stats?.isFile() && (yield* recordAt(directory.at(appendNoteName(stats.ino)))) !== undefined;
  return { kind: "found", found: stats && recordOf(stats), hasNote: hasNote === true };
}

function isExpected(stats: BigIntStats | undefined, version: string | undefined): boolean {
  return (stats && storedStat(stats).version) === version;
}

function* read(directory: Directory, name: string, expected: string): Program<JobResult> {
  const file = yield* openIfThere(directory.at(name), constants.O_RDONLY);
  if (file === undefined) return yield* look(directory, name);
  try {
    if (!(yield* hasOpened(directory, name, file))) throw new Elsewhere();
    const stats = yield* call.fstat(file, { bigint: true });
    if (!isExpected(stats, expected)) return yield* found(directory, stats);
    const bytes = Buffer.allocUnsafeSlow(Number(stats.size));
    if ((yield* readInto(file, bytes, 0)) < bytes.length) throw new Error("the file became shorter while it was read");
    return { kind: "read", bytes };
  } finally {
    yield* call.close(file);
  }
}

type ReplaceJob = Extract<Job, { kind: "replace" }>;

/** Stores content as a file: in a temporary one beside it first, which then takes its place. */
function* replace(directory: Directory, job: ReplaceJob): Program<JobResult> {
  const { content, name, missing, sync: isSynced } = job;
  const before = missing.length > 0 ? undefined : yield* recordAt(directory.at(name));
  if (!isExpected(before, job.expected)) return yield* found(directory, before);
  const temporary = "temporary" in content ? content.temporary : directory.at(job.temporary);
  const file =
    "temporary" in content
      ? yield* call.open(temporary, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0))
      : yield* openIn(directory, job.temporary, createFlags, modeOfSuccessor(before));
  let isMoved = false;
  const parents = new Parents(directory);
  try {
    if (!("temporary" in content)) {
      yield* writeAll(file, content, null);
      yield* call.utimes(temporary, job.moment, job.moment);
      if (isSynced) yield* call.fsync(file);
    }
    yield* keepAttributes(temporary, file, before);
    const parent = yield* parents.make(missing);
    // Meanwhile another program may have changed it; and where this process was stopped for long, also another server.
    const now = missing.length > 0 ? undefined : yield* recordAt(directory.at(name));
    yield* requireInPlace(directory);
    if (!isExpected(now, job.expected)) return yield* found(directory, now);
    yield* moveInto(temporary, file, parent.at(name), before !== undefined);
    isMoved = true;
    return yield* done(isSynced ? parents.entered : [], yield* recordAfter(file));
  } finally {
    if (!isMoved) yield* attempted(parents.remove());
    if (!isMoved && !("temporary" in content)) yield* attempted(call.unlink(temporary));
    yield* attempted(call.close(file));
    yield* parents.close();
  }
}

/** The new content of a private file is private from its first byte on. */
export function modeOfSuccessor(before: BigIntStats | undefined): number {
  if (before === undefined) return 0o666;
  return (before.mode & 0o004n) === 0n ? 0o600 : Number(before.mode & 0o777n);
}

/** Gives a file that is about to replace another the mode of that, and its owner as far as the system lets us. */
function* keepAttributes(location: string, file: number, before: BigIntStats | undefined): Program<void> {
  if (before === undefined) return;
  const own = yield* call.fstat(file, { bigint: true });
  const mode = before.mode & keptMode;
  if (own.uid !== before.uid || own.gid !== before.gid) {
    yield* unlessUnkept(call.chown(location, Number(before.uid), Number(before.gid)));
  }
  if ((own.mode & 0o7777n) !== mode) yield* unlessUnkept(call.chmod(location, Number(mode)));
}

function* unlessUnkept(change: Program<void>): Program<void> {
  try {
    yield* change;
  } catch (error) {
    if (!unkept.has(errnoOf(error))) throw error;
  }
}

/**
 * The moment of the change: the file is there under its own name, as a whole. A free name is taken by a link, so that a
 * file which another program puts there meanwhile is not replaced. What reports an error is looked at: it may be done.
 */
function* moveInto(from: string, file: number, to: string, isReplacement: boolean): Program<void> {
  try {
    if (isReplacement) return yield* call.rename(from, to);
    yield* call.link(from, to);
  } catch (error) {
    if (yield* isAt(to, file)) return void (isReplacement || (yield* attempted(call.unlink(from))));
    if (isReplacement || !linksUnsupported.has(errnoOf(error))) throw error;
    // There is no other way to take a name only if it is free. An empty file in its place would stay after a crash.
    if (yield* recordAt(to)) throw new StorageError("exists");
    return yield* call.rename(from, to);
  }
  yield* attempted(call.unlink(from));
}

function* isAt(location: string, file: number): Program<boolean> {
  const there = yield* unlessFailed(recordAt(location), undefined);
  const own = yield* unlessFailed(call.fstat(file, { bigint: true }), undefined);
  return there !== undefined && there.ino === own?.ino && there.dev === own.dev;
}

function* recordAfter(file: number): Program<FileRecord | undefined> {
  const stats = yield* unlessFailed(call.fstat(file, { bigint: true }), undefined);
  return stats && recordOf(stats);
}

/** Syncs what is to be synced after a change. The change stands, also where that fails. */
function* done(toSync: readonly Directory[], record?: FileRecord): Program<JobResult> {
  const problems: unknown[] = [];
  for (const directory of toSync) yield* reported(sync(directory), problems);
  return { kind: "done", record, problems };
}

/** Directories that are made for a file. Each is made, opened and removed by way of the one above. */
class Parents {
  /** Those that hold a name that is new, outermost first; the first is not ours. */
  readonly entered: Directory[];
  readonly #made: string[] = [];

  constructor(directory: Directory) {
    this.entered = [directory];
  }

  *make(names: readonly string[]): Program<Directory> {
    for (const name of names) yield* this.#enter(name);
    return this.entered.at(-1) as Directory;
  }

  *remove(): Program<void> {
    for (const location of this.#made.toReversed()) yield* call.rmdir(location);
  }

  *close(): Program<void> {
    for (const directory of this.entered.slice(1)) yield* closeDirectory(directory);
  }

  *#enter(name: string): Program<void> {
    const parent = this.entered.at(-1) as Directory;
    const location = parent.at(name);
    try {
      yield* call.mkdir(location);
      this.#made.push(location);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error; // what another made there meanwhile will do if it is a directory
    }
    const entered = yield* openDirectory(location, join(parent.real, name));
    if (!entered) throw new StorageError("not-a-directory");
    this.entered.push(entered);
  }
}

type AppendJob = Extract<Job, { kind: "append" }>;

/**
 * Adds content to the end of a file, which stays the same file. First the content becomes a note, from which the next
 * process after a crash can tell which bytes are ours. A note that stays does no harm: content that is there as a whole
 * is left.
 */
function* append(directory: Directory, job: AppendJob): Program<JobResult> {
  const location = directory.at(job.name);
  const file = yield* openIfThere(location, appendFlags);
  if (file === undefined) return yield* look(directory, job.name);
  try {
    if (!(yield* hasOpened(directory, job.name, file))) throw new Elsewhere();
    const before = yield* call.fstat(file, { bigint: true });
    const isShared = before.nlink > 1n && !job.isAlone;
    if (isShared || !isExpected(before, job.expected)) return yield* found(directory, before);
    const problems: unknown[] = [];
    const note = yield* writeNote(directory, job, before, file);
    try {
      yield* addOrTakeBack(directory, job, file, note, problems);
    } finally {
      yield* attempted(call.close(note.file));
    }
    const record = yield* recordAfter(file);
    if (!job.keepsNote) yield* reported(removeNote(directory.at(appendNoteName(before.ino))), problems);
    return { kind: "done", record, problems };
  } finally {
    yield* attempted(call.close(file));
  }
}

function* writeNote(
  directory: Directory,
  { name, content, sync: isSynced, keepsNote }: AppendJob,
  before: BigIntStats,
  appended: number,
): Program<AppendNote> {
  const { ino: inode, size, mtimeNs, ctimeNs } = before;
  const context = yield* contextOf(appended, Number(size));
  const checksum = "temporary" in content ? content.checksum : crc32(content);
  const state = { size, mtimeNs, ctimeNs };
  const record = { name, inode, before: state, length: content.byteLength, checksum, context };
  const place = directory.at(appendNoteName(inode));
  let file: number | undefined;
  let isNew = true;
  try {
    if ("temporary" in content) {
      file = yield* call.open(content.temporary, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
      yield* writeAll(file, noteRecord(record), 0);
      yield* removeNote(place);
      yield* refusingDirectories(call.rename(content.temporary, place));
    } else {
      file = keepsNote ? yield* openStanding(place) : undefined;
      isNew = file === undefined;
      file ??= yield* createNote(directory, appendNoteName(inode));
      yield* writeAll(file, Buffer.concat([noteRecord(record), content]), 0);
    }
    if (isSynced) yield* call.fdatasync(file);
    if (isSynced && isNew) yield* sync(directory);
  } catch (error) {
    if (file !== undefined) yield* attempted(call.close(file));
    if (file !== undefined) yield* attempted(removeNote(place));
    throw error;
  }
  return { ...record, file, isBegun: true };
}

function* openStanding(place: string): Program<number | undefined> {
  const file = yield* openIfThere(place, constants.O_RDWR);
  if (file === undefined) return undefined;
  const stats = yield* call.fstat(file, { bigint: true });
  if (stats.isFile() && isTrusted(stats)) return file;
  yield* call.close(file);
  return undefined;
}

/** Makes a note in place of what another process may have left; the lock is ours. */
function* createNote(directory: Directory, name: string): Program<number> {
  try {
    return yield* openIn(directory, name, createFlags, 0o600);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    yield* removeNote(directory.at(name));
    return yield* refusingDirectories(openIn(directory, name, createFlags, 0o600));
  }
}

/** There is a directory where the note should be. */
function* refusingDirectories<Result>(step: Program<Result>): Program<Result> {
  try {
    return yield* step;
  } catch (error) {
    throw ["EISDIR", "ENOTEMPTY", "EEXIST"].includes(errnoOf(error)) ? new StorageError("forbidden", error) : error;
  }
}

/** Adds the content, or throws with the file as it was. */
function* addOrTakeBack(
  directory: Directory,
  job: AppendJob,
  file: number,
  note: AppendNote,
  problems: unknown[],
): Program<void> {
  let isWhole = false;
  try {
    yield* requireInPlace(directory);
    yield* markBegun(note.file);
    yield* add(job.content, note, file);
    isWhole = true;
    if (job.sync) yield* call.fdatasync(file);
  } catch (error) {
    const isGone = yield* reported(takeBack(note, directory.at(job.name), "always", false), problems);
    // All of it is there and does not go away: it is done, though it may not outlive a power failure.
    if (isWhole && !isGone) return void problems.push(error);
    // Half of it is there and does not go away: the note stays, by which readers are told what the file was before.
    if (!isGone) throw error;
    if (job.sync) yield* reported(call.fdatasync(file), problems);
    yield* reported(removeNote(directory.at(appendNoteName(note.inode))), problems);
    throw error;
  }
}

function* add(content: AppendJob["content"], note: AppendNote, file: number): Program<void> {
  if (!("temporary" in content)) return yield* writeAll(file, content, null);
  const buffer = Buffer.allocUnsafeSlow(Math.min(pieceBytes, note.length));
  for (let position = 0; position < note.length; ) {
    const piece = buffer.subarray(0, Math.min(buffer.length, note.length - position));
    const length = yield* readInto(note.file, piece, recordBytes + position);
    if (length === 0) throw new Error("the received content became shorter while it was appended");
    yield* writeAll(file, piece.subarray(0, length), null);
    position += length;
  }
}

/** Whether something was done that makes no change fail. */
function* reported(step: Program<void>, problems: unknown[]): Program<boolean> {
  try {
    yield* step;
    return true;
  } catch (error) {
    problems.push(error);
    return false;
  }
}

function* remove(directory: Directory, job: Extract<Job, { kind: "remove" }>): Program<JobResult> {
  const location = directory.at(job.name);
  const before = yield* recordAt(location);
  yield* requireInPlace(directory);
  if (!before || !isExpected(before, job.expected)) return yield* found(directory, before);
  try {
    yield* before.isDirectory() ? call.rmdir(location) : call.unlink(location);
  } catch (error) {
    const there = yield* unlessFailed(recordAt(location), before);
    if (there) throw error; // otherwise it is done, whatever was said of it
  }
  return yield* done(job.sync ? [directory] : []);
}

/**
 * Renames a file or directory. Another program that takes the new name between the last look and the rename loses its file: a link,
 * which would refuse, and then a removal leave two names for one file after a crash, of which an append would change
 * both.
 */
function* move(from: Directory, to: Directory, job: Extract<Job, { kind: "move" }>): Program<JobResult> {
  const [source, target] = [from.at(job.name), to.at(job.goal.name)];
  const before = yield* recordAt(source);
  const there = yield* recordAt(target);
  yield* requireInPlace(from);
  yield* requireInPlace(to);
  if (!before || !isExpected(before, job.expected)) return yield* found(from, before);
  if (!isExpected(there, job.goal.expected)) return yield* found(to, there);
  yield* call.rename(source, target);
  const after = yield* recordAt(target);
  // The new name first: after a power failure in between there are two, and not no name at all.
  return yield* done(job.sync ? [to, from] : [], recordOf(after ?? before));
}

function* makeDirectory(directory: Directory, job: Extract<Job, { kind: "make-directory" }>): Program<JobResult> {
  const location = directory.at(job.name);
  const before = yield* recordAt(location);
  yield* requireInPlace(directory);
  if (before) return yield* found(directory, before);
  yield* call.mkdir(location);
  return yield* done(job.sync ? [directory] : []);
}

/** Ends an append that its process did not live to end, and looks what is there then. */
function* mend(directory: Directory, name: string, inode: bigint): Program<JobResult> {
  yield* endAppend({ note: directory.at(appendNoteName(inode)), file: directory.at(name) });
  return yield* look(directory, name);
}

function* forget(directory: Directory, inode: bigint): Program<JobResult> {
  yield* removeNote(directory.at(appendNoteName(inode)));
  return yield* done([]);
}
