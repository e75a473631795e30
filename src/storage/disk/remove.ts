import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { requireHeld } from "../locks.ts";
import { type CommitCheck, StorageError } from "../storage.ts";
import { Elsewhere } from "./directory.ts";
import type { Disk } from "./disk.ts";
import { statOf } from "./file-record.ts";
import { forget } from "./look.ts";
import { tidyDirectory } from "./sweep.ts";

/**
 * Removes a file or an empty directory. Of a symbolic link, the link itself goes and what it leads to stays, as WebDAV
 * servers do it; a link that leads out of the root, or nowhere, is not seen by clients and so not theirs to remove, nor
 * is one that lies outside.
 */
export async function remove(disk: Disk, path: string, check: CommitCheck | undefined): Promise<void> {
  await disk.locked(path, async ({ missing, real, held }) => {
    await disk.callWitnesses(path);
    let record = missing.length > 0 ? undefined : (await disk.look(real)).record;
    if (record?.type === "directory") {
      // Hidden files must not keep a directory from being removed, unless they are in use.
      await tidyDirectory(real).catch(() => []); // the removal will say what is wrong
      record = (await disk.look(real)).record;
    }
    if (!record || (record.type === "file" && path.endsWith("/"))) throw new StorageError("not-found");
    if (record.type === "link") throw new Elsewhere();
    if (record.type === "other") throw new StorageError("forbidden");
    const stat = statOf(record, record.type);
    const location = await ownLocation(disk, path, real);
    if (location === disk.paths.root) throw new StorageError("forbidden");
    check?.(stat);
    requireHeld(held);
    await removeAt(disk, location, location === real ? stat.version : await versionOfLink(disk, location));
  });
}

async function removeAt(disk: Disk, location: string, expected: string): Promise<void> {
  const place = { directory: dirname(location), name: basename(location), expected, sync: disk.sync };
  const { isDone } = await disk.run({ kind: "remove", ...place });
  if (!isDone) throw new Elsewhere(); // another by now: looked up, and judged, anew
  forget(location);
}

async function versionOfLink(disk: Disk, location: string): Promise<string> {
  if (!disk.paths.isChangeable(location)) throw new StorageError("forbidden");
  const { record } = await disk.look(location);
  // Something else by now: not what was asked to be removed.
  if (record?.type !== "link") throw new StorageError("conflict");
  return statOf(record).version;
}

/** Where the last name of a path itself is; differs from the real location of what it leads to if it is a link. */
async function ownLocation(disk: Disk, path: string, real: string): Promise<string> {
  const named = disk.paths.locationOf(path) ?? real;
  if (named === real) return real;
  return join(await realpath(dirname(named)), basename(named));
}
