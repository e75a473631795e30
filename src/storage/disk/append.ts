import { type BigIntStats, constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type CommitCheck, type Content, StorageError, type StoredStat, type WriteResult } from "../storage.ts";
import {
  type AppendNote,
  type AppendRecord,
  appendNoteName,
  contextOf,
  markBegun,
  writeRecord,
} from "./append-note.ts";
import type { Disk } from "./disk.ts";
import { errnoOf, openIfThere, regularFile, statAfterChange, storedStat, syncFile } from "./file-record.ts";
import { alone, type LockedTarget, locked, openPlace, requireLock } from "./locked-target.ts";
import type { OpenDirectory } from "./open-directory.ts";
import { removeNote, takeBack } from "./take-back.ts";
import { TemporaryFile } from "./temporary-file.ts";
import { lockedStat, settle, whileAppending } from "./visible-file.ts";

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
  const { directory, found } = await openPlace(disk, path);
  try {
    requireFile(path, found);
    const received = await ReceivedContent.create(directory, content);
    const addReceived = async (target: LockedTarget): Promise<WriteResult> => {
      const result = await appendTo(disk, path, target, received, check);
      await received.file.remove(); // under the lock, so that our caller announces the change before the next can be made
      await directory.close();
      return result;
    };
    return await locked(disk, path, addReceived, directory).finally(() => received.file.remove());
  } finally {
    await directory.close();
  }
}

function requireFile(path: string, stats: BigIntStats | undefined): BigIntStats {
  if (regularFile(stats) === undefined || path.endsWith("/")) throw new StorageError("not-found");
  return stats as BigIntStats;
}

/** Content on the disk, and what proves that other bytes are the same. */
class ReceivedContent {
  readonly file: TemporaryFile;
  length = 0;
  checksum = 0;

  private constructor(file: TemporaryFile) {
    this.file = file;
  }

  static async create(directory: OpenDirectory, content: Content): Promise<ReceivedContent> {
    const received = new ReceivedContent(await TemporaryFile.create(directory));
    try {
      received.length = await received.file.receive(received.#summed(content));
      return received;
    } catch (error) {
      await received.file.remove();
      throw error;
    }
  }

  async *#summed(content: Content): Content {
    for await (const piece of content) {
      this.checksum = crc32(piece, this.checksum);
      yield piece;
    }
  }
}

async function appendTo(
  disk: Disk,
  path: string,
  target: LockedTarget,
  received: ReceivedContent,
  check: CommitCheck | undefined,
): Promise<WriteResult> {
  const current = requireFile(path, target.current);
  const handle = await target.parent.open(target.name, appendFlags);
  try {
    // The lock we hold is that of the name, but the file may have others (hard links).
    return await alone(current, async () => {
      const before = await handle.stat({ bigint: true });
      check?.(lockedStat(before));
      if (received.length === 0) return { created: false, stat: storedStat(before) };
      await requireLock(target);
      const stat = await addTo(handle, before, { disk, target, received });
      settle(join(target.parent.real, target.name), stat);
      return { created: false, stat };
    });
  } finally {
    await handle.close().catch(disk.report); // what was written is on the disk, or was taken back
  }
}

interface Addition {
  readonly disk: Disk;
  readonly target: LockedTarget;
  readonly received: ReceivedContent;
}

/**
 * First the received content becomes a note, from which the next process after a crash can tell which bytes are ours. Then it
 * is added to the file, and the note is removed. A note that stays does no harm: content that is there as a whole is left.
 */
async function addTo(
  handle: FileHandle,
  before: BigIntStats,
  { disk, target, received }: Addition,
): Promise<StoredStat> {
  const record = await recordOf(handle, before, target.name, received);
  const note = target.parent.at(appendNoteName(before.ino));
  await placeNote(disk, target, received, record, note);
  return whileAppending(before, async () => {
    await addOrTakeBack(handle, record, { disk, target, received }, note);
    const stat = await statAfterChange(handle, record.length + Number(before.size));
    await removeNote(note).catch(disk.report);
    return stat;
  });
}

async function recordOf(
  handle: FileHandle,
  { ino: inode, size, mtimeNs, ctimeNs }: BigIntStats,
  name: string,
  { length, checksum }: ReceivedContent,
): Promise<AppendRecord> {
  const context = await contextOf(handle, Number(size));
  return { name, inode, before: { size, mtimeNs, ctimeNs }, length, checksum, context };
}

async function placeNote(
  disk: Disk,
  { parent }: LockedTarget,
  { file }: ReceivedContent,
  record: AppendRecord,
  note: string,
): Promise<void> {
  await writeRecord(file.handle, record);
  if (disk.sync) await syncFile(file.handle);
  await file.moveTo(note).catch((error: unknown) => {
    // Somebody put a directory there.
    throw ["EISDIR", "ENOTEMPTY", "EEXIST"].includes(errnoOf(error)) ? new StorageError("forbidden", error) : error;
  });
  if (!disk.sync) return;
  try {
    await parent.sync();
  } catch (error) {
    await removeNote(note);
    throw error;
  }
}

/** Adds the content, or throws with the file as it was. */
async function addOrTakeBack(
  handle: FileHandle,
  record: AppendRecord,
  { disk, target, received }: Addition,
  note: string,
): Promise<void> {
  const source = received.file.handle;
  let isWhole = false;
  try {
    await markBegun(source, record);
    await copy(source, handle, record.length);
    isWhole = true;
    if (disk.sync) await syncFile(handle);
  } catch (error) {
    const isGone = await isTakenBack(disk, { ...record, handle: source, isBegun: true }, target);
    // All of it is there and does not go away: it is done, though it may not outlive a power failure.
    if (isWhole && !isGone) return disk.report(error);
    // Half of it is there and does not go away: the note stays, by which readers are told what the file was before.
    if (!isGone) throw error;
    if (disk.sync) await syncFile(handle).catch(disk.report);
    await removeNote(note).catch(disk.report);
    throw error;
  }
}

async function isTakenBack(disk: Disk, note: AppendNote, { parent, name }: LockedTarget): Promise<boolean> {
  try {
    // Without O_APPEND, which would put to the end what is to be moved.
    const file = await openIfThere(parent.at(name), constants.O_RDWR);
    if (file) await takeBack(note, file, "always").finally(() => file.close());
    return true;
  } catch (failure) {
    disk.report(failure);
    return false;
  }
}

async function copy(from: FileHandle, to: FileHandle, length: number): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(chunkBytes, length));
  for (let position = 0; position < length; ) {
    const wanted = Math.min(buffer.length, length - position);
    const { bytesRead } = await from.read(buffer, 0, wanted, position);
    if (bytesRead === 0) throw new Error("the received content became shorter while it was appended");
    await to.appendFile(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}
