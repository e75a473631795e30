import type { Dir } from "node:fs";
import { lstat, opendir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { noteAt } from "./append-note.ts";
import { errnoOf, recordAt } from "./file-record.ts";
import { inPool } from "./system-calls.ts";
import { removeNote } from "./take-back.ts";
import { isAbandoned, temporaryKind } from "./temporary-file.ts";
import { endIfAbandoned } from "./visible-file.ts";

/** Others' files, or a disk that is only read: what cannot be tidied stays, and is invisible all the same. */
const untidiable: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "EPERM", "EROFS", "ELOOP"]);

/** What was found in a directory that was tidied. */
interface Tidied {
  readonly subdirectories: readonly string[];
  /** Whether there are files that others may still be at work on. */
  readonly isSomeInUse: boolean;
}

/** Removes what processes that died left behind in a directory, and takes back the appends they did not finish. */
export async function tidyDirectory(directory: string, isRequired: boolean): Promise<Tidied> {
  const { subdirectories, leftovers } = await contentsOf(directory, isRequired);
  return { subdirectories, isSomeInUse: await tidy(directory, leftovers) };
}

interface Contents {
  readonly subdirectories: readonly string[];
  /** Names of temporary files. */
  readonly leftovers: readonly string[];
}

async function contentsOf(directory: string, isRequired: boolean): Promise<Contents> {
  const subdirectories: string[] = [];
  const leftovers: string[] = [];
  for await (const entry of await openDirectory(directory, isRequired)) {
    // A link to a directory is not one here: what lies outside is not ours, what lies inside is found without it.
    if (entry.isDirectory()) subdirectories.push(join(directory, entry.name));
    else if (entry.isFile() && temporaryKind(entry.name)) leftovers.push(entry.name);
  }
  return { subdirectories, leftovers };
}

async function openDirectory(directory: string, isRequired: boolean): Promise<Dir | readonly never[]> {
  try {
    return await opendir(directory);
  } catch (error) {
    if (isRequired || !untidiable.has(errnoOf(error))) throw error;
    return [];
  }
}

/** Whether some of them are in use. */
async function tidy(directory: string, leftovers: readonly string[]): Promise<boolean> {
  let isSomeInUse = false;
  for (const name of leftovers) {
    try {
      const location = join(directory, name);
      if (temporaryKind(name) === "append") await endAppendOf(directory, location);
      else if (isAbandoned(name, (await lstat(location)).mtimeMs)) await unlink(location);
      else isSomeInUse = true;
    } catch (error) {
      if (!untidiable.has(errnoOf(error))) throw error;
    }
  }
  return isSomeInUse;
}

/** Follows a note at once unless the file is locked: then its process is at work, or another will follow it first. */
async function endAppendOf(directory: string, location: string): Promise<void> {
  const note = await inPool(noteAt(location));
  if (!note) return inPool(removeNote(location));
  const file = join(directory, note.name);
  await endIfAbandoned(file, await recordAt(file), { note: location, file });
}
