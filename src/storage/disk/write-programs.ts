import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { StorageError } from "../storage.ts";
import { append } from "./append.ts";
import { closeDirectory, createIn, type Directory, inDirectory, openDirectory, requireInPlace } from "./directory.ts";
import { errnoOf, type FileRecord, fileIdentity, recordOf } from "./file-record.ts";
import { done, found, isExpected, type Job, type JobOf, type JobResult, look } from "./jobs.ts";
import { leaveSpare, removeSpares, takeSpare } from "./spare-files.ts";
import { attempted, call, type Program, recordAt, unlessFailed, writeAll } from "./system-calls.ts";

/** What of a file's mode its successor gets: set-user-id and set-group-id were meant for the program that it was. */
const keptMode = 0o1777n;
/** Attributes that this user may not set, or the file system not keep, are left. */
const unkept: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"]);

export function programOf(job: Job): Program<JobResult> {
  return inDirectory(job.directory, (directory) => {
    switch (job.kind) {
      case "look":
        return look(directory, job.name);
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
      case "remove-spares":
        return withoutSpares();
    }
  });
}

/** Stores content as a file: in a temporary one beside it first, which then takes its place. */
function* replace(directory: Directory, job: JobOf<"replace">): Program<JobResult> {
  const { content, name, missing, sync: isSynced } = job;
  const before = missing.length > 0 ? undefined : yield* recordAt(directory.at(name));
  if (!isExpected(before, job.expected)) return yield* found(directory, before);
  const mode = modeOfSuccessor(before);
  const spare = "temporary" in content ? undefined : takeSpare(directory, mode);
  const temporary = "temporary" in content ? content.temporary : directory.at(spare?.name ?? job.temporary);
  const parents = [directory];
  const made: string[] = [];
  let isMoved = false;
  try {
    if (!("temporary" in content)) {
      const file = spare?.file ?? (yield* createIn(directory, job.temporary, mode));
      yield* fill(file, content, isSynced);
    }
    yield* attempted(call.lutimes(temporary, job.moment, job.moment));
    const own = yield* call.lstat(temporary, { bigint: true });
    if (before) yield* keepAttributes(temporary, own, before);
    let parent = directory;
    for (const below of missing) {
      parent = yield* entered(parent, below, made);
      parents.push(parent);
    }
    // Meanwhile another program may have changed it; and where this process was stopped for long, also another server.
    const now = missing.length > 0 ? undefined : yield* recordAt(directory.at(name));
    yield* requireInPlace(directory);
    if (!isExpected(now, job.expected)) return yield* found(directory, now);
    const place = parent.at(name);
    yield* moveInto(temporary, own, place, before !== undefined);
    isMoved = true;
    // Some file systems keep what they know of each name for a second, unless it is set.
    if (!before) yield* attempted(call.lutimes(place, job.moment, job.moment));
    // Those that hold a new name, outermost first.
    const result = yield* done(isSynced ? parents : [], yield* recordUnlessChanged(place, own));
    yield { name: "answer", values: [result] }; // in the thread of a disk; other programs send theirs with their end
    if (parent === directory) yield* attempted(leaveSpare(directory, mode));
    return result;
  } finally {
    if (!isMoved && !("temporary" in content)) yield* attempted(call.unlink(temporary));
    if (!isMoved && spare) yield* removeSpares(job.directory); // perhaps none of them has its name any more
    if (!isMoved) for (const each of made.reverse()) yield* attempted(call.rmdir(each));
    for (const each of parents.slice(1)) yield* closeDirectory(each);
  }
}

/** Writes a file and closes it: some file systems tell only then that they could not keep the content. */
function* fill(file: number, content: Uint8Array, isSynced: boolean): Program<void> {
  try {
    yield* writeAll(file, content, null);
    if (isSynced) yield* call.fsync(file);
  } finally {
    yield* call.close(file);
  }
}

/** The record under the new name, which may have an inode number of its own; `undefined` if it was changed since. */
function* recordUnlessChanged(location: string, own: BigIntStats): Program<FileRecord | undefined> {
  const there = yield* unlessFailed(recordAt(location), undefined);
  return there?.mtimeNs === own.mtimeNs && there.size === own.size ? recordOf(there) : undefined;
}

/** Opens a directory in another one, and makes it where it is missing; a path to what was made is added to `made`. */
function* entered(parent: Directory, name: string, made: string[]): Program<Directory> {
  const location = parent.at(name);
  try {
    yield* call.mkdir(location);
    made.push(location);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error; // what another made there meanwhile will do if it is a directory
  }
  return yield* openDirectory(location, join(parent.real, name));
}

/** The new content of a private file is private from its first byte on. */
export function modeOfSuccessor(before: BigIntStats | undefined): number {
  if (before === undefined) return 0o666;
  return (before.mode & 0o004n) === 0n ? 0o600 : Number(before.mode & 0o777n);
}

/** Gives a file that is about to replace another the mode of that, and its owner as far as the system lets us. */
function* keepAttributes(location: string, own: BigIntStats, before: BigIntStats): Program<void> {
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
function* moveInto(from: string, own: BigIntStats, to: string, isReplacement: boolean): Program<void> {
  try {
    if (isReplacement) return yield* call.rename(from, to);
    yield* call.link(from, to);
  } catch (error) {
    const there = yield* recordAt(to);
    if (there?.ino === own.ino && there.dev === own.dev)
      return void (isReplacement || (yield* attempted(call.unlink(from))));
    if (isReplacement || errnoOf(error) === "EEXIST") throw error;
    // There is no other way to take a name only if it is free. An empty file in its place would stay after a crash.
    if (there) throw new StorageError("exists");
    return yield* call.rename(from, to);
  }
  yield* attempted(call.unlink(from));
}

function* remove(directory: Directory, job: JobOf<"remove">): Program<JobResult> {
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
 * Renames a file or directory. Another program that takes the new name between the last look and the rename loses its
 * file. A link would refuse, but a crash between it and the removal would leave two names for one file, and an append
 * would change both.
 */
function* move(from: Directory, to: Directory, job: JobOf<"move">): Program<JobResult> {
  const [source, target] = [from.at(job.name), to.at(job.goal.name)];
  const before = yield* recordAt(source);
  const there = yield* recordAt(target);
  yield* requireInPlace(from);
  yield* requireInPlace(to);
  // A directory is still the same after writes into it, which come along.
  const isSame = before?.isDirectory() ? fileIdentity(before) === job.expected : isExpected(before, job.expected);
  if (!before || !isSame) return yield* found(from, before);
  if (!isExpected(there, job.goal.expected)) return yield* found(to, there);
  if (before.isDirectory()) yield* removeSpares();
  yield* call.rename(source, target);
  const after = yield* recordAt(target);
  // The new name first: after a power failure in between there are two, and not no name at all.
  return yield* done(job.sync ? [to, from] : [], recordOf(after ?? before));
}

function* makeDirectory(directory: Directory, job: JobOf<"make-directory">): Program<JobResult> {
  const location = directory.at(job.name);
  const before = yield* recordAt(location);
  yield* requireInPlace(directory);
  if (before) return yield* found(directory, before);
  yield* call.mkdir(location);
  return yield* done(job.sync ? [directory] : []);
}

function* withoutSpares(): Program<JobResult> {
  yield* removeSpares();
  return yield* done([]);
}
