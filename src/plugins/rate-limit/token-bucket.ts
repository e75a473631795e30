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
  /** Takes a token from the bucket of `key`; a new bucket is full. */
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

// Moments are rounded to about a millionth of a token, a power of two: adding and subtracting whole tokens is then
// exact, after years as on the first day, and a burst is never one request short.
const momentsInToken = 2 ** 20;
// Rounded moments are slightly off. Figures for clients allow for that, so that 6 seconds do not become 7. Decisions
// allow for twice as much, so that a client that waits exactly as long as `Retry-After` says is not refused again.
const toldTolerance = 2 / momentsInToken;
const grantedTolerance = 2 * toldTolerance;

/**
 * The rules of a token bucket that is nothing but a number: the moment at which it will be full. Every token that is
 * missing puts that moment off by the time that a token takes to come, and time alone fills the bucket.
 *
 * Moments are counted in tokens: as many as have come since the clock began.
 */
export class TokenBucket {
  readonly #tokensInMs: number;
  readonly #capacity: number;

  constructor({ requestsPerSecond, burstCapacity }: RateLimitPolicy) {
    this.#tokensInMs = requestsPerSecond / 1000;
    this.#capacity = burstCapacity;
  }

  /** The moment of a time in milliseconds. */
  moment(ms: number): number {
    return Math.round(ms * this.#tokensInMs * momentsInToken) / momentsInToken;
  }

  hasToken(fullAt: number, now: number): boolean {
    return missing(fullAt, now) + 1 <= this.#capacity + grantedTolerance;
  }

  /** The bucket with one token less. */
  take(fullAt: number, now: number): number {
    return Math.max(fullAt, now) + 1;
  }

  /** The bucket with one token more; a full one stays full, since a moment in the past is as good as now. */
  giveBack(fullAt: number): number {
    return fullAt - 1;
  }

  /** The state of the bucket as a decision. */
  decision(allowed: boolean, fullAt: number, now: number): BucketDecision {
    const absent = missing(fullAt, now);
    return {
      allowed,
      remaining: Math.floor(this.#capacity + grantedTolerance - absent),
      msUntilFull: this.#msFor(absent - toldTolerance),
      msUntilToken: this.#msFor(absent + 1 - this.#capacity - toldTolerance),
    };
  }

  #msFor(tokens: number): number {
    return Math.max(0, tokens) / this.#tokensInMs;
  }
}

/** How a bucket stands that got its token back. */
export function afterGivingBack(decision: BucketDecision, policy: RateLimitPolicy): BucketDecision {
  const { requestsPerSecond, burstCapacity } = policy;
  return {
    ...decision,
    remaining: Math.min(decision.remaining + 1, Math.floor(burstCapacity)),
    msUntilFull: Math.max(0, decision.msUntilFull - 1000 / requestsPerSecond),
  };
}

function missing(fullAt: number, now: number): number {
  return Math.max(0, fullAt - now);
}
