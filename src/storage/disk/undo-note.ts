import { constants } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Disk, diskLocks, syncDirectory } from "./disk.ts";
import { meansAbsent } from "./errors.ts";
import { TemporaryFile } from "./temporary-file.ts";

/** Where in a file an append begins and ends, in bytes. */
export interface Extent {
  readonly from: number;
  readonly to: number;
}

/** What is needed to undo an append: its extent, and which file it was begun on. */
export interface Undo extends Extent {
  readonly inode: string;
}

interface NamedUndo extends Undo {
  readonly name: string;
}

const undoFlags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Leaves word beside a file how to undo the append that is about to begin, should the process not live to end it. */
export async function writeUndoNote(disk: Disk, real: string, undo: Undo): Promise<TemporaryFile> {
  const note = await TemporaryFile.create(dirname(real), "undo");
  try {
    await note.receive([Buffer.from(JSON.stringify({ name: basename(real), ...undo }))]);
    if (!disk.sync) return note;
    await note.handle.sync();
    await syncDirectory(dirname(real));
    return note;
  } catch (error) {
    await note.remove();
    throw error;
  }
}

/** Takes away what an append has added. A file that others changed meanwhile is left as they made it. */
export async function rollBack(handle: FileHandle, { from, to }: Extent): Promise<void> {
  const { size } = await handle.stat();
  if (size <= from || size > to) return;
  await handle.truncate(from);
  await handle.sync();
}

/** Does what an undo note says, on the file beside it. */
export async function followUndoNote(path: string): Promise<void> {
  const undo = parseUndoNote(await readFile(path, "utf8"));
  // Cut short itself: then the append had not begun.
  if (undo === undefined) return;
  const real = join(dirname(path), undo.name);
  await diskLocks.run(real, async () => {
    const handle = await openIfThere(real);
    try {
      const stats = await handle?.stat({ bigint: true });
      if (handle && stats?.isFile() && String(stats.ino) === undo.inode) await rollBack(handle, undo);
    } finally {
      await handle?.close();
    }
  });
}

function parseUndoNote(text: string): NamedUndo | undefined {
  try {
    const note: unknown = JSON.parse(text);
    return isUndo(note) ? note : undefined;
  } catch {
    return undefined; // half a note
  }
}

function isUndo(note: unknown): note is NamedUndo {
  if (typeof note !== "object" || note === null) return false;
  if (!("name" in note && "inode" in note && "from" in note && "to" in note)) return false;
  const { name, inode, from, to } = note;
  // A plain name: whoever can put a file here must not make us cut one elsewhere.
  const isName = typeof name === "string" && name !== "" && name !== ".." && basename(name) === name;
  return isName && typeof inode === "string" && Number.isSafeInteger(from) && Number.isSafeInteger(to);
}

async function openIfThere(real: string): Promise<FileHandle | undefined> {
  try {
    return await open(real, undoFlags);
  } catch (error) {
    if (meansAbsent(error)) return undefined;
    throw error;
  }
}
