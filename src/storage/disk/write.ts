import type { BigIntStats } from "node:fs";
import { type FileHandle, lstat, mkdir, rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type Content, StorageError, type StoredStat, type WriteOptions, type WriteResult } from "../storage.ts";
import { type Disk, locked, maxAttempts, regularFileAt, syncDirectory } from "./disk.ts";
import { errnoOf } from "./errors.ts";
import { storedStat, uniqueMoment } from "./file-version.ts";
import type { Target } from "./paths.ts";
import { visibleStat } from "./pending-appends.ts";
import { TemporaryFile } from "./temporary-file.ts";

/** Stores content as a file: received beside it first, so that a slow sender keeps nobody waiting, then moved there. */
export async function write(disk: Disk, path: string, content: Content, options: WriteOptions): Promise<WriteResult> {
  const { check, createParents = true, exclusive = false } = options;
  if (path.endsWith("/")) throw new StorageError("is-directory");
  const { temporary, replaced } = await temporaryFor(disk, path, { createParents, exclusive });
  try {
    await fill(disk, temporary, content);
    return await locked(disk, path, async (target) => {
      const current = await replaceable(target, { createParents, exclusive });
      check?.(current && visibleStat(current));
      await keepAttributes(temporary.handle, current ?? replaced);
      const stat = await moveIntoPlace(disk, temporary, target, exclusive);
      return { created: current === undefined, stat };
    });
  } finally {
    await temporary.remove();
  }
}

/** Receives all of the content; on the disk itself when this resolves. */
export async function fill(
  disk: Disk,
  temporary: TemporaryFile,
  content: Content | Iterable<Uint8Array>,
): Promise<void> {
  await temporary.receive(content);
  const moment = uniqueMoment();
  await temporary.handle.utimes(moment, moment);
  if (disk.sync) await temporary.handle.sync();
}

/** Gives a file that is about to replace another the mode of that, and its owner as far as the system lets us. */
export async function keepAttributes(handle: FileHandle, replaced: BigIntStats | undefined): Promise<void> {
  if (replaced === undefined) return;
  const isOwnerKept = await isAllowed(handle.chown(Number(replaced.uid), Number(replaced.gid)));
  // Set-user-id bits were meant for the owner the file had; under another they would be a gift.
  await isAllowed(handle.chmod(Number(replaced.mode) & (isOwnerKept ? 0o7777 : 0o777)));
}

/** The moment of the change: the file is there under its own name, as a whole. Closes the temporary file. */
export async function moveIntoPlace(
  disk: Disk,
  temporary: TemporaryFile,
  target: Target,
  exclusive: boolean,
): Promise<StoredStat> {
  await moveMakingParents(temporary, target, exclusive);
  if (disk.sync) await Promise.all([target.real, ...target.missing].map((made) => syncDirectory(dirname(made))));
  const stat = storedStat(await temporary.handle.stat({ bigint: true }));
  await temporary.remove();
  return stat;
}

type Rules = Required<Pick<WriteOptions, "createParents" | "exclusive">>;

/** Makes the temporary file in the directory of the target, or as long as that does not exist, in the nearest above. */
async function temporaryFor(
  disk: Disk,
  path: string,
  rules: Rules,
): Promise<{ temporary: TemporaryFile; replaced: BigIntStats | undefined }> {
  for (let attempt = 1; ; attempt += 1) {
    const target = await disk.paths.target(path);
    const replaced = await replaceable(target, rules);
    try {
      // The new content of a private file is private from its first byte on.
      const mode = replaced === undefined ? 0o666 : 0o600;
      return { temporary: await TemporaryFile.create(target.directory, "content", mode), replaced };
    } catch (error) {
      // The directory was removed since we looked.
      if (errnoOf(error) !== "ENOENT" || attempt === maxAttempts) throw error;
    }
  }
}

/** What would be replaced; throws where the rules, or the kind of what is there, forbid it. */
async function replaceable(target: Target, { createParents, exclusive }: Rules): Promise<BigIntStats | undefined> {
  const current = await regularFileAt(target.real);
  if (exclusive && current !== undefined) throw new StorageError("exists");
  if (!createParents && target.missing.length > 0) throw new StorageError("no-parent");
  return current;
}

async function moveMakingParents(temporary: TemporaryFile, target: Target, exclusive: boolean): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const made: string[] = [];
    try {
      for (const directory of target.missing) if (await makeDirectory(directory)) made.push(directory);
      if (exclusive) await temporary.moveToFree(target.real);
      else await temporary.moveTo(target.real);
      return;
    } catch (error) {
      await removeEmpty(made);
      if (errnoOf(error) !== "ENOENT") throw error;
      // Someone removed the directories that were just made, or the temporary file, or all of it.
      if (attempt === maxAttempts) throw new StorageError("conflict", error);
    }
  }
}

/** Whether it had to be made. What another made there meanwhile will do if it is a directory, and not a link to one. */
async function makeDirectory(directory: string): Promise<boolean> {
  try {
    await mkdir(directory);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    if (!(await lstat(directory)).isDirectory()) throw new StorageError("not-a-directory", error);
    return false;
  }
}

async function removeEmpty(directories: readonly string[]): Promise<void> {
  for (const directory of directories.toReversed()) {
    try {
      await rmdir(directory);
    } catch {
      return; // Someone put a file there, or removed it: no longer ours to tidy.
    }
  }
}

/** Waits for a change of attributes; `false` where this user may not, or the file system has none. */
async function isAllowed(change: Promise<void>): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    if (["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"].includes(errnoOf(error))) return false;
    throw error;
  }
}
