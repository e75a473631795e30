import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { requireHeld } from "../locks.ts";
import { type CommitCheck, StorageError, type StoredStat } from "../storage.ts";
import type { Disk } from "./disk.ts";
import { statOf } from "./file-record.ts";
import type { FileRecord } from "./jobs.ts";
import { locked } from "./locked-target.ts";
import { tidyDirectory } from "./sweep.ts";

/**
 * Removes a file or an empty directory. Of a symbolic link, the link itself goes and what it leads to stays, as WebDAV
 * servers do it; a link that leads out of the root, or nowhere, is not seen by clients and so not theirs to remove, nor
 * is one that lies outside.
 */
export async function remove(disk: Disk, path: string, check: CommitCheck | undefined): Promise<void> {
  await locked(disk, path, performance.now(), async (target) => {
    await disk.callWitnesses(path);
    const { directory, name, real, held } = target;
    let found = target.missing.length > 0 ? undefined : await lookAt(disk, directory, name);
    if (found !== "elsewhere" && found?.type === "directory") {
      // Hidden files must not keep a directory from being removed, unless they are in use.
      await tidyDirectory(real).catch(() => []); // the removal will say what is wrong
      found = await lookAt(disk, directory, name);
    }
    if (found === "elsewhere" || found?.type === "link") return "elsewhere";
    const stat = removable(path, found);
    const location = await ownLocation(disk, path, real);
    if (location === disk.paths.root) throw new StorageError("forbidden");
    check?.(stat);
    requireHeld(held);
    return location === real ? removeAt(disk, directory, name, stat.version) : removeLink(disk, location);
  });
}

async function lookAt(disk: Disk, directory: string, name: string): Promise<FileRecord | undefined | "elsewhere"> {
  const result = await disk.run({ kind: "look", directory, name });
  return result.kind === "found" ? result.found : "elsewhere";
}

/** What the check is shown. Throws where there is nothing that could be removed. */
function removable(path: string, found: FileRecord | undefined): StoredStat {
  if (!found || (found.type === "file" && path.endsWith("/"))) throw new StorageError("not-found");
  if (found.type !== "file" && found.type !== "directory") throw new StorageError("forbidden");
  return statOf(found, found.type);
}

async function removeAt(disk: Disk, directory: string, name: string, expected: string): Promise<"done" | "elsewhere"> {
  const place = { directory, name, expected, missing: [], sync: disk.sync };
  const result = await disk.run({ kind: "remove", ...place });
  return result.kind === "done" ? "done" : "elsewhere"; // another by now: looked up, and judged, anew
}

async function removeLink(disk: Disk, location: string): Promise<"done" | "elsewhere"> {
  if (!disk.paths.isChangeable(location)) throw new StorageError("forbidden");
  const found = await lookAt(disk, dirname(location), basename(location));
  // Something else by now: not what was asked to be removed.
  if (found === "elsewhere" || found?.type !== "link") throw new StorageError("conflict");
  return removeAt(disk, dirname(location), basename(location), statOf(found).version);
}

/** Where the last name of a path itself is; differs from the real location of what it leads to if it is a link. */
async function ownLocation(disk: Disk, path: string, real: string): Promise<string> {
  const named = disk.paths.locationOf(path) ?? real;
  if (named === real) return real;
  return join(await realpath(dirname(named)), basename(named));
}
