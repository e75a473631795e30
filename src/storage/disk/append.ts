import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { type CommitCheck, type Content, StorageError, type StoredStat, type WriteResult } from "../storage.ts";
import { type Disk, diskLocks, locked, regularFileAt, syncDirectory } from "./disk.ts";
import { storedStat } from "./file-version.ts";
import { fileIdentity, visibleStat, whileAppending } from "./pending-appends.ts";
import { TemporaryFile } from "./temporary-file.ts";
import { rollBack, writeUndoNote } from "./undo-note.ts";

/** How much is copied at a time from what was received to the end of the file. */
const chunkBytes = 256 * 1024;

// With O_APPEND, what another program adds at the same time is not overwritten.
const appendFlags = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Adds content to the end of a file, which stays the same file: received beside it first, then added in place. */
export async function append(
  disk: Disk,
  path: string,
  content: Content,
  check: CommitCheck | undefined,
): Promise<WriteResult> {
  const target = await disk.paths.target(path);
  await existingFileAt(path, target.real);
  const received = await TemporaryFile.create(dirname(target.real), "content");
  try {
    await received.receive(content);
    return await locked(disk, path, async ({ real }) => {
      await existingFileAt(path, real);
      const handle = await open(real, appendFlags);
      try {
        const stat = await appendTo(disk, { real, handle, received, check });
        await received.remove();
        return { created: false, stat };
      } finally {
        await handle.close();
      }
    });
  } finally {
    await received.remove();
  }
}

async function existingFileAt(path: string, real: string): Promise<void> {
  const stats = await regularFileAt(real);
  if (stats === undefined || path.endsWith("/")) throw new StorageError("not-found");
}

interface Append {
  readonly real: string;
  readonly handle: FileHandle;
  readonly received: TemporaryFile;
  readonly check: CommitCheck | undefined;
}

async function appendTo(disk: Disk, { real, handle, received, check }: Append): Promise<StoredStat> {
  const identity = fileIdentity(await handle.stat({ bigint: true }));
  // The lock we hold is that of the name, but the file may have others (hard links).
  return diskLocks.run(identity, async () => {
    const before = await handle.stat({ bigint: true });
    check?.(visibleStat(before));
    const { size } = await received.handle.stat();
    if (size === 0) return storedStat(before);
    return whileAppending(before, async () => {
      await copyOrUndo(disk, { real, handle, received, before, size });
      return storedStat(await handle.stat({ bigint: true }));
    });
  });
}

interface Copy {
  readonly real: string;
  readonly handle: FileHandle;
  readonly received: TemporaryFile;
  readonly before: BigIntStats;
  readonly size: number;
}

async function copyOrUndo(disk: Disk, { real, handle, received, before, size }: Copy): Promise<void> {
  const extent = { from: Number(before.size), to: Number(before.size) + size };
  const note = await writeUndoNote(disk, real, { inode: String(before.ino), ...extent });
  try {
    await copy(received.handle, handle, size);
    if (disk.sync) await handle.sync();
  } catch (error) {
    await rollBack(handle, extent); // where even this fails the note stays, and the next start finishes it
    await note.remove();
    throw error;
  }
  await note.remove();
  // Should the note come back after a power failure, it would undo an append that was reported as done.
  if (disk.sync) await syncDirectory(dirname(real));
}

async function copy(from: FileHandle, to: FileHandle, size: number): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(chunkBytes, size));
  for (let position = 0; position < size; ) {
    const { bytesRead } = await from.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw new Error("the received content became shorter while it was appended");
    await to.appendFile(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}
