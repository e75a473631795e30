import type { Dir } from "node:fs";
import { lstat, opendir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "./errors.ts";
import { isAbandoned, temporaryKind } from "./temporary-file.ts";
import { followUndoNote } from "./undo-note.ts";

/** Others' files, or a disk that is only read: what cannot be tidied stays, and is invisible all the same. */
const untidiable: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "EPERM", "EROFS"]);

/**
 * Removes what processes that died left behind anywhere under `root`, and undoes the appends they did not finish. Gives
 * whether there are files that others may still be at work on.
 */
export async function recover(root: string): Promise<boolean> {
  const directories = [root];
  let isSomeInUse = false;
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    const { subdirectories, temporaryFiles } = await contentsOf(directory, directory === root);
    for (const subdirectory of subdirectories) directories.push(subdirectory);
    for (const file of temporaryFiles) {
      if (!(await isLeftBehind(file))) isSomeInUse = true;
      else await tidy(file);
    }
  }
  return isSomeInUse;
}

interface Contents {
  readonly subdirectories: readonly string[];
  readonly temporaryFiles: readonly TemporaryEntry[];
}

interface TemporaryEntry {
  readonly name: string;
  readonly path: string;
}

async function contentsOf(directory: string, isRequired: boolean): Promise<Contents> {
  const subdirectories: string[] = [];
  const temporaryFiles: TemporaryEntry[] = [];
  for await (const entry of await openDirectory(directory, isRequired)) {
    const path = join(directory, entry.name);
    // A link to a directory is not one here: what lies outside is not ours, what lies inside is found without it.
    if (entry.isDirectory()) subdirectories.push(path);
    else if (entry.isFile() && temporaryKind(entry.name)) temporaryFiles.push({ name: entry.name, path });
  }
  return { subdirectories, temporaryFiles };
}

async function openDirectory(directory: string, isRequired: boolean): Promise<Dir | readonly never[]> {
  try {
    return await opendir(directory);
  } catch (error) {
    if (isRequired || !untidiable.has(errnoOf(error))) throw error;
    return [];
  }
}

async function isLeftBehind({ name, path }: TemporaryEntry): Promise<boolean> {
  try {
    return isAbandoned(name, (await lstat(path)).mtimeMs);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return true; // its process has just finished with it
    throw error;
  }
}

async function tidy({ name, path }: TemporaryEntry): Promise<void> {
  try {
    if (temporaryKind(name) === "undo") await followUndoNote(path);
    await unlink(path);
  } catch (error) {
    if (!untidiable.has(errnoOf(error))) throw error;
  }
}
