import type { BucketDecision, RateLimitPolicy } from "./bucket-store.ts";

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

  /** Whether there is a token now. */
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
