import type { Exchange } from "../../server/exchange.ts";
import type { ReplyHeaders } from "../../server/reply.ts";
import type { BucketDecision, RateLimitPolicy } from "./bucket-store.ts";

/** The decision of one limiter about an exchange. */
export interface Verdict {
  readonly policy: RateLimitPolicy;
  decision: BucketDecision;
  /** Whether the fields of the Internet-Draft are sent as well. */
  readonly isStandard: boolean;
}

// Neither in the exchange's metadata, which plugins may replace, nor read from header fields, which they may set. A
// property, since a WeakMap of short-lived exchanges costs more at each garbage collection than all else that a limiter
// does.
const verdicts: unique symbol = Symbol("verdicts");

type Limited = Exchange & { [verdicts]?: Verdict[] };

/** Notes a decision, for the header fields that the first limiter in the pipeline adds. */
export function noteVerdict(exchange: Limited, verdict: Verdict): void {
  const noted = exchange[verdicts];
  if (noted) noted.push(verdict);
  else exchange[verdicts] = [verdict];
}

/**
 * The header fields for all limiters that an exchange has met: `X-RateLimit-*` of the one with the least remaining, the
 * draft's of each that sends them.
 */
export function limitFields(exchange: Limited): ReplyHeaders {
  const noted = exchange[verdicts] ?? [];
  const [only, second] = noted;
  if (only && !second && !only.isStandard) return plainFields(only); // as good as always
  const [least] = noted.toSorted((a, b) => a.decision.remaining - b.decision.remaining);
  return { ...(least && plainFields(least)), ...standardFields(noted.filter(({ isStandard }) => isStandard)) };
}

function plainFields({ policy, decision }: Verdict): ReplyHeaders {
  return {
    "x-ratelimit-limit": String(Math.floor(policy.burstCapacity)),
    "x-ratelimit-remaining": String(decision.remaining),
    "x-ratelimit-reset": String(Math.ceil(decision.msUntilFull / 1000)),
  };
}

/**
 * As draft-ietf-httpapi-ratelimit-headers-10 has them: lists of structured fields, one item for each policy, which is
 * called by its figures.
 */
function standardFields(shown: readonly Verdict[]): ReplyHeaders {
  if (shown.length === 0) return {};
  const items = shown.map(({ policy: { burstCapacity, requestsPerSecond }, decision }) => {
    const quota = Math.floor(burstCapacity);
    const window = Math.ceil(burstCapacity / requestsPerSecond); // in which an empty bucket is full again
    const name = `"${quota}-in-${window}s"`;
    return {
      policy: `${name};q=${quota};w=${window}`,
      limit: `${name};r=${decision.remaining};t=${Math.ceil(decision.msUntilFull / 1000)}`,
    };
  });
  return {
    "ratelimit-policy": items.map(({ policy }) => policy).join(", "),
    ratelimit: items.map(({ limit }) => limit).join(", "),
  };
}
