import type { BucketDecision } from "./bucket-store.ts";
import { KeyHash } from "./key-hash.ts";
import type { TokenBucket } from "./token-bucket.ts";

// Pages of 64 KiB: growing copies nothing, and shrinking gives memory back.
const pageBits = 11;
const placeMask = 2 ** pageBits - 1;

// A bucket has 32 bytes, side by side, so that the processor fetches them at once: six words, and a time.
const wordsOfBucket = 8;
/** The two halves of the hash of the key. */
const high = 0;
const low = 1;
/** The next bucket of the same chain, and the first one of the chain that has this number. */
const next = 2;
const first = 3;
/** Neighbours in the order of use. */
const newer = 4;
const older = 5;
const timesOfBucket = wordsOfBucket / 2;
const fullAt = 3;

/** Buckets begin at 1. Bucket 0 stands between the newest and the oldest, and for "none" in a chain. */
const none = 0;

/** Some thousands of buckets in one piece of memory, seen in two ways. */
interface Page {
  readonly words: Uint32Array;
  readonly times: Float64Array;
}

/**
 * Token buckets by key, at most `maxBuckets`: one more takes the place of the one that has been idle for the longest
 * time. Keys are not kept, only a hash of 64 bits, see {@link KeyHash}. `now` is a moment of the rules, and never goes
 * back.
 *
 * Linear hashing (Litwin): there are as many chains as buckets, and each bucket that comes or goes splits one chain or
 * joins two. So the table never grows all at once, which would hold up a request.
 */
export class BucketTable {
  readonly #rules: TokenBucket;
  readonly #maxBuckets: number;
  readonly #hash: KeyHash;
  readonly #pages: Page[] = [emptyPage()];
  #size = 0;

  constructor(rules: TokenBucket, maxBuckets: number, hash: KeyHash = new KeyHash()) {
    this.#rules = rules;
    this.#maxBuckets = maxBuckets;
    this.#hash = hash;
  }

  /** How many buckets there are. */
  get size(): number {
    return this.#size;
  }

  /** Bytes in typed arrays, nearly all that the table takes. */
  get byteLength(): number {
    return this.#pages.length * (placeMask + 1) * wordsOfBucket * Uint32Array.BYTES_PER_ELEMENT;
  }

