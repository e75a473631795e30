import type { BucketDecision, RateLimitPolicy } from "./bucket-store.ts";

// Moments are rounded to about a millionth of a token, a power of two: adding and subtracting whole tokens is then
// exact, after years as on the first day, and a burst is never one request short.
const momentsInToken = 2 ** 20;
// Rounded moments are off by a little. What is told to clients makes good for that, so that 6 seconds do not become 7;
// what is granted does so twice, so that whoever waits for just as long as it was told does not come too early.
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

  constructor({ requestsPerSecond, burstCapacity }: Pick<RateLimitPolicy, "requestsPerSecond" | "burstCapacity">) {
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

  /** How the bucket stands, for whoever asked for a token. */
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
