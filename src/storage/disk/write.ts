import type { BigIntStats } from "node:fs";
import { chmod, chown, utimes } from "node:fs/promises";
import { join } from "node:path";
import {
  type Content,
  type FileUpdate,
  StorageError,
  type StoredStat,
  type WriteOptions,
  type WriteResult,
} from "../storage.ts";
import type { Disk } from "./disk.ts";
import { errnoOf, meansAbsent, recordAt, regularFile, statAfterChange, syncFile, uniqueMoment } from "./file-record.ts";
import { type LockedTarget, locked, maxAttempts, openPlace, type Place, requireLock } from "./locked-target.ts";
import { MissingParents, type OpenDirectory } from "./open-directory.ts";
import { maxMissing } from "./paths.ts";
import { TemporaryFile } from "./temporary-file.ts";
import { lockedStat, openFileAt, settle } from "./visible-file.ts";

/** What of a file's mode its successor gets: set-user-id and set-group-id were meant for the program that it was. */
const keptMode = 0o1777n;

/** Stores content as a file: received beside it first, so that a slow sender keeps nobody waiting, then moved there. */
export async function write(disk: Disk, path: string, content: Content, options: WriteOptions): Promise<WriteResult> {
  const { check, createParents = true, exclusive = false } = options;
  if (path.endsWith("/")) throw new StorageError("is-directory");
  const rules: Rules = { createParents, exclusive };
  const upload = await beginUpload(disk, path, rules);
  try {
    const size = await fill(disk, upload.temporary, content);
    return await commit(disk, path, upload.directory, async (target) => {
      const current = replaceable({ found: target.current, missing: target.missing }, rules);
      check?.(current && lockedStat(current));
      await keepAttributes(upload.temporary, current ?? upload.replaced);
      const stat = await moveIntoPlace(disk, upload.temporary, target, size);
      await end(upload); // under the lock, so that our caller announces the change before the next one can be made
      return { created: !current, stat };
    });
  } finally {
    await end(upload);
  }
}

/** Harmless when called twice; never rejects. */
async function end({ temporary, directory }: Upload): Promise<void> {
  await temporary.remove();
  await directory.close();
}

/** Tries again where the directories above went away under it, or another program put a file there: it is looked at anew. */
async function commit<T>(
  disk: Disk,
  path: string,
  open: OpenDirectory,
  task: (target: LockedTarget) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await locked(disk, path, task, open);
    } catch (error) {
      if (!["ENOENT", "EEXIST"].includes(errnoOf(error))) throw error;
      if (attempt === maxAttempts) throw new StorageError("conflict", error);
    }
  }
}

/** Receives all of the content; on the disk itself when this resolves, to how many bytes it came. */
export async function fill(
  disk: Disk,
  temporary: TemporaryFile,
  content: Content | Iterable<Uint8Array>,
): Promise<number> {
  const size = await temporary.receive(content);
  const moment = uniqueMoment();
  // By name: neither Yarn nor `--permission` let the handle. Where that is gone with its directory, the commit says so.
  await utimes(temporary.path, moment, moment).catch(ignoreAbsence);
  if (disk.sync) await syncFile(temporary.handle);
  return size;
}

function ignoreAbsence(error: unknown): void {
  if (!meansAbsent(error)) throw error;
}

/** Gives a file that is about to replace another the mode of that, and its owner as far as the system lets us. */
async function keepAttributes({ path, handle }: TemporaryFile, replaced: BigIntStats | undefined): Promise<void> {
  if (replaced === undefined) return;
  const own = await handle.stat({ bigint: true });
  const mode = replaced.mode & keptMode;
  if (own.uid !== replaced.uid || own.gid !== replaced.gid) {
    await attempt(chown(path, Number(replaced.uid), Number(replaced.gid)));
  }
  if ((own.mode & 0o7777n) !== mode) await attempt(chmod(path, Number(mode)));
}

/**
 * The moment of the change: the file is there under its own name, as a whole. What fails after it is reported, and does not
 * undo it. Takes no file's place but that of `target.current`; throws `exists` where another came first.
 */
