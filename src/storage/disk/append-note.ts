import { Buffer } from "node:buffer";
import { type BigIntStats, constants, readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { openIfThere } from "./file-calls.ts";
import { call, type Program } from "./system-calls.ts";

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
  readonly length: number;
  readonly checksum: number;
  /** Checksum of the last bytes before it. */
  readonly context: number;
}

/** How many bytes before the end of a file prove that it is the one that was appended to, and not begun anew since. */
const contextBytes = 4096;

/** Room for the record at the start of a note: a name of 255 escaped bytes fits. The content follows. */
export const recordBytes = 2048;

/** The last byte of a record: whether the file was touched. */
const untouched = "-";
const begun = "+";

const noteName = /^\.filement-append-(\d+)\.tmp$/;

// In one run of the system, what a process has written is seen by those after it, also where it never came to the disk.
let ownRun: string | undefined;
const runOfSystem = (): string => {
  try {
    ownRun ??= readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    ownRun = "";
  }
  return ownRun;
};

/** The name of the note about an append to the file of an inode: it is found by any name of the file. */
export function appendNoteName(inode: bigint): string {
  return `.filement-append-${inode}.tmp`;
}

export function isAppendNoteName(name: string): boolean {
  return noteName.test(name);
}

/** What makes a note of a file whose content follows. */
export function noteRecord(record: AppendRecord): Buffer {
  const all = { ...record, run: runOfSystem() };
  const text = JSON.stringify(all, (_, value) => (typeof value === "bigint" ? String(value) : value));
  const bytes = Buffer.alloc(recordBytes, " ");
  bytes.write(text);
  bytes.write(untouched, recordBytes - 1);
  return bytes;
}

/** Puts into a note that from now on bytes of the append may be in the file. */
export function* markBegun(note: number): Program<void> {
  yield* call.write(note, Buffer.from(begun), 0, 1, recordBytes - 1);
}

export interface AppendNote extends AppendRecord {
  readonly file: number;
  readonly isBegun: boolean;
}

/**
 * Opens a note and gives what `use` makes of it; `undefined` where there is none, or none that this user alone can have
 * written and that holds what it should.
 */
export function* withNote<Result>(
  location: string,
  use: (note: AppendNote) => Program<Result>,
): Program<Result | undefined> {
  const file = yield* openIfThere(location, constants.O_RDONLY);
  if (file === undefined) return undefined;
  try {
    const note = yield* understood(file);
    return note && (yield* use(note));
  } finally {
    yield* call.close(file);
  }
}

/** What a note says; `undefined` as above. */
export function* noteAt(location: string): Program<AppendRecord | undefined> {
  const file = yield* openIfThere(location, constants.O_RDONLY);
  if (file === undefined) return undefined;
  try {
    return yield* understood(file);
  } finally {
    yield* call.close(file);
  }
}

function* understood(file: number): Program<AppendNote | undefined> {
  const stats = yield* call.fstat(file, { bigint: true });
  const { size } = stats;
  if (!stats.isFile() || size < recordBytes || !isTrusted(stats)) return undefined;
  const bytes = Buffer.alloc(recordBytes);
  const length = yield* call.read(file, bytes, 0, recordBytes, 0);
  const record = parseRecord(bytes.toString("utf8", 0, Math.max(0, length - 1)));
  if (!record || BigInt(record.length) > size - BigInt(recordBytes)) return undefined;
  // After a power failure the mark may be missing, and some of what was written after it there.
  const isBegun = bytes.toString("latin1", recordBytes - 1) === begun || record.run !== runOfSystem();
  return { ...record, file, isBegun };
}

/** Whether only this user can have written it: a note planted by another user could cut bytes out of a file. */
export function isTrusted({ mode, uid, nlink }: BigIntStats): boolean {
  if (process.geteuid === undefined) return true; // Windows has rights of another kind
  const isOurs = nlink === 1n && (mode & 0o022n) === 0n;
  try {
    return isOurs && uid === BigInt(process.geteuid());
  } catch {
    return isOurs; // Deno without --allow-sys does not tell who runs it
  }
}

function parseRecord(text: string): (AppendRecord & { readonly run: string }) | undefined {
  try {
    const { name, inode, before, length, checksum, context, run } = JSON.parse(text);
    // A plain name: a note planted here must not change a file elsewhere.
    const isName = typeof name === "string" && /^[^/\\\0]{1,255}$/.test(name) && name !== "." && name !== "..";
    if (!isName || ![length, checksum, context].every((value) => Number.isSafeInteger(value) && value >= 0)) return;
    const { size, mtimeNs, ctimeNs } = before;
    const counts = [inode, size, mtimeNs, ctimeNs];
    if (!counts.every((value) => typeof value === "string" && /^\d{1,30}$/.test(value))) return undefined;
    const state = { size: BigInt(size), mtimeNs: BigInt(mtimeNs), ctimeNs: BigInt(ctimeNs) };
    return { name, inode: BigInt(inode), before: state, length, checksum, context, run: String(run) };
  } catch {
    return undefined; // half a note, or none of ours
  }
}

export function* contextOf(file: number, end: number): Program<number> {
  const bytes = Buffer.alloc(Math.min(contextBytes, end));
  const length = yield* call.read(file, bytes, 0, bytes.length, end - bytes.length);
  return crc32(bytes.subarray(0, length));
}
