import { type BigIntStats, constants } from "node:fs";
import { join } from "node:path";
import { StorageError } from "../storage.ts";
import { append } from "./append.ts";
import { closeDirectory, type Directory, Elsewhere, openDirectory, openIn, requireInPlace } from "./directory.ts";
import { errnoOf } from "./file-record.ts";
import { createFlags, done, found, isExpected, type Job, type JobResult, look, recordAfter, recordOf } from "./jobs.ts";
import { attempted, call, type Program, recordAt, unlessFailed, writeAll } from "./system-calls.ts";

/** What of a file's mode its successor gets: set-user-id and set-group-id were meant for the program that it was. */
const keptMode = 0o1777n;
/** Attributes that this user may not set, or the file system not keep, are left. */
const unkept: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"]);
const linksUnsupported: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EINVAL"]);

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
    }
  });
}

/** Runs a program in the directory at a real location; `"elsewhere"` where that is not there, or not any more. */
export function* inDirectory<Result>(
  real: string,
  use: (directory: Directory) => Program<Result>,
): Program<Result | { readonly kind: "elsewhere" }> {
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
  try {
    if (!("temporary" in content)) {
      yield* writeAll(file, content, null);
      yield* call.utimes(temporary, job.moment, job.moment);
      if (isSynced) yield* call.fsync(file);
    }
    yield* keepAttributes(temporary, file, before);
    return yield* inParents([directory], missing, function* (parents) {
      // Meanwhile another program may have changed it; and where this process was stopped for long, also another server.
      const now = missing.length > 0 ? undefined : yield* recordAt(directory.at(name));
      yield* requireInPlace(directory);
      if (!isExpected(now, job.expected)) return yield* found(directory, now);
      yield* moveInto(temporary, file, last(parents).at(name), before !== undefined);
      isMoved = true;
      return yield* done(isSynced ? parents : [], yield* recordAfter(file));
    });
  } finally {
    if (!isMoved && !("temporary" in content)) yield* attempted(call.unlink(temporary));
    yield* attempted(call.close(file));
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

/**
 * Makes the directories for a file, each by way of the one above. `use` gets those that hold a new name, outermost
 * first; those that were made are removed where it does nothing.
 */
function* inParents(
  entered: readonly Directory[],
  [name, ...below]: readonly string[],
  use: (entered: readonly Directory[]) => Program<JobResult>,
): Program<JobResult> {
  if (name === undefined) return yield* use(entered);
  const parent = last(entered);
  const location = parent.at(name);
  const isMade = yield* unlessThere(call.mkdir(location));
  let result: JobResult | undefined;
  try {
    const directory = yield* openDirectory(location, join(parent.real, name));
    if (!directory) throw new StorageError("not-a-directory");
    try {
      result = yield* inParents([...entered, directory], below, use);
      return result;
    } finally {
      yield* closeDirectory(directory);
    }
  } finally {
    if (isMade && result?.kind !== "done") yield* attempted(call.rmdir(location));
  }
}

function last(directories: readonly Directory[]): Directory {
  return directories.at(-1) as Directory; // there is one, at least
}

/** What another made there meanwhile will do if it is a directory. */
function* unlessThere(mkdir: Program<void>): Program<boolean> {
  try {
    yield* mkdir;
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
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
 * Renames a file or directory. Another program that takes the new name between the last look and the rename loses its
 * file: a link, which would refuse, and then a removal leave two names for one file after a crash, of which an append
 * would change both.
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
