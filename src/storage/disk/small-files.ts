import { type BigIntStats, lstat } from "node:fs";
import { join, sep } from "node:path";
import { LRUCache } from "lru-cache";
import { BytesFile } from "../bytes-file.ts";
import type { OpenFile, StoredStat } from "../storage.ts";
import { coarseTickMs, type FileRecord, fineTickMs, recordOf, storedStat } from "./file-record.ts";
import { knownWhole } from "./look.ts";
import type { DiskPaths } from "./paths.ts";

/** Largest file that is kept, and how much all of them may hold together, in bytes. */
const maxFileBytes = 128 * 1024;
const maxBytes = 32 * 1024 * 1024;
/** What an entry takes besides the content. */
const entryBytes = 1024;
/** Paths that are remembered. `max` in place of `maxSize` would take the memory of all of them at once. */
const seen = { maxSize: 10_000, sizeCalculation: () => 1 };

// A file that is written twice within one tick of the file system's clock keeps its times, and the second content would
// go unnoticed. So content is read for keeping when the version has been seen before, longer ago than any tick.

/** Where a path leads, without links. */
interface Place {
  /** The file, and before it the directories below the root that lead to it. */
  readonly locations: readonly string[];
  /** Their records when the file was looked at. */
  readonly records: readonly FileRecord[];
}

interface KnownFile extends Place {
  readonly file: OpenFile;
}

/**
 * Small files in memory, as fresh as on the disk: before each use the records of the file and of the directories on its
 * way are asked for anew, and compared. Files that a link leads to are not kept. Of other files it is known where they
 * lie: what this process knows to be whole there is told of after the same comparison.
 */
