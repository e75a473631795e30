import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { openIfThere } from "./file-record.ts";

/** The state of the file before, for those who read it meanwhile. */
export interface Before {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** What has to be known to take an append back. */
export interface AppendRecord {
  /** The file's name in the directory of the note, and its inode number. */
  readonly name: string;
  readonly inode: bigint;
  readonly before: Before;
  /** Length and checksum of the content that is added. */
  readonly length: number;
  readonly checksum: number;
  /** Checksum of the last bytes before it. */
  readonly context: number;
}

/** How many bytes before the end of a file prove that it is the one that was appended to, and not begun anew since. */
const contextBytes = 4096;

/** The record's place at the end of the note: enough for a name of 255 bytes, each of them escaped. */
const recordBytes = 2048;

/** The last byte of a note: whether the file was touched. */
const untouched = "-";
const begun = "+";

const noteName = /^\.filement-append-(\d+)\.tmp$/;

/** The name of the note about an append to the file of that inode number. Whatever name a file has, its note is found. */
export function appendNoteName(inode: bigint): string {
  return `.filement-append-${inode}.tmp`;
}

/** Whether a file of that name is a note. */
export function isAppendNoteName(name: string): boolean {
  return noteName.test(name);
}

/** Makes a note of a file that holds the content of the append already. */
export async function writeRecord(handle: FileHandle, record: AppendRecord): Promise<void> {
  const text = JSON.stringify(record, (_, value) => (typeof value === "bigint" ? String(value) : value));
  const bytes = Buffer.alloc(recordBytes, " ");
  bytes.write(text);
  bytes.write(untouched, recordBytes - 1);
  await handle.appendFile(bytes);
}

/** Puts into a note that from now on bytes of the append may be in the file. */
export async function markBegun(handle: FileHandle, { length }: AppendRecord): Promise<void> {
  await handle.write(begun, length + recordBytes - 1);
}

/** A note that was found: opened, and understood. */
export interface AppendNote extends AppendRecord {
  readonly handle: FileHandle;
  readonly isBegun: boolean;
}

/** Opens a note; `undefined` where there is none, or none that holds what it should. */
export async function openNote(location: string): Promise<AppendNote | undefined> {
  const handle = await openIfThere(location);
  if (!handle) return undefined;
  try {
    const note = await understood(handle);
    if (note) return note;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

async function understood(handle: FileHandle): Promise<AppendNote | undefined> {
  const stats = await handle.stat();
  if (!stats.isFile() || stats.size < recordBytes) return undefined;
  const bytes = Buffer.alloc(recordBytes);
  const { bytesRead } = await handle.read(bytes, 0, recordBytes, stats.size - recordBytes);
  const record = parseRecord(bytes.toString("utf8", 0, bytesRead - 1));
  if (record?.length !== stats.size - recordBytes) return undefined;
  return { ...record, handle, isBegun: bytes.toString("latin1", bytesRead - 1) === begun };
}

function parseRecord(text: string): AppendRecord | undefined {
  try {
    const { name, inode, before, length, checksum, context } = JSON.parse(text);
    // A plain name: somebody who can put a file here must not make us change one elsewhere.
    const isName = typeof name === "string" && /^[^/\\\0]{1,255}$/.test(name) && name !== "." && name !== "..";
    if (!isName || ![length, checksum, context].every((value) => Number.isSafeInteger(value) && value >= 0)) return;
    const { size, mtimeNs, ctimeNs } = before;
    const counts = [inode, size, mtimeNs, ctimeNs];
    if (!counts.every((value) => typeof value === "string" && /^\d{1,30}$/.test(value))) return undefined;
    const state = { size: BigInt(size), mtimeNs: BigInt(mtimeNs), ctimeNs: BigInt(ctimeNs) };
    return { name, inode: BigInt(inode), before: state, length, checksum, context };
  } catch {
    return undefined; // half a note, or none of ours
  }
}

/** Checksum of what stands right before a position of a file. */
export async function contextOf(handle: FileHandle, end: number): Promise<number> {
  const length = Math.min(contextBytes, end);
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, end - length);
  return crc32(buffer.subarray(0, bytesRead));
}
