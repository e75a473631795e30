import { Buffer } from "node:buffer";
import { constants } from "node:fs";
import { crc32 } from "node:zlib";
import { type AppendNote, contextOf, recordBytes, withNote } from "./append-note.ts";
import { openIfThere, readInto, writeAll } from "./file-calls.ts";
import { errnoOf } from "./file-record.ts";
import { call, type Program } from "./system-calls.ts";

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
export function* endAppend({ note: location, file }: CutAppend): Program<void> {
  yield* withNote(location, function* (note) {
    if (note.isBegun && (yield* isIntact(note))) yield* takeBack(note, file, "unless whole", true);
  });
  yield* removeNote(location);
}

/** Removes a note, or what looks like one. A directory of that name stays: it is not a note. */
export function* removeNote(location: string): Program<void> {
  try {
    yield* call.unlink(location);
  } catch (error) {
    if (!["ENOENT", "EISDIR", "EPERM"].includes(errnoOf(error))) throw error;
  }
}

/** Takes the content of a note away from the end of the file at a location, as far as it is there. */
export function* takeBack(
  note: AppendNote,
  location: string,
  when: "always" | "unless whole",
  isSynced: boolean,
): Program<void> {
  // Not opened to append, which would put to the end what is to be moved.
  const file = yield* openIfThere(location, constants.O_RDWR);
  if (file === undefined) return;
  try {
    yield* shorten(file, note, when);
    if (isSynced) yield* call.fsync(file);
  } finally {
    yield* call.close(file);
  }
}

function* shorten(file: number, note: AppendNote, when: "always" | "unless whole"): Program<void> {
  const stats = yield* call.fstat(file, { bigint: true });
  const [start, size] = [Number(note.before.size), Number(stats.size)];
  if (!stats.isFile() || size <= start || (yield* contextOf(file, start)) !== note.context) return;
  const ours = yield* ownBytes(note, file, size);
  if (ours === 0 || (ours === "whole" && when === "unless whole")) return;
  const count = ours === "whole" ? note.length : ours;
  // A file of another number is the same one only where file systems number anew: then nothing but ours stands behind
  // it.
  if (stats.ino !== note.inode && start + count !== size) return;
  yield* moveDown(file, start + count, start, size);
  yield* call.ftruncate(file, size - count);
}

/** Whether the note has the content that was received. */
function* isIntact({ file, length, checksum }: AppendNote): Program<boolean> {
  let sum = 0;
  for (let position = 0; position < length; position += chunkBytes) {
    sum = crc32(yield* chunkOf(file, recordBytes + position, Math.min(chunkBytes, length - position)), sum);
  }
  return sum === checksum;
}

/**
 * How many bytes behind the old end of the file are a part of the content, if it is not there as a whole. After a power
 * failure zeros stand in the place of bytes that did not reach the disk.
 */
function* ownBytes(note: AppendNote, file: number, size: number): Program<number | "whole"> {
  const start = Number(note.before.size);
  const length = Math.min(note.length, size - start);
  let equal = 0;
  let isOurs = true;
  for (let position = 0; position < length; position += chunkBytes) {
    const count = Math.min(chunkBytes, length - position);
    const wanted = yield* chunkOf(note.file, recordBytes + position, count);
    const found = yield* chunkOf(file, start + position, count);
    if (equal === position) equal += commonLength(wanted, found);
    if (isOurs && !wanted.equals(found)) isOurs = found.every((byte, index) => byte === 0 || byte === wanted[index]);
  }
  if (equal === note.length) return "whole";
  return isOurs ? length : equal;
}

function commonLength(one: Buffer, other: Buffer): number {
  if (one.equals(other)) return one.length;
  return one.findIndex((byte, index) => byte !== other[index]);
}

function* moveDown(file: number, source: number, target: number, end: number): Program<void> {
  for (let moved = 0; source + moved < end; ) {
    const chunk = yield* chunkOf(file, source + moved, Math.min(chunkBytes, end - source - moved));
    if (chunk.length === 0) return; // shorter than it was
    yield* writeAll(file, chunk, target + moved);
    moved += chunk.length;
  }
}

function* chunkOf(file: number, position: number, length: number): Program<Buffer> {
  const chunk = Buffer.allocUnsafe(length);
  return chunk.subarray(0, yield* readInto(file, chunk, position));
}
