import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { StorageError, type StoredEntry, type StoredStat } from "../storage.ts";
import type { Disk } from "./disk.ts";
import { asStorageError, errnoOf, meansAbsent } from "./errors.ts";
import { measure } from "./pending-appends.ts";
import { isTemporaryName } from "./temporary-file.ts";

/** How many entries are looked at together: enough to keep the thread pool busy, few enough to leave others room. */
const batchSize = 32;

/** Names no request path can spell: they would be listed as links that lead nowhere. */
export const unaddressable: RegExp = /[\\\u0000-\u001f\u007f]/;

/** The entries of a directory, as they come; names that are the server's own or lead out of the root are left out. */
export async function* list(disk: Disk, path: string): AsyncGenerator<StoredEntry, void, undefined> {
  try {
    const real = await disk.paths.find(path);
    if (real === undefined) throw new StorageError("not-found");
    let names: string[] = [];
    for await (const { name } of await opendir(real, { bufferSize: 4 * batchSize })) {
      if (unaddressable.test(name) || isTemporaryName(name)) continue;
      names.push(name);
      if (names.length < batchSize) continue;
      yield* await entriesOf(disk, path, real, names);
      names = [];
    }
    yield* await entriesOf(disk, path, real, names);
  } catch (error) {
    throw meansAbsent(error) ? new StorageError("not-found", error) : asStorageError(error);
  }
}

async function entriesOf(disk: Disk, path: string, real: string, names: readonly string[]): Promise<StoredEntry[]> {
  const entries = await Promise.all(names.map((name) => entryOf(disk, path, real, name)));
  return entries.filter((entry) => entry !== undefined);
}

async function entryOf(disk: Disk, path: string, real: string, name: string): Promise<StoredEntry | undefined> {
  try {
    const stat = await statOf(disk, path, join(real, name), name);
    return stat && named(name, stat);
  } catch (error) {
    // Gone since, or not for us to see. A name that is not UTF-8 ends here too: what we were given as its text is not it.
    if (meansAbsent(error) || errnoOf(error) === "EACCES" || errnoOf(error) === "ENAMETOOLONG") return undefined;
    throw error;
  }
}

async function statOf(disk: Disk, path: string, location: string, name: string): Promise<StoredStat | undefined> {
  if (disk.paths.isProtected(location)) return undefined;
  let isLink = false;
  const stat = await measure(async () => {
    const stats = await lstat(location, { bigint: true });
    isLink = stats.isSymbolicLink();
    return stats;
  });
  return isLink ? statThroughLink(disk, join(path, name)) : stat;
}

async function statThroughLink(disk: Disk, path: string): Promise<StoredStat | undefined> {
  const real = await disk.paths.find(path);
  return real === undefined ? undefined : measure(() => lstat(real, { bigint: true }));
}

function named(name: string, stat: StoredStat): StoredEntry {
  const { type, size, modified } = stat;
  return {
    name,
    type,
    size,
    modified,
    get version() {
      return stat.version;
    },
  };
}
