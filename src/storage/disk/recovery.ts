import { lstat, opendir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { StorageError } from "../storage.ts";
import { isAppendNoteName, noteAt } from "./append-note.ts";
import { type Directory, stillHolds } from "./directory.ts";
import { recordAt } from "./file-calls.ts";
import { errnoOf } from "./file-record.ts";
import { enterDirectory, leaveDirectory, type OpenDirectory } from "./open-directory.ts";
import { inPool } from "./system-calls.ts";
import { removeNote } from "./take-back.ts";
import { isAbandoned, isOwnName } from "./temporary-file.ts";
import { endIfAbandoned } from "./visible-file.ts";

/** Others' files, or a disk that is only read: what cannot be tidied stays, and is invisible all the same. */
const untidiable: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "EPERM", "EROFS", "ELOOP"]);

/**
 * Removes what processes that died left behind in a directory, and takes back the appends they did not finish; gives
 * the directories in it. One that was exchanged with a link is left alone.
 */
export async function tidyDirectory(real: string, isRequired: boolean): Promise<readonly string[]> {
  let directory: OpenDirectory | undefined;
  try {
    directory = await enterDirectory(real);
    if (!directory) throw new StorageError("conflict");
    const { subdirectories, leftovers } = await contentsOf(directory);
    await tidy(directory, leftovers);
    return subdirectories;
  } catch (error) {
    if (isRequired || !isUntidiable(error)) throw error;
    return [];
  } finally {
    if (directory) await leaveDirectory(directory);
  }
}

function isUntidiable(error: unknown): boolean {
  return error instanceof StorageError ? error.code === "conflict" : untidiable.has(errnoOf(error));
}

interface Contents {
  readonly subdirectories: readonly string[];
  readonly leftovers: readonly string[];
}

async function contentsOf(directory: Directory): Promise<Contents> {
  const subdirectories: string[] = [];
  const leftovers: string[] = [];
  for await (const entry of await opendir(directory.at("."))) {
    // A link to a directory is not one here: what lies outside is not ours, what lies inside is found without it.
    if (entry.isDirectory()) subdirectories.push(join(directory.real, entry.name));
    else if (entry.isFile() && isOwnName(entry.name)) leftovers.push(entry.name);
  }
  return { subdirectories, leftovers };
}

async function tidy(directory: Directory, leftovers: readonly string[]): Promise<void> {
  for (const name of leftovers) {
    try {
      const stats = await lstat(directory.at(name), { bigint: true });
      if (!(await inPool(stillHolds(directory, name, stats)))) return;
      if (isAppendNoteName(name)) await endAppendOf(directory, name);
      else if (isAbandoned(name, Number(stats.mtimeMs))) await unlink(directory.at(name));
    } catch (error) {
      if (!isUntidiable(error)) throw error;
    }
  }
}

/** Follows a note at once unless the file is locked: then its process is at work, or another will follow it first. */
async function endAppendOf(directory: Directory, name: string): Promise<void> {
  const location = directory.at(name);
  const note = await inPool(noteAt(location));
  if (!note) return inPool(removeNote(location));
  const file = directory.at(note.name);
  await endIfAbandoned(join(directory.real, note.name), await inPool(recordAt(file)), { note: location, file });
}