  /** Takes a token, if there is one, from the bucket of a key. */
  take(key: string, now: number): BucketDecision {
    this.#hash.read(key);
    let bucket = this.#find();
    if (bucket === none) {
      if (this.#size >= this.#maxBuckets) this.#drop(this.#get(none, newer)); // the oldest
      bucket = this.#add(now);
    } else this.#unlink(bucket);
    this.#link(this.#get(none, older), bucket);
    this.#link(bucket, none);
    const time = this.#fullAt(bucket);
    if (!this.#rules.hasToken(time, now)) return this.#rules.decision(false, time, now);
    const after = this.#rules.take(time, now);
    this.#setFullAt(bucket, after);
    return this.#rules.decision(true, after, now);
  }

  /** Puts a token back; one for a bucket that is gone was for a full or forgotten one. */
  giveBack(key: string): void {
    this.#hash.read(key);
    const bucket = this.#find();
    if (bucket !== none) this.#setFullAt(bucket, this.#rules.giveBack(this.#fullAt(bucket)));
  }

  /**
   * Looks through some of the buckets up to number `end`, from the last to the first, and drops the full ones, which
   * are as good as none. Returns the `end` to go on with; all have been looked at when it is 0. In between, buckets may
   * be taken from, added and evicted: those that this moves come from the end, where everything has been looked at.
   */
  dropFull(end: number, now: number, atMost: number): number {
    const from = Math.min(end, this.#size);
    const to = Math.max(0, from - atMost);
    for (let bucket = from; bucket > to; bucket -= 1) if (this.#fullAt(bucket) <= now) this.#drop(bucket);
    return to;
  }

  /** The bucket of the hash that was read last, or `none`. */
  #find(): number {
    let bucket = this.#get(this.#chainOf(this.#hash.low), first);
    while (bucket !== none && !this.#isOf(bucket, this.#hash)) bucket = this.#get(bucket, next);
    return bucket;
  }

  #isOf(bucket: number, hash: KeyHash): boolean {
    return this.#get(bucket, low) === hash.low && this.#get(bucket, high) === hash.high;
  }

  /** Adds a full bucket for the hash that was read last. It has no place in the order of use yet. */
  #add(now: number): number {
    this.#size += 1;
    const bucket = this.#size;
    if (bucket >>> pageBits === this.#pages.length) this.#pages.push(emptyPage());
    this.#set(bucket, first, none);
    const split = parentOf(bucket);
    let moved = this.#get(split, first);
    this.#set(split, first, none);
    while (moved !== none) {
      const following = this.#get(moved, next);
      this.#enchain(moved);
      moved = following;
    }
    this.#set(bucket, high, this.#hash.high);
    this.#set(bucket, low, this.#hash.low);
    this.#enchain(bucket);
    this.#setFullAt(bucket, now);
    return bucket;
  }

  /** Drops a bucket, and puts the last one in its place. */
  #drop(bucket: number): void {
    const last = this.#size;
    this.#relink(bucket, this.#get(bucket, next));
    this.#unlink(bucket);
    let joined = this.#get(last, first);
    this.#size -= 1;
    while (joined !== none) {
      const following = this.#get(joined, next);
      this.#enchain(joined);
      joined = following;
    }
    if (bucket !== last) {
      this.#relink(last, bucket);
      for (const word of [high, low, next]) this.#set(bucket, word, this.#get(last, word));
      this.#link(this.#get(last, older), bucket);
      this.#link(bucket, this.#get(last, newer));
      this.#setFullAt(bucket, this.#fullAt(last));
    }
    // One empty page stays: else a bucket that comes and goes at the border would make a page each time.
    if (this.#pages.length > (this.#size >>> pageBits) + 2) this.#pages.pop();
  }

  /** The chain for the lower half of a hash: by as many of its bits as there are chains for. */
  #chainOf(hash: number): number {
    const bits = 32 - Math.clz32(this.#size);
    const chain = hash & (2 ** bits - 1);
    return chain <= this.#size ? chain : chain & (2 ** (bits - 1) - 1);
  }

  /** Puts a bucket at the beginning of its chain. */
  #enchain(bucket: number): void {
    const chain = this.#chainOf(this.#get(bucket, low));
    this.#set(bucket, next, this.#get(chain, first));
    this.#set(chain, first, bucket);
  }

  /** Puts another bucket where the chain of a bucket leads to it. */
  #relink(bucket: number, other: number): void {
    let place = this.#chainOf(this.#get(bucket, low));
    let word = first;
    for (let found = this.#get(place, word); found !== bucket; found = this.#get(place, word)) {
      place = found;
      word = next;
    }
    this.#set(place, word, other);
  }

  /** Takes a bucket out of the order of use. */
  #unlink(bucket: number): void {
    this.#link(this.#get(bucket, older), this.#get(bucket, newer));
  }

  #link(before: number, after: number): void {
    this.#set(before, newer, after);
    this.#set(after, older, before);
  }

  // There is a page for each bucket, so its words exist.
  #page(bucket: number): Page {
    return this.#pages[bucket >>> pageBits] as Page;
  }

  #get(bucket: number, word: number): number {
    return this.#page(bucket).words[(bucket & placeMask) * wordsOfBucket + word] as number;
  }

  #set(bucket: number, word: number, value: number): void {
    this.#page(bucket).words[(bucket & placeMask) * wordsOfBucket + word] = value;
  }

  #fullAt(bucket: number): number {
    return this.#page(bucket).times[(bucket & placeMask) * timesOfBucket + fullAt] as number;
  }

  #setFullAt(bucket: number, moment: number): void {
    this.#page(bucket).times[(bucket & placeMask) * timesOfBucket + fullAt] = moment;
  }
}

/** The chain that a new one is split from: the same number without its highest bit. */
function parentOf(chain: number): number {
  return chain & ~(2 ** (31 - Math.clz32(chain)));
}

function emptyPage(): Page {
  const words = new Uint32Array((placeMask + 1) * wordsOfBucket);
  return { words, times: new Float64Array(words.buffer) };
}
