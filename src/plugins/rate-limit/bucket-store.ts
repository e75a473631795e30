/** What a limiter grants to each client. */
export interface RateLimitPolicy {
  /** Tokens that a bucket gains in a second, evenly. */
  readonly requestsPerSecond: number;
  /** Tokens in a full bucket, with which every bucket begins. */
  readonly burstCapacity: number;
}

/** What a bucket says to a request, and how it stands afterwards. */
export interface BucketDecision {
  /** Whether there was a token, which has been taken. */
  readonly allowed: boolean;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Milliseconds until the bucket is full without further requests. */
  readonly msUntilFull: number;
  /** Milliseconds until there is a token; 0 where there is one. */
  readonly msUntilToken: number;
}

/**
 * Where the buckets of a limiter are. The default keeps them in the memory of the process; one of your own can share
 * them between processes. What a method throws or rejects with is reported to `config.onError`, and the request goes
 * through: a limiter that has lost its store must not take the site down with it.
 */
export interface BucketStore {
  /** Takes a token from the bucket of `key`, which is full where there is none yet. */
  take(key: string, policy: RateLimitPolicy): BucketDecision | Promise<BucketDecision>;
  /** Puts back a token that was taken in vain, since a later limiter refused the request. It is not waited for. */
  giveBack(key: string, policy: RateLimitPolicy): void | Promise<void>;
  /**
   * Called before the first request of each host that lists the limiter. What it throws keeps the server from starting;
   * what need not, it tells `report`.
   */
  start?(report: (error: unknown) => void): void | Promise<void>;
  /** Called when the server closes, once for each limiter that uses the store. */
  close?(): void | Promise<void>;
}
