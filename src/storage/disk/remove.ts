import { realpath, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type CommitCheck, StorageError, type StoredStat } from "../storage.ts";
import type { Disk } from "./disk.ts";
import { errnoOf, recordAt } from "./file-record.ts";
import { type LockedTarget, locked, requireLock } from "./locked-target.ts";
import { OpenDirectory } from "./open-directory.ts";
import { removeLeftovers } from "./recovery.ts";
import { lockedStat } from "./visible-file.ts";

/**
 * Removes a file or an empty directory. Of a symbolic link, the link itself goes and what it leads to stays, as WebDAV
 * servers do it; a link that leads out of the root, or nowhere, is not seen by clients and so not theirs to remove, nor is
 * one that lies outside.
 */
export async function remove(disk: Disk, path: string, check: CommitCheck | undefined): Promise<void> {
  await locked(disk, path, async (target) => {
    if (!target.exists) throw new StorageError("not-found");
    const location = await ownLocation(disk, path, target.real);
    if (location === target.real) return removeTarget(disk, path, target, check);
    check?.(statOf(path, target));
    await requireLock(target);
    await removeLink(disk, location);
  });
}

async function removeTarget(
  disk: Disk,
  path: string,
  target: LockedTarget,
  check: CommitCheck | undefined,
): Promise<void> {
  if (target.real === disk.paths.root) throw new StorageError("forbidden");
  const stat = statOf(path, target);
  check?.(stat);
  const place = target.parent.at(target.name);
  await requireLock(target);
  if (stat.type === "file") await unlink(place);
  else await removeDirectory(target, place);
  if (disk.sync) await target.parent.sync().catch(disk.report);
}

/** What the check is shown. Throws where there is nothing that could be removed. */
function statOf(path: string, { current }: LockedTarget): StoredStat {
  if (!current || (current.isFile() && path.endsWith("/"))) throw new StorageError("not-found");
  if (!current.isFile() && !current.isDirectory()) throw new StorageError("forbidden");
  return lockedStat(current);
}

async function removeDirectory({ real }: LockedTarget, place: string): Promise<void> {
  try {
    await rmdir(place);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST"].includes(errnoOf(error))) throw error;
    // What nobody sees must not keep a directory from being removed, unless someone is at work on it.
    await removeLeftovers(real);
    await rmdir(place);
  }
}

async function removeLink(disk: Disk, location: string): Promise<void> {
  if (!disk.paths.isChangeable(location)) throw new StorageError("forbidden");
  const directory = await OpenDirectory.open(dirname(location));
  try {
    const place = directory.at(basename(location));
    // Something else by now: not what was asked to be removed.
    if (!(await recordAt(place))?.isSymbolicLink()) throw new StorageError("conflict");
    await unlink(place);
    if (disk.sync) await directory.sync().catch(disk.report);
  } finally {
    await directory.close();
  }
}

/** Where the last name of a path itself is; differs from the real location of what it leads to if it is a link. */
async function ownLocation(disk: Disk, path: string, real: string): Promise<string> {
  const named = disk.paths.locationOf(path) ?? real;
  if (named === real) return real;
  return join(await realpath(dirname(named)), basename(named));
}
