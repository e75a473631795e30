import type { BigIntStats } from "node:fs";
import { type Directory, requireInPlace, sync } from "./directory.ts";
import { type FileRecord, recordOf, storedStat } from "./file-record.ts";
import { type Program, recordAt } from "./system-calls.ts";
import { appendNoteName } from "./temporary-names.ts";

interface Place {
  /** Real location of the directory. */
  readonly directory: string;
  readonly name: string;
}

interface Change extends Place {
  /** The version that is to be changed; `undefined` for nothing. */
  readonly expected: string | undefined;
  readonly sync: boolean;
}

/** Content in a temporary file; before that of an append is room for its record. */
export interface ReceivedContent {
  /** A path that leads to it as long as its directory is open. */
  readonly temporary: string;
  readonly byteLength: number;
  /** CRC-32 of the content of an append. */
  readonly checksum: number;
}

/** What is asked of the disk: plain values, which can be sent to another thread. */
export type Job =
  | (Place & { readonly kind: "look" | "remove-spares" })
  | (Change & {
      readonly kind: "replace";
      /** Names of the directories below the one that exists that are to be made, outermost first. */
      readonly missing: readonly string[];
      readonly content: Uint8Array | ReceivedContent;
      /** The name of a temporary file, where the content is not in one. */
      readonly temporary: string;
      readonly moment: number;
    })
  | (Change & {
      readonly kind: "append";
      readonly content: Uint8Array | ReceivedContent;
      /** Whether the note may stay for the next append: then that one needs no note of its own. */
      readonly keepsNote: boolean;
    })
  | (Change & { readonly kind: "remove" })
  | (Change & {
      readonly kind: "move";
      /** The new place, and the version that is replaced there. */
      readonly goal: Omit<Change, "sync">;
    })
  | (Omit<Change, "expected"> & { readonly kind: "make-directory" });

export type JobOf<Kind extends Job["kind"]> = Extract<Job, { kind: Kind }>;

export interface JobResult {
  /** Where it is not, something else is there than expected. */
  readonly isDone: boolean;
  /** What is there now, as far as the system tells. */
  readonly record: FileRecord | undefined;
  /** Whether an append to what is there may have been cut short. */
  readonly hasNote: boolean;
  /** What has gone wrong after it was done. */
  readonly problems: readonly unknown[];
}

export function* look(directory: Directory, name: string): Program<JobResult> {
  const stats = yield* recordAt(directory.at(name));
  yield* requireInPlace(directory);
  return yield* found(directory, stats);
}

export function* found(directory: Directory, stats: BigIntStats | undefined): Program<JobResult> {
  const hasNote = stats?.isFile() === true && (yield* recordAt(directory.at(appendNoteName(stats.ino)))) !== undefined;
  return { isDone: false, record: stats && recordOf(stats), hasNote, problems: [] };
}

export function isExpected(stats: BigIntStats | undefined, version: string | undefined): boolean {
  return (stats && storedStat(stats).version) === version;
}

/** Syncs what is to be synced after a change. The change stands, also where that fails. */
export function* done(toSync: readonly Directory[], record?: FileRecord): Program<JobResult> {
  const problems: unknown[] = [];
  for (const directory of toSync) yield* reported(sync(directory), problems);
  return { isDone: true, record, hasNote: false, problems };
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