export class SmallFiles {
  readonly #paths: Pick<DiskPaths, "root" | "locationOf">;
  readonly #known = new LRUCache<string, KnownFile>({
    maxSize: maxBytes,
    sizeCalculation: ({ file }) => file.stat.size + entryBytes,
  });
  readonly #places = new LRUCache<string, Place>(seen);
  readonly #seen = new LRUCache<string, { readonly version: string; readonly at: number }>(seen);
  readonly #stats = new FreshStats();
  /** Counts up when what may be seen changes: what was opened before is not kept after. */
  #generation = 0;

  constructor(paths: Pick<DiskPaths, "root" | "locationOf">) {
    this.#paths = paths;
  }

  async open(path: string, open: () => Promise<OpenFile | undefined>): Promise<OpenFile | undefined> {
    const known = this.#known.get(path);
    if (known) {
      if (areSame(known.records, await this.#recordsAt(known.locations))) return known.file;
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

  /** What `look` finds at a path; of a file that this process knows to be whole, without a look. */
  async stat(path: string, look: () => Promise<StoredStat | undefined>): Promise<StoredStat | undefined> {
    const place = this.#places.get(path);
    if (place) {
      const records = await this.#recordsAt(place.locations);
      const whole = knownWhole(place.locations.at(-1) ?? "");
      if (leadThere(place.records, records) && whole?.stat.version === versionOf(records)) return whole?.stat;
    }
    const generation = this.#generation;
    const found = await look();
    if (found?.type !== "file") return found;
    const { version } = found;
    // What is asked for once, as by a listing, is not worth another look.
    const now = this.#seen.has(path) ? await this.#placeOf(path, version) : undefined;
    if (now && generation === this.#generation) this.#places.set(path, now);
    if (!now) this.#seen.set(path, { version, at: performance.now() });
    return found;
  }

  /** A path leads nowhere any more. */
  forget(path: string): void {
    this.#known.delete(path);
    this.#places.delete(path);
    this.#seen.delete(path);
  }

  clear(): void {
    this.#generation += 1;
    this.#known.clear();
    this.#places.clear();
    this.#seen.clear();
  }

  /** Reads an open file and keeps it, in place of the file; `undefined` where it cannot be kept. */
  async #keep(path: string, file: OpenFile, generation: number, seenMs: number): Promise<OpenFile | undefined> {
    if (seenMs < fineTickMs) return undefined;
    const place = await this.#placeOf(path, file.stat.version);
    const { ctimeNs = 0n } = place?.records.at(-1) ?? {};
    const isCoarse = ctimeNs % 1_000_000n === 0n;
    if (!place || seenMs < (isCoarse ? coarseTickMs : fineTickMs)) return undefined;
    const content = await file.bytes().catch(() => undefined); // the reader of the file meets the same failure
    if (!content) return undefined;
    await file.close();
    const { type, size, modified } = file.stat;
    const kept = new BytesFile({ type, size, modified, version: file.stat.version }, content);
    if (generation === this.#generation) this.#known.set(path, { file: kept, ...place });
    return kept;
  }

  /** Where a path leads, if there are no links on the way, and it is this version that lies there. */
  async #placeOf(path: string, version: string): Promise<Place | undefined> {
    const locations = this.#locationsOf(path);
    const records = await this.#recordsAt(locations);
    // What this process is appending to is another file than its record says, until that is done.
    return records.every(isPlain) && versionOf(records) === version
      ? { locations, records: records.map(recordOf) } // a fifth of what the system tells, in memory
      : undefined;
  }

  /** The location of a path, and before it those of the directories below the root that lead to it. */
  #locationsOf(path: string): readonly string[] {
    const { root } = this.#paths;
    const location = this.#paths.locationOf(path);
    if (location === undefined || location === root) return [];
    const names = location.slice(root.length).split(sep).filter(Boolean);
    return names.map((_, i) => join(root, ...names.slice(0, i + 1)));
  }

  #recordsAt(locations: readonly string[]): Promise<readonly (BigIntStats | undefined)[]> {
    return Promise.all(locations.map((location) => this.#stats.of(location)));
  }
}

/** Whether a record is that of a regular file at the end of directories; symbolic links count as neither. */
function isPlain(record: BigIntStats | undefined, i: number, all: readonly unknown[]): record is BigIntStats {
  return (i === all.length - 1 ? record?.isFile() : record?.isDirectory()) ?? false;
}

type Records = readonly (BigIntStats | undefined)[];

/** Whether the file is the one that it was, and nothing was written to it. */
function areSame(before: readonly FileRecord[], now: Records): boolean {
  const [a, b] = [before.at(-1), now.at(-1)];
  const isUnwritten = a?.ctimeNs === b?.ctimeNs && a?.mtimeNs === b?.mtimeNs && a?.size === b?.size;
  return isUnwritten && a?.ino === b?.ino && a?.dev === b?.dev && leadThere(before, now);
}

/** Whether the same directories lead to a file. They stay the same whatever is put into them. */
function leadThere(before: readonly FileRecord[], now: Records): boolean {
  return before.every((a, i) => {
    const b = now[i];
    return i === before.length - 1 ? b?.isFile() : a.ino === b?.ino && a.dev === b?.dev;
  });
}

function versionOf(records: Records): string | undefined {
  const record = records.at(-1);
  return record && storedStat(record).version;
}

type Answer = Promise<BigIntStats | undefined>;

/**
 * Asks the disk for the records of names, once for all who ask within one turn of the event loop. The looks begin at
 * its end, so that what a client learns was asked for after it came: an earlier look may have happened before the
 * change that it knows of.
 */
export class FreshStats {
  #due = new Map<string, Answer>();
  #turnEnd: Promise<void> | undefined;

  /** The record of a location itself, not of what a link leads to; `undefined` if it cannot be had. */
  of(location: string): Answer {
    const known = this.#due.get(location);
    if (known) return known;
    this.#turnEnd ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
      // Not cleared: V8 links the old table of a map to the new one, and old tables would outlive their use.
      this.#due = new Map();
      this.#turnEnd = undefined;
    });
    const answer: Answer = this.#turnEnd.then(
      () => new Promise((resolve) => lstat(location, { bigint: true }, (_error, stats) => resolve(stats))),
    );
    this.#due.set(location, answer);
    return answer;
  }
}
