import { type BigIntStats, constants } from "node:fs";
import { type Directory, requireInPlace, sync } from "./directory.ts";
import { storedStat } from "./file-record.ts";
import { call, type Program, recordAt, unlessFailed } from "./system-calls.ts";
import { appendNoteName } from "./temporary-names.ts";

export interface Place {
  /** Real location of the directory; as long as that does not exist, of the nearest above. */
  readonly directory: string;
  /** Names of the directories below it that are to be made, outermost first. */
  readonly missing: readonly string[];
  readonly name: string;
  /** The version that is to be changed; `undefined` for nothing. */
  readonly expected: string | undefined;
  readonly sync: boolean;
}

/** Content in a temporary file; before that of an append is room for its record. */
export interface ReceivedContent {
  /** A path that leads to it as long as its directory is open. */
  readonly temporary: string;
  readonly byteLength: number;
  readonly checksum: number;
}

/** What is asked of the disk: plain values, which can be sent to another thread. */
export type Job =
  | { readonly kind: "look"; readonly directory: string; readonly name: string }
  | (Place & {
      readonly kind: "replace";
      readonly content: Uint8Array | ReceivedContent;
      /** The name of a temporary file, where the content is not in one. */
      readonly temporary: string;
      readonly moment: number;
    })
  | (Place & {
      readonly kind: "append";
      readonly content: Uint8Array | ReceivedContent;
      /** Whether the note may stay for the next append: then that one needs no note of its own. */
      readonly keepsNote: boolean;
    })
  | (Place & { readonly kind: "remove" })
  | (Place & {
      readonly kind: "move";
      /** The new place, and the version that is replaced there. */
      readonly goal: Pick<Place, "directory" | "name" | "expected">;
    })
  | (Pick<Place, "directory" | "name" | "sync"> & { readonly kind: "make-directory" });

export interface FileRecord extends Pick<BigIntStats, "dev" | "ino" | "nlink" | "size" | "mtimeNs" | "ctimeNs"> {
  readonly type: "file" | "directory" | "link" | "other";
}

export type JobResult =
  /** The directory is not there, or lies elsewhere, so that nothing was done. */
  | { readonly kind: "elsewhere" }
  /** Something else is there than expected; nothing was done. `hasNote`: an append may have been cut short. */
  | { readonly kind: "found"; readonly found: FileRecord | undefined; readonly hasNote: boolean }
  /** It is done: what is there now, as far as the system tells; and what has gone wrong after it. */
  | { readonly kind: "done"; readonly record: FileRecord | undefined; readonly problems: readonly unknown[] };

export const createFlags: number =
  constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

export function recordOf(stats: BigIntStats): FileRecord {
  const { dev, ino, nlink, size, mtimeNs, ctimeNs } = stats;
  const type = stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "link" : "other";
  return { type, dev, ino, nlink, size, mtimeNs, ctimeNs };
}

export function* look(directory: Directory, name: string): Program<JobResult> {
  const stats = yield* recordAt(directory.at(name));
  yield* requireInPlace(directory);
  return yield* found(directory, stats);
}

export function* found(directory: Directory, stats: BigIntStats | undefined): Program<JobResult> {
  const hasNote = stats?.isFile() && (yield* recordAt(directory.at(appendNoteName(stats.ino)))) !== undefined;
  return { kind: "found", found: stats && recordOf(stats), hasNote: hasNote === true };
}

export function isExpected(stats: BigIntStats | undefined, version: string | undefined): boolean {
  return (stats && storedStat(stats).version) === version;
}

export function* recordAfter(file: number): Program<FileRecord | undefined> {
  const stats = yield* unlessFailed(call.fstat(file, { bigint: true }), undefined);
  return stats && recordOf(stats);
}

/** Syncs what is to be synced after a change. The change stands, also where that fails. */
export function* done(toSync: readonly Directory[], record?: FileRecord): Program<JobResult> {
  const problems: unknown[] = [];
  for (const directory of toSync) yield* reported(sync(directory), problems);
  return { kind: "done", record, problems };
}

/** Whether something was done that makes no change fail. */
export function* reported(step: Program<unknown>, problems: unknown[]): Program<boolean> {
  try {
    yield* step;
    return true;
  } catch (error) {
    problems.push(error);
    return false;
  }
}
