import type { ReadRecord } from "./journal.ts";

/** Files whose latest entity tags are remembered, at most. */
const maxTags = 100_000;

/** A record, and the look at the journals by which it was read. */
type WaitingRecord = ReadRecord & { readonly look: number };

/**
 * Records that were read from the journals and are to become commits, in the order of each file's versions. A journal
 * has its records in order; those of one file may be in several.
 */
export class WaitingRecords {
  readonly #queues = new Map<string, WaitingRecord[]>();
  /** Changes by the version that they lead to, and by their paths. */
  readonly #index = new Map<string, Set<WaitingRecord>>();
  /** Entity tags of files after their last record that was taken. */
  readonly #tags = new Map<string, string>();
  /** How often the journals were looked at. */
  looks = 0;
  /** The look since which all files are looked at anew: what earlier looks at them have noted is old. */
  #fresh = Number.POSITIVE_INFINITY;

  add(record: ReadRecord): void {
    const waiting = Object.assign(record, { look: this.looks });
    const queue = this.#queues.get(record.journal);
    if (queue) queue.push(waiting);
    else this.#queues.set(record.journal, [waiting]);
    for (const key of keysOf(record)) this.#index.set(key, (this.#index.get(key) ?? new Set()).add(waiting));
  }

  /** Whether any are of a journal, or of a process. */
  hasAnyOf(name: string): boolean {
    return [...this.#queues.keys()].some((journal) => journal.startsWith(name));
  }

  /** Whether any of them were read by this look or one before. */
  hasAnyUntil(look: number): boolean {
    return [...this.#queues.values()].some(([first]) => first && first.look <= look);
  }

  /** Forgets what became of files, which are as history has them until all are looked at anew. */
  forgetTags(): void {
    this.#tags.clear();
    this.#fresh = this.looks + 1;
  }

  /**
   * Takes the earliest record that no other leads to. After so many `looks` in vain for the version before, that is
   * lost, as that of a process that ended before it could note it; -1: at once. `isNew`: unless another has said the
   * same.
   */
  take(looks: number): { readonly record: ReadRecord; readonly isNew: boolean } | undefined {
    const record = this.#next(looks);
    if (!record) return undefined;
    const { journal, path, kind, etag } = record;
    const queue = this.#queues.get(journal);
    queue?.shift();
    if (queue?.length === 0) this.#queues.delete(journal);
    for (const key of keysOf(record)) {
      const others = this.#index.get(key);
      others?.delete(record);
      if (others?.size === 0) this.#index.delete(key);
    }
    const isKnown = etag !== undefined && this.#tags.get(path) === etag;
    const isNew = !isKnown && !(isSeen(record) && this.#isOver(record));
    if (this.#tags.size >= maxTags) this.#tags.clear();
    if (!isSeen(record)) this.#tags.set(path, kind === "deleted" ? "" : (etag ?? ""));
    return { record, isNew };
  }

  #next(looks: number): WaitingRecord | undefined {
    const heads = [...this.#queues.values()].flatMap(([first]) => first ?? []).sort((a, b) => timeOf(a) - timeOf(b));
    const isOlder = ({ look }: WaitingRecord, than: number): boolean => this.looks - look > than;
    const isFirst = (record: WaitingRecord): boolean => !this.#isPreceded(record) && !this.#isLater(record);
    const held = new Set<string>();
    for (const record of heads) {
      const { path } = record;
      const follows = versionBefore(record);
      const tag = this.#tags.get(path);
      // Before the first change of a file there may be others that their processes are about to note.
      const mayBeFirst = follows === undefined || ((tag ?? follows) === follows && isOlder(record, 0));
      const isNext = tag && tag === follows ? !this.#isPreceded(record, record.time) : mayBeFirst && isFirst(record);
      if (isNext && !held.has(path)) return record;
      held.add(path);
    }
    return (
      heads.find((record) => isOlder(record, looks) && isFirst(record)) ??
      heads.find((record) => isOlder(record, 2 * looks))
    );
  }

  /** Whether the version before is in another journal, from before. In a bucket, equal contents are one version. */
  #isPreceded(record: ReadRecord, before: number = Number.POSITIVE_INFINITY): boolean {
    const { path, journal } = record;
    return [...(this.#index.get(`${versionBefore(record)} ${path}`) ?? [])].some(
      (each) => each.journal !== journal && each.time < before,
    );
  }

  /** Whether an earlier change of its file, which follows none that waits as well, is in another journal. */
  #isLater(record: ReadRecord): boolean {
    const { path, journal } = record;
    return [...(this.#index.get(path) ?? [])].some(
      (each) => each.journal !== journal && each.time < timeOf(record) && !this.#index.has(`${each.follows} ${path}`),
    );
  }

  /** Whether a file was changed since it was seen so; with a tag, whether the record of a change to just that waits. */
  #isOver({ path, etag, look }: WaitingRecord): boolean {
    if (this.#tags.has(path) || (etag === undefined && look < this.#fresh)) return true;
    return this.#index.has(etag === undefined ? path : `${etag} ${path}`);
  }
}

/** Whether a record is not of a change, but of what came of one. */
function isSeen({ kind }: ReadRecord): boolean {
  return kind === "found" || kind === "missed";
}

/** The version that a change was made of, or that a file was found as. */
function versionBefore({ kind, etag, follows }: ReadRecord): string | undefined {
  return kind === "found" ? etag : follows;
}

function timeOf({ time, orderTime = time }: ReadRecord): number {
  return orderTime;
}

function keysOf(record: ReadRecord): readonly string[] {
  const { path, etag } = record;
  if (isSeen(record)) return [];
  return etag === undefined ? [path] : [`${etag} ${path}`, path];
}
