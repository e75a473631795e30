import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { StorageError, type StoredEntry } from "../storage.ts";
import { closeDirectory, type Directory, Elsewhere, openDirectory } from "./directory.ts";
import type { Disk } from "./disk.ts";
import { asStorageError, errnoOf, meansAbsent } from "./file-record.ts";
import { look, statAt } from "./look.ts";
import { inPool } from "./system-calls.ts";
import { isTemporaryName } from "./temporary-names.ts";

/** How many names are looked at together: enough to keep the thread pool busy, few enough to leave others room. */
const batchSize = 32;

/** Names no request path can spell: they would be listed as links that lead nowhere. */
export const unaddressable: RegExp = /[\\\u0000-\u001f\u007f]/;

/** The names in a directory, as they come; those that are the server's own or lead out of the root are left out. */
export async function* list(disk: Disk, path: string): AsyncGenerator<StoredEntry, void, undefined> {
  try {
    const real = await disk.paths.find(path);
    if (real === undefined) throw new Elsewhere();
    const directory = await inPool(openDirectory(real));
    try {
      for await (const batch of batchesIn(directory)) {
        const entries = await Promise.all(batch.map((found) => entryOf(disk, path, directory, found)));
        yield* entries.filter((entry) => entry !== undefined);
      }
    } finally {
      await inPool(closeDirectory(directory));
    }
  } catch (error) {
    if (!(error instanceof Elsewhere || meansAbsent(error))) throw asStorageError(error);
    await disk.paths.requireRoot();
    throw new StorageError("not-found", error);
  }
}

/** What an open directory holds, a batch at a time. */
export async function* batchesIn(directory: Directory): AsyncGenerator<readonly Dirent[], void, undefined> {
  let batch: Dirent[] = [];
  for await (const found of await opendir(directory.at("."), { bufferSize: 4 * batchSize })) {
    batch.push(found);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** The directory itself says what nearly every name is, so that nothing is asked of the disk for it. */
async function entryOf(
  disk: Disk,
  path: string,
  directory: Directory,
  found: Dirent,
): Promise<StoredEntry | undefined> {
  const { name } = found;
  if (unaddressable.test(name) || isTemporaryName(name)) return undefined;
  if (disk.paths.isProtected(join(directory.real, name))) return undefined;
  // Of a name that is not UTF-8 we have a text that may be no name at all.
  const isCertain = !name.includes("\ufffd");
  if (isCertain && found.isFile()) return { name, type: "file" };
  if (isCertain && found.isDirectory()) return { name, type: "directory" };
  if (found.isFIFO() || found.isSocket() || found.isBlockDevice() || found.isCharacterDevice()) return undefined;
  const type = await typeOnDisk(disk, join(path, name)); // a link, or a file system that does not say
  const isLink = !found.isFile() && !found.isDirectory();
  return type && { name, type, ...(isLink && { isLink }) };
}

async function typeOnDisk(disk: Disk, path: string): Promise<StoredEntry["type"] | undefined> {
  try {
    return (await look(disk, path, statAt))?.type;
  } catch (error) {
    if (errnoOf(error) === "EACCES" || errnoOf(error) === "ENAMETOOLONG") return undefined; // not for us to see
    throw error;
  }
}
