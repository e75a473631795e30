import { lstat, opendir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { noteAt, removeNote } from "./append.ts";
import { type Directory, Elsewhere, recordIn, within } from "./directory.ts";
import { errnoOf } from "./file-record.ts";
import { endIfAbandoned } from "./look.ts";
import { inPool, recordAt } from "./system-calls.ts";
import { isAbandoned, isAppendNoteName, isTemporaryName } from "./temporary-names.ts";

/** How many directories are tidied before a start is over: all of most roots. */
const atStart = 100;

/** Between two of the others, in milliseconds: a server has better things to do. */
const paceMs = 5;

/** A disk that is only read says so also of what is not there. */
const noSuchName = ".filement-00000000-0-0.tmp";

/** Others' files, or a disk that is only read: what cannot be tidied stays, and is invisible all the same. */
const untidiable: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "EPERM", "EROFS", "ELOOP"]);

/**
 * Tidies the directories of a root on its own file system: the first hundred before it resolves, the others slowly,
 * until the function that it gives is called. Rejects where the root cannot be read.
 */
export async function sweep(root: string, report: (problem: unknown) => void): Promise<() => Promise<void>> {
  const steps = tidied(root, report);
  let step = steps.next();
  for (let count = 1; count < atStart && !(await step).done; count += 1) step = steps.next();
  let isClosed = false;
  const goOn = async (): Promise<void> => {
    while (!(await step).done) {
      await pause(paceMs, undefined, { ref: false });
      if (isClosed) return;
      step = steps.next();
    }
  };
  await step;
  void goOn();
  return async () => {
    isClosed = true;
    await step;
  };
}

/** Tidies one directory at each step. */
async function* tidied(root: string, report: (problem: unknown) => void): AsyncGenerator<void, void, undefined> {
  const { dev } = await lstat(root);
  const isReadOnly = (await unlink(join(root, noSuchName)).catch(errnoOf)) === "EROFS";
  const left = isReadOnly ? [] : [root];
  for (let directory = left.pop(); directory !== undefined; directory = left.pop()) {
    try {
      const stats = await lstat(directory);
      // Not a file that has taken its place, nor another file system.
      const isOurs = stats.isDirectory() && stats.dev === dev;
      if (isOurs) for (const each of await tidyDirectory(directory)) left.push(each);
    } catch (error) {
      if (directory === root) throw error;
      if (!isUntidiable(error)) report(error);
    }
    yield;
  }
}

/** Removes what dead processes left in a directory and takes back their appends; gives the directories in it. */
export async function tidyDirectory(real: string): Promise<readonly string[]> {
  return within(real, async (directory) => {
    const found: string[] = [];
    const leftovers: string[] = [];
    for await (const entry of await opendir(directory.at("."))) {
      // A link to a directory is not one here: what lies outside is not ours, what lies inside is found without it.
      if (entry.isDirectory()) found.push(join(real, entry.name));
      else if (entry.isFile() && isTemporaryName(entry.name)) leftovers.push(entry.name);
    }
    for (const name of leftovers) await tidy(directory, name);
    return found;
  });
}

async function tidy(directory: Directory, name: string): Promise<void> {
  try {
    const stats = await inPool(recordIn(directory, name));
    if (isAppendNoteName(name)) await endAppendOf(directory, name);
    else if (isAbandoned(name, Number(stats.mtimeMs))) await unlink(directory.at(name));
  } catch (error) {
    if (!isUntidiable(error)) throw error;
  }
}

/** Follows a note at once unless the file is locked: then its process is at work, or another will follow it first. */
async function endAppendOf(directory: Directory, noteName: string): Promise<void> {
  const place = directory.at(noteName);
  const note = await inPool(noteAt(place));
  if (!note) return inPool(removeNote(place));
  const stats = await inPool(recordAt(directory.at(note.name)));
  await endIfAbandoned(directory, noteName, note.name, stats);
}

function isUntidiable(error: unknown): boolean {
  return error instanceof Elsewhere || untidiable.has(errnoOf(error));
}
