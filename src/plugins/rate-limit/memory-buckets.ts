import { setImmediate } from "node:timers/promises";
import type { BucketDecision, BucketStore, RateLimitPolicy } from "./bucket-store.ts";
import { BucketTable } from "./bucket-table.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Buckets looked at in one go: about a millisecond, even where the index shrinks with each of them. */
const bucketsAtOnce = 128;

/** What {@link MemoryBuckets} are made of. */
export interface MemoryBucketsInit {
  readonly policy: RateLimitPolicy;
  readonly maxClients: number;
  /** Seconds from one cleanup to the next. */
  readonly cleanupInterval: number;
  /** A clock in milliseconds that never goes back. @default performance.now */
  readonly now?: () => number;
}

/** The buckets of one limiter in the memory of this process. */
export class MemoryBuckets implements BucketStore {
  readonly #rules: TokenBucket;
  readonly #table: BucketTable;
  readonly #clock: () => number;
  readonly #cleanupMs: number;
  #timer: NodeJS.Timeout | undefined;
  #cleaning: Promise<void> | undefined;
  #isClosed = false;

  constructor({ policy, maxClients, cleanupInterval, now = () => performance.now() }: MemoryBucketsInit) {
    this.#rules = new TokenBucket(policy);
    this.#table = new BucketTable(this.#rules, maxClients);
    this.#clock = now;
    this.#cleanupMs = cleanupInterval * 1000;
  }

  /** How many clients have a bucket at the moment. */
  get size(): number {
    return this.#table.size;
  }

  take(key: string): BucketDecision {
    return this.#table.take(key, this.#now());
  }

  giveBack(key: string): void {
    this.#table.giveBack(key);
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

  #now(): number {
    return this.#rules.moment(this.#clock());
  }

  async #dropFull(): Promise<void> {
    for (let end = this.#table.size; end > 0 && !this.#isClosed; ) {
      end = this.#table.dropFull(end, this.#now(), bucketsAtOnce);
      await setImmediate();
    }
  }
}
