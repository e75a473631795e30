import { Buffer } from "node:buffer";
import { type BigIntStats, constants } from "node:fs";
import { crc32 } from "node:zlib";
import { StorageError } from "../storage.ts";
import { createIn, type Directory, requireInPlace, requireOpened, sync } from "./directory.ts";
import { errnoOf, recordOf } from "./file-record.ts";
import { found, isExpected, type JobOf, type JobResult, look, reported } from "./jobs.ts";
import {
  attempted,
  call,
  guardFlags,
  type Program,
  readInto,
  unlessFailed,
  withFile,
  writeAll,
} from "./system-calls.ts";
import { appendNoteName } from "./temporary-names.ts";

/** All that has to be known to take an append back. */
export interface AppendNote {
  /** The file's name in the directory of the note. */
  readonly name: string;
  /** The state of the file before, for those who read it meanwhile. */
  readonly before: Pick<BigIntStats, "size" | "mtimeNs" | "ctimeNs">;
  readonly length: number;
  readonly checksum: number;
  /** Checksum of the last bytes before it: proves that the file is the one that was appended to. */
  readonly context: number;
}

/** How many bytes before the end of a file prove that. */
const contextBytes = 4096;

/** Room for the record at the start of a note: a name of 255 escaped bytes fits. The content follows. */
export const recordBytes = 2048;

/** Up to here an append is one piece, also where another program appends at the same time. */
const pieceBytes = 8 * 1024 * 1024;
/** How much of a note is compared with the file at a time. */
const chunkBytes = 256 * 1024;

type AppendJob = JobOf<"append">;

/**
 * Adds content to the end of a file, which stays the same file. First the content becomes a note, from which the next
 * process after a crash can tell which bytes are ours. A note that stays does no harm: content that is there as a whole
 * is left.
 */
export function* append(directory: Directory, job: AppendJob): Program<JobResult> {
  // With O_APPEND, what another program adds at the same time is not overwritten.
  const flags = constants.O_RDWR | constants.O_APPEND;
  const result = yield* withFile(directory.at(job.name), flags, (file) => appendTo(directory, job, file));
  return result ?? (yield* look(directory, job.name));
}

function* appendTo(directory: Directory, job: AppendJob, file: number): Program<JobResult> {
  yield* requireOpened(directory, job.name, file);
  const stats = yield* call.fstat(file, { bigint: true });
  if (!isExpected(stats, job.expected)) return yield* found(directory, stats);
  const { name, content } = job;
  const { size, mtimeNs, ctimeNs } = stats;
  const checksum = "temporary" in content ? content.checksum : crc32(content);
  const context = yield* contextOf(file, Number(size));
  const note = { name, before: { size, mtimeNs, ctimeNs }, length: content.byteLength, checksum, context };
  const noteName = appendNoteName(stats.ino);
  const noteFile = yield* writeNote(directory, noteName, job, note);
  const problems: unknown[] = [];
  let isWhole = false;
  try {
    yield* requireInPlace(directory);
    yield* add(content, note.length, noteFile, file);
    isWhole = true;
    if (job.sync) yield* call.fdatasync(file);
  } catch (error) {
    const isGone = yield* reported(takeBack(file, noteFile, note, true), problems);
    // Where half of it is there and does not go away, the note stays, by which readers are told what the file was.
    if (isGone && job.sync) yield* reported(call.fdatasync(file), problems);
    if (isGone) yield* attempted(removeNote(directory.at(noteName)));
    if (isGone || !isWhole) throw error;
    problems.push(error); // it is done, though it may not outlive a power failure
  } finally {
    yield* attempted(call.close(noteFile));
  }
  const after = yield* unlessFailed(call.fstat(file, { bigint: true }), undefined);
  if (!job.keepsNote) yield* reported(removeNote(directory.at(noteName)), problems);
  return { isDone: true, record: after && recordOf(after), hasNote: false, problems };
}

