import { hash, randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { type BucketDecision, type BucketStore, type RateLimitPolicy, TokenBucket } from "./token-bucket.ts";

// Pages of 64 KiB: growing copies nothing, and shrinking gives memory back.
const pageBits = 11;
const bucketsOfPage = 2 ** pageBits;

// A bucket has 32 bytes, side by side, so that the processor fetches them at once: words, and a time.
const wordsOfBucket = 8;
const timesOfBucket = wordsOfBucket / 2;
/** The two halves of the hash of the key. */
const high = 0;
const low = 1;
/** The next bucket of the same chain. */
const next = 2;
/** Neighbours in the order of use. */
const newer = 3;
const older = 4;
const fullAt = 3;

/** Buckets begin at 1. Bucket 0 stands between the newest and the oldest, and for "none" in a chain. */
const none = 0;

/** Chains take 1 MiB at most; with a million buckets, four share one. */
const mostChains = 2 ** 18;
/** Buckets looked at in one go of a cleanup: less than a millisecond. */
const bucketsAtOnce = 512;

/** Some thousands of buckets in one piece of memory, seen in two ways. */
interface Page {
  readonly words: Uint32Array;
  readonly times: Float64Array;
}

export interface MemoryBucketsInit {
  readonly policy: RateLimitPolicy;
  readonly maxClients: number;
  readonly cleanupInterval: number;
  /** A clock in milliseconds that never goes back. @default performance.now */
  readonly now?: () => number;
}

/**
 * The buckets of one limiter in the memory of this process, at most `maxClients`: one more takes the place of the
 * bucket that has been idle for the longest time.
 *
 * Keys are not kept, only 64 bits of a hash with a secret. Two of a million keys share them with a probability of 3 in
 * 100,000,000, and a client that chooses its key cannot aim at the bucket of another.
 */
export class MemoryBuckets implements BucketStore {
  readonly #rules: TokenBucket;
  readonly #maxClients: number;
  readonly #cleanupMs: number;
  readonly #clock: () => number;
  readonly #secret = randomBytes(16).toString("hex");
  /** The halves of the hash of the key that was read last. */
  #high = 0;
  #low = 0;
  /** The first bucket of each chain: those whose hashes end in its number. */
  readonly #chains: Uint32Array;
  readonly #pages: Page[] = [emptyPage()];
  #size = 0;
  #timer: NodeJS.Timeout | undefined;
  #cleaning: Promise<void> | undefined;
  #isClosed = false;

  constructor({ policy, maxClients, cleanupInterval, now }: MemoryBucketsInit) {
    this.#rules = new TokenBucket(policy);
    this.#maxClients = maxClients;
    this.#cleanupMs = cleanupInterval * 1000;
    this.#clock = now ?? (() => performance.now());
    this.#chains = new Uint32Array(Math.min(mostChains, 2 ** Math.ceil(Math.log2(maxClients))));
  }

  /** How many clients have a bucket at the moment. */
  get size(): number {
    return this.#size;
  }

  /** Bytes in typed arrays, nearly all that the buckets take. */
  get byteLength(): number {
    return this.#chains.byteLength + this.#pages.length * bucketsOfPage * 32;
  }

  take(key: string): BucketDecision {
    const now = this.#now();
    this.#read(key);
    let bucket = this.#find();
    if (bucket === none) {
      if (this.#size >= this.#maxClients) this.#drop(this.#get(none, newer)); // the oldest
      bucket = this.#add(now);
    } else this.#link(this.#get(bucket, older), this.#get(bucket, newer));
    this.#link(this.#get(none, older), bucket);
    this.#link(bucket, none);
    const time = this.#fullAt(bucket);
    const isAllowed = this.#rules.hasToken(time, now);
    if (isAllowed) this.#setFullAt(bucket, this.#rules.take(time, now));
    return this.#rules.decision(isAllowed, this.#fullAt(bucket), now);
  }

  /** Puts a token back; one for a bucket that is gone was for a full or forgotten one. */
  giveBack(key: string): void {
    this.#read(key);
    const bucket = this.#find();
    if (bucket !== none) this.#setFullAt(bucket, this.#rules.giveBack(this.#fullAt(bucket)));
  }

  /** Cleans up from time to time. Several hosts may share the limiter; one timer does for all. */
  start(): void {
    this.#isClosed = false;
    this.#timer ??= setInterval(() => void this.cleanUp(), this.#cleanupMs).unref();
  }

  /** Drops every bucket that would be full by now, piece by piece. Called again meanwhile, it is the same cleanup. */
  cleanUp(): Promise<void> {
    this.#cleaning ??= this.#dropFull().finally(() => {
      this.#cleaning = undefined;
    });
    return this.#cleaning;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** From the last bucket to the first, in pieces: those moved meanwhile come from the end, which was looked at. */
  async #dropFull(): Promise<void> {
    for (let end = this.#size; end > 0 && !this.#isClosed; ) {
      const now = this.#now();
      let bucket = Math.min(end, this.#size);
      for (end = Math.max(0, bucket - bucketsAtOnce); bucket > end; bucket -= 1)
        if (this.#fullAt(bucket) <= now) this.#drop(bucket);
      await setImmediate();
    }
  }

  #now(): number {
    return this.#rules.moment(this.#clock());
  }

  #read(key: string): void {
    const digest = hash("sha256", this.#secret + key, "buffer");
    this.#high = digest.readUInt32LE(0);
    this.#low = digest.readUInt32LE(4);
  }

  /** The bucket of the key that was read last, or `none`. */
  #find(): number {
    let bucket = this.#chains[this.#chainOf(this.#low)] as number;
    while (bucket !== none && (this.#get(bucket, low) !== this.#low || this.#get(bucket, high) !== this.#high))
      bucket = this.#get(bucket, next);
    return bucket;
  }

  /** Adds a full bucket for the key that was read last. It has no place in the order of use yet. */
  #add(now: number): number {
    this.#size += 1;
    const bucket = this.#size;
    if (bucket >>> pageBits === this.#pages.length) this.#pages.push(emptyPage());
    const chain = this.#chainOf(this.#low);
    this.#set(bucket, high, this.#high);
    this.#set(bucket, low, this.#low);
    this.#set(bucket, next, this.#chains[chain] as number);
    this.#chains[chain] = bucket;
    this.#setFullAt(bucket, now);
    return bucket;
  }

  /** Drops a bucket, and puts the last one in its place. */
  #drop(bucket: number): void {
    const last = this.#size;
    this.#relink(bucket, this.#get(bucket, next));
    this.#link(this.#get(bucket, older), this.#get(bucket, newer));
    if (bucket !== last) {
      this.#relink(last, bucket);
      for (const word of [high, low, next]) this.#set(bucket, word, this.#get(last, word));
      this.#link(this.#get(last, older), bucket);
      this.#link(bucket, this.#get(last, newer));
      this.#setFullAt(bucket, this.#fullAt(last));
    }
    this.#size -= 1;
    // One empty page stays: else a bucket that comes and goes at the border would make a page each time.
    if (this.#pages.length > (this.#size >>> pageBits) + 2) this.#pages.pop();
  }

  #chainOf(hash: number): number {
    return hash & (this.#chains.length - 1);
  }

  /** Puts another bucket where the chain of a bucket leads to it. */
  #relink(bucket: number, other: number): void {
    const chain = this.#chainOf(this.#get(bucket, low));
    let before = this.#chains[chain] as number;
    if (before === bucket) {
      this.#chains[chain] = other;
      return;
    }
    while (this.#get(before, next) !== bucket) before = this.#get(before, next);
    this.#set(before, next, other);
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
    return this.#page(bucket).words[(bucket % bucketsOfPage) * wordsOfBucket + word] as number;
  }

  #set(bucket: number, word: number, value: number): void {
    this.#page(bucket).words[(bucket % bucketsOfPage) * wordsOfBucket + word] = value;
  }

  #fullAt(bucket: number): number {
    return this.#page(bucket).times[(bucket % bucketsOfPage) * timesOfBucket + fullAt] as number;
  }

  #setFullAt(bucket: number, moment: number): void {
    this.#page(bucket).times[(bucket % bucketsOfPage) * timesOfBucket + fullAt] = moment;
  }
}

function emptyPage(): Page {
  const words = new Uint32Array(bucketsOfPage * wordsOfBucket);
  return { words, times: new Float64Array(words.buffer) };
}
