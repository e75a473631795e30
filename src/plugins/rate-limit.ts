import { HttpError, withoutTrace } from "../http/http-error.ts";
import { checkOptions } from "../options/check-config.ts";
import type { Exchange } from "../server/exchange.ts";
import { notify } from "../server/logger.ts";
import type { Next, Plugin } from "../server/plugin.ts";
import { jsonReply, type Reply, withFields } from "../server/reply.ts";
import type { BucketDecision, BucketStore, RateLimitPolicy } from "./rate-limit/bucket-store.ts";
import { clientKey, type KeyStrategy } from "./rate-limit/client-key.ts";
import { limitFields, noteVerdict, retryAfterSeconds, type Verdict } from "./rate-limit/limit-fields.ts";
import { MemoryBuckets } from "./rate-limit/memory-buckets.ts";
import { rateLimitOptions } from "./rate-limit/options.ts";
import { afterGivingBack } from "./rate-limit/token-bucket.ts";

/** Options for {@link rateLimit}. */
export interface RateLimitOptions {
  /** Requests that each client may make in the long run; fractions are fine. @default 10 */
  readonly requestsPerSecond?: number | undefined;
  /** Requests that an idle client may make at once, at least 1. @default 2 × requestsPerSecond, at least 1 */
  readonly burstCapacity?: number | undefined;
  /**
   * What a client is: an address (an IPv6 /64 counts as one), the authenticated user (anonymous requests count by address), the addressed host, or
   * what a function says, where `undefined` is not limited. @default "ip"
   */
  readonly keyStrategy?: KeyStrategy | undefined;
  /** Seconds between two cleanups, which release the memory of idle clients. @default 300 */
  readonly cleanupInterval?: number | undefined;
  /** Most clients remembered; one more replaces the client that was idle longest. @default 1000000 */
  readonly maxClients?: number | undefined;
  /** Send `RateLimit` and `RateLimit-Policy` as well (draft-ietf-httpapi-ratelimit-headers-10). @default false */
  readonly standardHeaders?: boolean | undefined;
  /** What the limiter is called in those fields, in logs and by a shared store. @default "default" */
  readonly name?: string | undefined;
  /**
   * Where the buckets are: in a Redis, by its URL (`redis://...`), or in a store of your own. `maxClients` and
   * `cleanupInterval` are the default's. @default the memory of the process
   */
  readonly store?: string | BucketStore | undefined;
}

/**
 * Limits how often each client may ask: a token bucket for each, full at first, that gains `requestsPerSecond` tokens a
 * second and loses one with every request. Without a token, the answer is 429 with `Retry-After`. Hosts that list the
 * same limiter share its buckets. Throws a `ConfigError` for options that cannot work.
 *
 * @example
 * createFileServer({ root: "site", plugins: [rateLimit({ requestsPerSecond: 5, burstCapacity: 50 })] });
 */
export function rateLimit(options: RateLimitOptions = {}): Plugin {
  checkOptions("rateLimit", rateLimitOptions, options);
  const { requestsPerSecond = 10, burstCapacity = Math.max(1, 2 * requestsPerSecond), name = "default" } = options;
  const { keyStrategy = "ip", standardHeaders = false } = options;
  const { maxClients = 1_000_000, cleanupInterval = 300 } = options;
  const policy: RateLimitPolicy = { name, requestsPerSecond, burstCapacity };
  const { store: given = new MemoryBuckets({ policy, maxClients, cleanupInterval }) } = options;
  const store = typeof given === "string" ? redisStore(given) : given;
  const keyOf = clientKey(keyStrategy);

  async function applyDecision(exchange: Exchange, next: Next, key: string, decision?: BucketDecision): Promise<Reply> {
    if (!decision) return next();
    const verdict: Verdict = { policy, decision, isStandard: standardHeaders };
    noteVerdict(exchange, verdict);
    if (!decision.allowed) return withFields(refuse(exchange, key, verdict), limitFields(exchange));

    const reply = await next();
    if (reply.error?.code === "RATE_LIMITED") {
      notify(
        () => store.giveBack(key, policy),
        (error) => exchange.site.report(error, exchange),
      );
      verdict.decision = afterGivingBack(decision, policy);
    }
    return withFields(reply, limitFields(exchange));
  }

  return {
    name: "rate-limit",
    needsUser: options.keyStrategy === "user",
    handle(exchange, next) {
      const key = keyOf(exchange);
      if (key === undefined) return next();
      const taken = take(store, key, policy, exchange);
      return taken instanceof Promise
        ? taken.then((decision) => applyDecision(exchange, next, key, decision))
        : applyDecision(exchange, next, key, taken);
    },
    start: (site) => store.start?.((error) => site.report(error)),
    close: () => store.close?.(),
  };
}

type Taken = BucketDecision | undefined;

/** Takes a token; `undefined` where the store fails, since that must not refuse requests. Throws and rejects never. */
function take(store: BucketStore, key: string, policy: RateLimitPolicy, exchange: Exchange): Taken | Promise<Taken> {
  const failed = (error: unknown): undefined => {
    exchange.site.report(error, exchange);
  };
  try {
    const taken = store.take(key, policy);
    return isPromiseLike(taken) ? Promise.resolve(taken).then(checkedDecision).catch(failed) : checkedDecision(taken);
  } catch (error) {
    return failed(error);
  }
}

/** Stores are written with promises of any library. */
function isPromiseLike(value: BucketDecision | PromiseLike<BucketDecision>): value is PromiseLike<BucketDecision> {
  return "then" in Object(value);
}

/** A store written without types may omit a field, and `Retry-After` would be `NaN`. */
function checkedDecision(decision: Partial<BucketDecision> | undefined): BucketDecision {
  const { allowed, remaining, msUntilFull, msUntilToken } = decision ?? {};
  const isWhole = Number.isFinite(remaining) && Number.isFinite(msUntilFull) && Number.isFinite(msUntilToken);
  if (typeof allowed !== "boolean" || !isWhole) throw new TypeError("rateLimit: the store's take gave no decision");
  return decision as BucketDecision;
}

/** The same reply for every client, whatever it accepts, as the interface has it. */
function refuse(exchange: Exchange, key: string, { policy, decision }: Verdict): Reply {
  const seconds = retryAfterSeconds(decision);
  const { id: requestId, method, path, site } = exchange;
  const fields = { key, retryAfterSeconds: seconds, limiter: policy.name, method, path, requestId };
  notify(
    () => site.logger.info(fields, "rate limit: refused"),
    (error) => site.report(error, exchange),
  );

  const headers = { "retry-after": String(seconds), "cache-control": "no-store" };
  const message = `Too many requests. Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`;
  const error = withoutTrace(() => new HttpError(429, "RATE_LIMITED", message, { headers }));
  return { ...jsonReply(429, { error: error.reason, message, retry_after_seconds: seconds }, headers), error };
}

/** The buckets of the Redis at a URL. Its code is loaded when it is first needed, for most servers have no Redis. */
function redisStore(url: string): BucketStore {
  let loading: Promise<BucketStore> | undefined;
  const store = (): Promise<BucketStore> => {
    loading ??= import("../redis/buckets.ts").then(({ redisBuckets }) => redisBuckets(url));
    return loading;
  };
  return {
    take: async (key, policy) => (await store()).take(key, policy),
    giveBack: async (key, policy) => (await store()).giveBack(key, policy),
    start: async (report) => (await store()).start?.(report),
    close: async () => (await store()).close?.(),
  };
}