/** Gives the note, which is open. */
function* writeNote(
  directory: Directory,
  name: string,
  { content, sync: isSynced, keepsNote }: AppendJob,
  note: AppendNote,
): Program<number> {
  const place = directory.at(name);
  const record = noteRecord(note);
  let file: number | undefined;
  let isNew = true;
  try {
    if ("temporary" in content) {
      file = yield* call.open(content.temporary, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
      yield* writeAll(file, record, 0);
      yield* removeNote(place);
      yield* call.rename(content.temporary, place);
    } else {
      file = keepsNote ? yield* openStanding(place) : undefined;
      isNew = file === undefined;
      if (isNew) yield* removeNote(place); // of another process; the lock is ours
      file ??= yield* createIn(directory, name, 0o600);
      yield* writeAll(file, Buffer.concat([record, content]), 0);
    }
    if (isSynced) yield* call.fdatasync(file);
    if (isSynced && isNew) yield* sync(directory);
    return file;
  } catch (error) {
    if (file !== undefined) yield* attempted(call.close(file));
    if (file !== undefined) yield* attempted(removeNote(place));
    // There is a directory where the note should be.
    throw ["EISDIR", "ENOTEMPTY", "EEXIST"].includes(errnoOf(error)) ? new StorageError("forbidden", error) : error;
  }
}

function* openStanding(place: string): Program<number | undefined> {
  const file = yield* unlessFailed(call.open(place, constants.O_RDWR | guardFlags), undefined);
  if (file === undefined || isTrusted(yield* call.fstat(file, { bigint: true }))) return file;
  yield* call.close(file);
  return undefined;
}

function* add(content: AppendJob["content"], length: number, noteFile: number, file: number): Program<void> {
  if (!("temporary" in content)) return yield* writeAll(file, content, null);
  for (let position = 0; position < length; position += pieceBytes) {
    const piece = yield* chunkOf(noteFile, recordBytes + position, Math.min(pieceBytes, length - position));
    if (piece.length < Math.min(pieceBytes, length - position))
      throw new Error("the received content became shorter while it was appended");
    yield* writeAll(file, piece, null);
  }
}

/**
 * Ends an append that its process did not end, under the lock of the file, and removes the note. What is there of the
 * content is taken away again if it is not all there; where other bytes follow it, the file stays as it is. Harmless
 * when nothing is to be done.
 */
export function* endAppend(place: string, location: string): Program<void> {
  yield* withFile(place, constants.O_RDONLY, function* (noteFile) {
    const note = yield* understood(noteFile);
    if (!note) return;
    yield* withFile(location, constants.O_RDWR, function* (file) {
      if (yield* takeBack(file, noteFile, note, false)) yield* call.fsync(file);
    });
  });
  yield* removeNote(place);
}

/** Removes a note, or what looks like one. A directory of that name stays: it is not a note. */
export function* removeNote(place: string): Program<void> {
  try {
    yield* call.unlink(place);
  } catch (error) {
    if (!["ENOENT", "EISDIR", "EPERM"].includes(errnoOf(error))) throw error;
  }
}

/** Takes the content of a note away from the end of a file, where nothing else is there; whether it did. */
function* takeBack(file: number, noteFile: number, note: AppendNote, evenWhole: boolean): Program<boolean> {
  const stats = yield* call.fstat(file, { bigint: true });
  const start = Number(note.before.size);
  const added = Number(stats.size) - start;
  if (!stats.isFile() || added <= 0 || added > note.length) return false;
  if ((yield* contextOf(file, start)) !== note.context) return false;
  const part = yield* partIn(file, noteFile, note);
  if (part === "other" || (part === "all" && !evenWhole)) return false;
  yield* call.ftruncate(file, start);
  return true;
}

/** How much of the content of a note is in the file; `"other"` where that is not all that was added to it. */
function* partIn(file: number, noteFile: number, note: AppendNote): Program<"all" | "some" | "other"> {
  let checksum = 0;
  let part: "all" | "some" = "all";
  for (let position = 0; position < note.length; position += chunkBytes) {
    const wanted = yield* chunkOf(noteFile, recordBytes + position, Math.min(chunkBytes, note.length - position));
    const there = yield* chunkOf(file, Number(note.before.size) + position, wanted.length);
    checksum = crc32(wanted, checksum);
    if (wanted.equals(there)) continue;
    part = "some";
    if (!isBeginning(there, wanted)) return "other";
  }
  return checksum === note.checksum ? part : "other"; // the note itself may not have reached the disk
}

function* contextOf(file: number, end: number): Program<number> {
  const length = Math.min(contextBytes, end);
  return crc32(yield* chunkOf(file, end - length, length));
}

function* chunkOf(file: number, position: number, length: number): Program<Buffer> {
  const chunk = Buffer.allocUnsafe(length);
  return chunk.subarray(0, yield* readInto(file, chunk, position));
}

/**
 * What the file of this inode was before the append that its note is about, where a part of that is there, or all of
 * it: told by its last bytes. `undefined` otherwise, as of a new file that got the number of one whose note has stayed.
 */
export function beforeAppended(
  place: string,
  location: string,
  ino: bigint,
  evenWhole: boolean,
): Program<AppendNote["before"] | undefined> {
  return withFile(place, constants.O_RDONLY, function* (noteFile) {
    const note = yield* understood(noteFile);
    const isThere = note
      ? yield* withFile(location, constants.O_RDONLY, (file) => isAppended(file, noteFile, note, ino, evenWhole))
      : false;
    return isThere ? note?.before : undefined;
  });
}

function* isAppended(
  file: number,
  noteFile: number,
  note: AppendNote,
  ino: bigint,
  evenWhole: boolean,
): Program<boolean> {
  const stats = yield* call.fstat(file, { bigint: true });
  const start = Number(note.before.size);
  const added = Number(stats.size) - start;
  if (stats.ino !== ino || added <= 0 || added > note.length || (added === note.length && !evenWhole)) return false;
  if ((yield* contextOf(file, start)) !== note.context) return false;
  const length = Math.min(contextBytes, added);
  const wanted = yield* chunkOf(noteFile, recordBytes + added - length, length);
  const there = yield* chunkOf(file, start + added - length, length);
  return isBeginning(there, wanted);
}

/** After a power failure zeros stand in the place of bytes that did not reach the disk. */
function isBeginning(there: Buffer, wanted: Buffer): boolean {
  return there.every((byte, index) => byte === 0 || byte === wanted[index]);
}

/** What makes a note of a file whose content follows. */
export function noteRecord(note: AppendNote): Buffer {
  const text = JSON.stringify(note, (_, value) => (typeof value === "bigint" ? String(value) : value));
  const bytes = Buffer.alloc(recordBytes, " ");
  bytes.write(text);
  return bytes;
}

/** What a note says; `undefined` without a note, and for one that another user can have written. */
export function noteAt(place: string): Program<AppendNote | undefined> {
  return withFile(place, constants.O_RDONLY, understood);
}

function* understood(noteFile: number): Program<AppendNote | undefined> {
  const stats = yield* call.fstat(noteFile, { bigint: true });
  if (!isTrusted(stats)) return undefined;
  const note = parsed((yield* chunkOf(noteFile, 0, recordBytes)).toString());
  return note && recordBytes + note.length <= Number(stats.size) ? note : undefined;
}

/** Whether only this user can have written it: a note planted by another user could cut bytes out of a file. */
function isTrusted(stats: BigIntStats): boolean {
  if (process.geteuid === undefined) return stats.isFile(); // Windows has rights of another kind
  const isOurs = stats.isFile() && stats.nlink === 1n && (stats.mode & 0o022n) === 0n;
  try {
    return isOurs && stats.uid === BigInt(process.geteuid());
  } catch {
    return isOurs; // Deno without --allow-sys does not tell who runs it
  }
}

function parsed(text: string): AppendNote | undefined {
  try {
    const { name, before, length, checksum, context } = JSON.parse(text);
    // A plain name: a note planted here must not change a file elsewhere.
    const isName = typeof name === "string" && /^[^/\\\0]{1,255}$/.test(name) && name !== "." && name !== "..";
    const [size, mtimeNs, ctimeNs] = [BigInt(before.size), BigInt(before.mtimeNs), BigInt(before.ctimeNs)] as const;
    const areCounts = [Number(size), length, checksum, context].every(
      (each) => Number.isSafeInteger(each) && each >= 0,
    );
    return isName && areCounts ? { name, before: { size, mtimeNs, ctimeNs }, length, checksum, context } : undefined;
  } catch {
    return undefined; // half a note, or not ours
  }
}
