import { constants } from "node:fs";
import { type FileHandle, unlink } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { type AppendNote, contextOf, openNote } from "./append-note.ts";
import { errnoOf, openIfThere, syncFile } from "./file-record.ts";

/** How much is compared, or moved, at a time. */
const chunkBytes = 256 * 1024;

/** An append that was cut short: where its note and its file are. */
export interface CutAppend {
  readonly note: string;
  readonly file: string;
}

/**
 * Ends an append that its process did not end, under the lock of the file, and removes the note. What is there of the
 * content is taken away again if it is not all there. Only bytes that equal the content are: what others have added
 * since stays, and a file that is no longer the same stays as it is. Harmless when nothing is to be done.
 */
export async function endAppend({ note: location, file }: CutAppend): Promise<void> {
  const note = await openNote(location);
  try {
    if (note?.isBegun && (await isIntact(note))) await takeBackAndSync(note, file);
  } finally {
    await note?.handle.close();
  }
  await removeNote(location);
}

/** Removes a note, or what looks like one. A directory of that name stays: it is nobody's note. */
export async function removeNote(location: string): Promise<void> {
  try {
    await unlink(location);
  } catch (error) {
    if (!["ENOENT", "EISDIR", "EPERM"].includes(errnoOf(error))) throw error;
  }
}

/** Takes the content of a note away from the end of a file, as far as it is there. */
export async function takeBack(note: AppendNote, file: FileHandle, when: "always" | "unless whole"): Promise<void> {
  const { ino, size } = await file.stat({ bigint: true });
  if (ino !== note.inode || size <= note.before.size) return;
  const start = Number(note.before.size);
  if ((await contextOf(file, start)) !== note.context) return;
  const ours = await ownBytes(note, file, Number(size));
  if (ours === 0 || (ours === "whole" && when === "unless whole")) return;
  const count = ours === "whole" ? note.length : ours;
  await moveDown(file, start + count, start, Number(size));
  await file.truncate(Number(size) - count);
}

async function takeBackAndSync(note: AppendNote, location: string): Promise<void> {
  const file = await openIfThere(location, constants.O_RDWR);
  if (!file) return;
  try {
    await takeBack(note, file, "unless whole");
    await syncFile(file);
  } finally {
    await file.close();
  }
}

/** Whether the note has the content that was received. */
async function isIntact({ handle, length, checksum }: AppendNote): Promise<boolean> {
  let sum = 0;
  for await (const chunk of chunksOf(handle, 0, length)) sum = crc32(chunk, sum);
  return sum === checksum;
}

/**
 * How many bytes behind the old end of the file are a part of the content, if it is not there as a whole. After a power
 * failure zeros stand in the place of bytes that did not reach the disk.
 */
async function ownBytes(note: AppendNote, file: FileHandle, size: number): Promise<number | "whole"> {
  const start = Number(note.before.size);
  const length = Math.min(note.length, size - start);
  let equal = 0;
  let isOurs = true;
  let position = 0;
  for await (const wanted of chunksOf(note.handle, 0, length)) {
    const found = Buffer.alloc(wanted.length);
    await file.read(found, 0, found.length, start + position);
    if (equal === position) equal += commonLength(wanted, found);
    if (isOurs && !wanted.equals(found)) isOurs = found.every((byte, index) => byte === 0 || byte === wanted[index]);
    position += wanted.length;
  }
  if (equal === note.length) return "whole";
  return isOurs ? length : equal;
}

function commonLength(one: Buffer, other: Buffer): number {
  if (one.equals(other)) return one.length;
  return one.findIndex((byte, index) => byte !== other[index]);
}

/** Moves the bytes from `source` to the end down to `target`. */
async function moveDown(handle: FileHandle, source: number, target: number, end: number): Promise<void> {
  let position = target;
  for await (const chunk of chunksOf(handle, source, end)) {
    await handle.write(chunk, 0, chunk.length, position);
    position += chunk.length;
  }
}

async function* chunksOf(handle: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end; ) {
    const length = Math.min(chunkBytes, end - position);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return; // shorter than it was
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}
