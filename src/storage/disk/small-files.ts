import { type BigIntStats, lstat } from "node:fs";
import { join, sep } from "node:path";
import { LRUCache } from "lru-cache";
import { BytesFile } from "../bytes-file.ts";
import type { OpenFile } from "../storage.ts";
import { storedStat } from "./file-record.ts";
import type { DiskPaths } from "./paths.ts";

/** Largest file that is kept, and how much all of them may hold together, in bytes. */
const maxFileBytes = 128 * 1024;
const maxBytes = 32 * 1024 * 1024;
/** What an entry takes besides the content. */
const entryBytes = 1024;
const maxSeen = 10_000;

// A file that is written twice within one tick of the file system's clock keeps its times, and the second content would
// go unnoticed. So content is read for keeping when the version has been seen before, longer ago than any tick.
const tickMs = 100;
/** The tick of file systems whose times are no finer than milliseconds: up to two seconds. */
const coarseTickMs = 3000;

interface KnownFile {
  readonly file: OpenFile;
  /** The file, and before it the directories below the root that lead to it. */
  readonly locations: readonly string[];
  /** Their records when the content was read. */
  readonly records: readonly BigIntStats[];
  /** Whether they are still the same, as all learn who ask in one turn of the looks. */
  answer?: { readonly turn: number; readonly isSame: Promise<boolean> };
}

/**
 * Small files in memory, as fresh as on the disk: before each use the records of the file and of the directories on its
 * way are asked for anew, and compared. Files that a link leads to are not kept.
 */
export class SmallFiles {
  readonly #paths: Pick<DiskPaths, "root" | "locationOf">;
  readonly #known = new LRUCache<string, KnownFile>({
    maxSize: maxBytes,
    sizeCalculation: ({ file }) => file.stat.size + entryBytes,
  });
  readonly #seen = new LRUCache<string, { readonly version: string; readonly at: number }>({ max: maxSeen });
  readonly #stats = new FreshStats();
  /** Counts up when what may be seen changes: what was opened before is not kept after. */
  #generation = 0;

  constructor(paths: Pick<DiskPaths, "root" | "locationOf">) {
    this.#paths = paths;
  }

  async open(path: string, open: () => Promise<OpenFile | undefined>): Promise<OpenFile | undefined> {
    const known = this.#known.get(path);
    if (known) {
      if (await this.#isSame(known)) return known.file;
      if (this.#known.peek(path) === known) this.#known.delete(path);
    }
    const generation = this.#generation;
    const file = await open();
    if (!file || file.stat.size > maxFileBytes) return file;
    const { version } = file.stat;
    const seen = this.#seen.get(path);
    if (seen?.version === version)
      return (await this.#keep(path, file, generation, performance.now() - seen.at)) ?? file;
    this.#seen.set(path, { version, at: performance.now() });
    return file;
  }

  clear(): void {
    this.#generation += 1;
    this.#known.clear();
    this.#seen.clear();
  }

  /** Reads an open file and keeps it, in place of the file; `undefined` where it cannot be kept. */
  async #keep(path: string, file: OpenFile, generation: number, seenMs: number): Promise<OpenFile | undefined> {
    if (seenMs < tickMs) return undefined;
    const locations = this.#locationsOf(path);
    const records = await this.#recordsAt(locations);
    if (!records.every(isPlain) || seenMs < tickOf(records)) return undefined;
    const record = records.at(-1);
    // What this process is appending to is another file than its record says, until that is done.
    if (!record || storedStat(record).version !== file.stat.version) return undefined;
    const content = await file.bytes().catch(() => undefined); // the reader of the file meets the same failure
    if (!content) return undefined;
    await file.close();
    const { type, size, modified } = file.stat;
    const kept = new BytesFile({ type, size, modified, version: file.stat.version }, content);
    if (generation === this.#generation) this.#known.set(path, { file: kept, locations, records });
    return kept;
  }

  /** The location of a path, and before it those of the directories below the root that lead to it. */
  #locationsOf(path: string): readonly string[] {
    const { root } = this.#paths;
    const location = this.#paths.locationOf(path);
    if (location === undefined || location === root) return [];
    const names = location.slice(root.length).split(sep).filter(Boolean);
    return names.map((_, i) => join(root, ...names.slice(0, i + 1)));
  }

  #isSame(known: KnownFile): Promise<boolean> {
    const { turn } = this.#stats;
    if (known.answer?.turn !== turn) {
      const isSame = this.#recordsAt(known.locations).then((records) => areSame(known.records, records));
      known.answer = { turn, isSame };
    }
    return known.answer.isSame;
  }

  #recordsAt(locations: readonly string[]): Promise<readonly (BigIntStats | undefined)[]> {
    return Promise.all(locations.map((location) => this.#stats.of(location)));
  }
}

/** Whether a record is that of a regular file at the end of directories; a link, of whatever, is neither. */
function isPlain(record: BigIntStats | undefined, i: number, all: readonly unknown[]): record is BigIntStats {
  return (i === all.length - 1 ? record?.isFile() : record?.isDirectory()) ?? false;
}

function areSame(before: readonly BigIntStats[], now: readonly (BigIntStats | undefined)[]): boolean {
  return before.every((record, i) => isSame(record, now[i], i === before.length - 1));
}

/** A directory is the same whatever is put into it; a file only where nothing was written. */
function isSame(a: BigIntStats, b: BigIntStats | undefined, isFile: boolean): boolean {
  if (a.ino !== b?.ino || a.dev !== b.dev) return false;
  return !isFile || (a.ctimeNs === b.ctimeNs && a.mtimeNs === b.mtimeNs && a.size === b.size);
}

function tickOf(records: readonly BigIntStats[]): number {
  const { ctimeNs = 0n } = records.at(-1) ?? {};
  return ctimeNs % 1_000_000n === 0n ? coarseTickMs : tickMs;
}

type Answer = Promise<BigIntStats | undefined>;

/**
 * Asks the disk for the records of names, once for all who ask within one turn of the event loop. The looks begin at
 * its end, so that what somebody learns was asked for after they came: an earlier look may have happened before the
 * change that they know of.
 */
export class FreshStats {
  #due = new Map<string, { readonly answer: Answer; readonly begin: () => void }>();
  #turn = 0;

  /** Counts the turns: requests of one turn can share an answer. */
  get turn(): number {
    return this.#turn;
  }

  /** The record of a location itself, not of what a link leads to; `undefined` where there is none to be had. */
  of(location: string): Answer {
    const known = this.#due.get(location);
    if (known) return known.answer;
    if (this.#due.size === 0) setImmediate(() => this.#begin());
    let begin = (): void => {};
    const answer: Answer = new Promise((resolve) => {
      begin = () => lstat(location, { bigint: true }, (_error, stats) => resolve(stats));
    });
    this.#due.set(location, { answer, begin });
    return answer;
  }

  #begin(): void {
    const looks = this.#due;
    // Not cleared: V8 links the old table of a map to the new one, and once one table is old, all after it outlive
    // their use.
    this.#due = new Map();
    this.#turn += 1;
    for (const look of looks.values()) look.begin();
  }
}
