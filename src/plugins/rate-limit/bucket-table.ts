import { BucketEntries, none } from "./bucket-entries.ts";
import { BucketIndex } from "./bucket-index.ts";
import type { BucketDecision } from "./bucket-store.ts";
import { IdleOrder } from "./idle-order.ts";
import { KeyHash } from "./key-hash.ts";
import type { TokenBucket } from "./token-bucket.ts";

/**
 * Token buckets by key, at most `maxBuckets`: one more takes the place of the one that has been idle for the longest
 * time. Keys are not kept, only a hash of 64 bits, see {@link KeyHash}. `now` is a moment of the rules, and never goes
 * back.
 */
export class BucketTable {
  readonly #rules: TokenBucket;
  readonly #maxBuckets: number;
  readonly #hash: KeyHash;
  readonly #entries = new BucketEntries();
  readonly #order = new IdleOrder(this.#entries);
  readonly #index: BucketIndex;

  constructor(rules: TokenBucket, maxBuckets: number, hash: KeyHash = new KeyHash()) {
    this.#rules = rules;
    this.#maxBuckets = maxBuckets;
    this.#hash = hash;
    this.#index = new BucketIndex(this.#entries, maxBuckets);
  }

  /** How many buckets there are. */
  get size(): number {
    return this.#entries.count;
  }

  /** Bytes in typed arrays, which is all but a trifle of what the table takes. */
  get byteLength(): number {
    return this.#entries.byteLength + this.#index.byteLength;
  }

  /** Takes a token, if there is one, from the bucket of a key. */
  take(key: string, now: number): BucketDecision {
    const entry = this.#findOrAdd(key, now);
    const fullAt = this.#entries.fullAt(entry);
    if (!this.#rules.hasToken(fullAt, now)) return this.#rules.decision(false, fullAt, now);
    const after = this.#rules.take(fullAt, now);
    this.#entries.setFullAt(entry, after);
    return this.#rules.decision(true, after, now);
  }

  /** Puts a token back; one for a bucket that is gone was for a full or forgotten one. */
  giveBack(key: string): void {
    this.#hash.read(key);
    const entry = this.#index.find(this.#hash.high, this.#hash.low);
    if (entry !== none) this.#entries.setFullAt(entry, this.#rules.giveBack(this.#entries.fullAt(entry)));
  }

  /**
   * Looks through some of the buckets below number `end`, from the last to the first, and drops the full ones, which
   * are as good as none. Returns the `end` to go on with; all have been looked at when it is 0. In between, buckets may
   * be taken from, added and evicted: those that this moves come from the end, where everything has been looked at.
   */
  dropFull(end: number, now: number, atMost: number): number {
    const from = Math.min(end, this.size);
    const to = Math.max(0, from - atMost);
    for (let entry = from - 1; entry >= to; entry -= 1) if (this.#entries.fullAt(entry) <= now) this.#drop(entry);
    return to;
  }

  #findOrAdd(key: string, now: number): number {
    const { high, low } = this.#read(key);
    const found = this.#index.find(high, low);
    if (found !== none) {
      this.#order.touch(found);
      return found;
    }
    if (this.size >= this.#maxBuckets) this.#drop(this.#order.longestIdle);
    const entry = this.#entries.append(high, low);
    this.#entries.setFullAt(entry, now);
    this.#index.add(entry);
    this.#order.add(entry);
    return entry;
  }

  #read(key: string): KeyHash {
    this.#hash.read(key);
    return this.#hash;
  }

  #drop(entry: number): void {
    this.#index.remove(entry);
    this.#order.remove(entry);
    const last = this.size - 1;
    if (entry !== last) {
      this.#index.renumber(last, entry);
      this.#order.renumber(last, entry);
    }
    this.#entries.removeByLast(entry);
  }
}