async function moveIntoPlace(
  disk: Disk,
  temporary: TemporaryFile,
  target: LockedTarget,
  size: number,
): Promise<StoredStat> {
  const parents = await MissingParents.make(target.parent, target.missing);
  try {
    const place = parents.directory.at(target.name);
    await requireLock(target);
    if (target.current) await temporary.moveTo(place);
    else await temporary.moveToFree(place);
    const synced = disk.sync && parents.sync().catch(disk.report);
    const stat = await statAfterChange(temporary.handle, size);
    await synced;
    settle(join(parents.directory.real, target.name), stat);
    return stat;
  } catch (error) {
    await parents.remove();
    throw error;
  } finally {
    await parents.close();
  }
}

type Rules = Required<Pick<WriteOptions, "createParents" | "exclusive">>;

interface Upload {
  readonly temporary: TemporaryFile;
  /** Where it lies. */
  readonly directory: OpenDirectory;
  /** What is to be replaced. */
  readonly replaced: BigIntStats | undefined;
}

async function beginUpload(disk: Disk, path: string, rules: Rules): Promise<Upload> {
  for (let attempt = 1; ; attempt += 1) {
    const place = await openPlace(disk, path);
    try {
      const replaced = replaceable(place, rules);
      return { directory: place.directory, replaced, temporary: await successorOf(replaced, place.directory) };
    } catch (error) {
      await place.directory.close();
      // The directory was removed since it was opened.
      if (errnoOf(error) !== "ENOENT" || attempt === maxAttempts) throw error;
    }
  }
}

/** An empty file for what takes the place of another, if any. The new content of a private file is private from its first byte on. */
function successorOf(replaced: BigIntStats | undefined, directory: OpenDirectory): Promise<TemporaryFile> {
  if (replaced === undefined) return TemporaryFile.create(directory, 0o666);
  const isPrivate = (replaced.mode & 0o004n) === 0n;
  return TemporaryFile.create(directory, isPrivate ? 0o600 : Number(replaced.mode & 0o777n));
}

/** What would be replaced; throws where the rules, or the kind of what is there, forbid it. */
function replaceable({ found, missing }: Omit<Place, "directory">, rules: Rules): BigIntStats | undefined {
  const current = regularFile(found);
  if (rules.exclusive && current !== undefined) throw new StorageError("exists");
  if (!rules.createParents && missing.length > 0) throw new StorageError("no-parent");
  if (missing.length > maxMissing) throw new StorageError("too-deep");
  return current;
}

/** Waits for a change of attributes that this user may not make, or the file system not keep: then it is left. */
async function attempt(change: Promise<void>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"].includes(errnoOf(error))) throw error;
  }
}

/** Reads, edits and replaces a file under its lock; redone where another program changed the file in between. */
export async function update(disk: Disk, path: string, edit: FileUpdate): Promise<WriteResult & { changed: boolean }> {
  return locked(disk, path, async (target) => {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      if (attempt > 0) await disk.callWitnesses(path);
      const { stat, bytes } = await readWhole(path, target);
      const edited = await edit(bytes, stat);
      if (edited === undefined) return { created: false, changed: false, stat };
      const replaced = await replaceIfStill(disk, target, stat.version, edited);
      if (replaced !== undefined) return { created: false, changed: true, stat: replaced };
    }
    throw new StorageError("conflict");
  });
}

async function readWhole(path: string, target: LockedTarget): Promise<{ stat: StoredStat; bytes: Uint8Array }> {
  regularFile(target.current);
  const file = path.endsWith("/") || !target.current ? undefined : await openFileAt(target.parent, target.name);
  if (file === undefined) throw new StorageError("not-found");
  try {
    return { stat: file.stat, bytes: await file.bytes() };
  } finally {
    await file.close();
  }
}

/** What is stored now; `undefined`, and nothing is changed, if it is no longer the version that was edited. */
async function replaceIfStill(
  disk: Disk,
  target: LockedTarget,
  version: string,
  content: Uint8Array,
): Promise<StoredStat | undefined> {
  const temporary = await successorOf(target.current, target.parent);
  try {
    const size = await fill(disk, temporary, [content]);
    const current = regularFile(await recordAt(target.parent.at(target.name)));
    if (current === undefined || lockedStat(current).version !== version) return undefined;
    await keepAttributes(temporary, current);
    return await moveIntoPlace(disk, temporary, target, size);
  } finally {
    await temporary.remove();
  }
}
