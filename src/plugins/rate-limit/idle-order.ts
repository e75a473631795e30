import { type BucketEntries, none } from "./bucket-entries.ts";

/** The buckets in the order in which they were last used: a list whose links lie in the buckets themselves. */
export class IdleOrder {
  readonly #entries: BucketEntries;
  #newest = none;
  #oldest = none;

  constructor(entries: BucketEntries) {
    this.#entries = entries;
  }

  /** The bucket that has not been used for the longest time. */
  get longestIdle(): number {
    return this.#oldest;
  }

  /** Puts a bucket that is not in the list at its new end. */
  add(entry: number): void {
    this.#entries.setOlder(entry, this.#newest);
    this.#entries.setNewer(entry, none);
    this.#setNewerOf(this.#newest, entry);
    this.#newest = entry;
  }

  /** Notes that a bucket is used now. */
  touch(entry: number): void {
    if (entry === this.#newest) return;
    this.remove(entry);
    this.add(entry);
  }

  remove(entry: number): void {
    const older = this.#entries.older(entry);
    const newer = this.#entries.newer(entry);
    this.#setNewerOf(older, newer);
    this.#setOlderOf(newer, older);
  }

  /** Follows a bucket that will have another number: its neighbours lead there from now on. */
  renumber(from: number, to: number): void {
    this.#setNewerOf(this.#entries.older(from), to);
    this.#setOlderOf(this.#entries.newer(from), to);
  }

  /** What follows a bucket; with none before it, it is what the list begins with. */
  #setNewerOf(entry: number, newer: number): void {
    if (entry === none) this.#oldest = newer;
    else this.#entries.setNewer(entry, newer);
  }

  #setOlderOf(entry: number, older: number): void {
    if (entry === none) this.#newest = older;
    else this.#entries.setOlder(entry, older);
  }
}
