import { lstat, realpath, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type CommitCheck, StorageError } from "../storage.ts";
import { type Disk, locked, syncDirectory } from "./disk.ts";
import { visibleStat } from "./pending-appends.ts";

/**
 * Removes a file or an empty directory. Of a symbolic link, the link itself goes and what it leads to stays, as WebDAV
 * servers do it; a link that leads out of the root, or nowhere, is not seen by clients and so not theirs to remove.
 */
export async function remove(disk: Disk, path: string, check: CommitCheck | undefined): Promise<void> {
  await locked(disk, path, async (target) => {
    if (!target.exists) throw new StorageError("not-found");
    const location = await ownLocation(disk, path, target.real);
    const stats = await lstat(target.real, { bigint: true });
    if (stats.isFile() && path.endsWith("/")) throw new StorageError("not-found");
    if (!stats.isFile() && !stats.isDirectory()) throw new StorageError("forbidden");
    const isLink = location !== target.real;
    if (target.real === disk.paths.root && !isLink) throw new StorageError("forbidden");
    check?.(visibleStat(stats));
    if (stats.isDirectory() && !isLink) await rmdir(location);
    else await unlink(location);
    if (disk.sync) await syncDirectory(dirname(location));
  });
}

/** Where the last name of a path itself is; differs from the real location of what it leads to if it is a link. */
async function ownLocation(disk: Disk, path: string, real: string): Promise<string> {
  if (path === "/") return real;
  const named = join(disk.paths.root, path);
  return join(await realpath(dirname(named)), basename(named));
}
