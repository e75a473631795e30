import type { BigIntStats } from "node:fs";
import type { StoredStat } from "../storage.ts";
import { storedStat } from "./file-version.ts";

// An append grows a file in place, in several steps. Until the last, everyone in this process is told what the file was
// before, and so reads the old version whole. By device and inode, since one file can have several names.
const before = new Map<string, StoredStat>();
let finished = 0;

/** Names a file whatever paths lead to it. */
export function fileIdentity(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}`;
}

/** What readers are to know of a file: its record, or while something is appended to it, what it was before. */
export function visibleStat(stats: BigIntStats): StoredStat {
  return before.get(fileIdentity(stats)) ?? storedStat(stats);
}

/** Reads a record and gives what readers are to know; `undefined` for what is neither a file nor a directory. */
export async function measure(read: () => Promise<BigIntStats>): Promise<StoredStat | undefined> {
  for (;;) {
    const finishedBefore = finished;
    const stats = await read();
    if (!stats.isFile() && !stats.isDirectory()) return undefined;
    const visible = visibleStat(stats);
    // If an append ended meanwhile, the record may be one of its intermediate steps.
    if (finished === finishedBefore) return visible;
  }
}

/** Runs `append` while readers are told that the file is still what `stats` says. */
export async function whileAppending<T>(stats: BigIntStats, append: () => Promise<T>): Promise<T> {
  const identity = fileIdentity(stats);
  before.set(identity, storedStat(stats));
  try {
    return await append();
  } finally {
    before.delete(identity);
    finished += 1;
  }
}
