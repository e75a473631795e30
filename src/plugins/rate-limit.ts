import { clientNetwork } from "../http/client-address.ts";
import { HttpError, withoutTrace } from "../http/http-error.ts";
import { checkOptions } from "../options/check-config.ts";
import { aFunction, hasMethods, pluginOptions, redisUrl, timerSeconds } from "../options/option-types.ts";
import { anyOf, integer, number, type OptionsSchema, oneOf, valueThat, yesOrNo } from "../options/schema.ts";
import type { Exchange } from "../server/exchange.ts";
import { notify } from "../server/logger.ts";
import type { Plugin } from "../server/plugin.ts";
import { jsonReply, type Reply, type ReplyHeaders, withFields } from "../server/reply.ts";
import { MemoryBuckets } from "./rate-limit/memory-buckets.ts";
import {
  afterGivingBack,
  type BucketDecision,
  type BucketStore,
  type RateLimitPolicy,
} from "./rate-limit/token-bucket.ts";

/** How clients are told apart; see `keyStrategy` of the options. */
export type KeyStrategy = "ip" | "user" | "host" | ((exchange: Exchange) => string | undefined);

/** Options for {@link rateLimit}. */
export interface RateLimitOptions {
  /** Requests that each client may make in the long run; fractions are fine. @default 10 */
  readonly requestsPerSecond?: number | undefined;
  /** Requests that an idle client may make at once, at least 1. @default 2 × requestsPerSecond, at least 1 */
  readonly burstCapacity?: number | undefined;
  /**
   * What a client is: an address (an IPv6 /64 counts as one), the authenticated user (anonymous requests count by
   * address), the addressed host, or what a function says, where `undefined` is not limited. @default "ip"
   */
  readonly keyStrategy?: KeyStrategy | undefined;
  /** Seconds between two cleanups, which release the memory of idle clients. @default 300 */
  readonly cleanupInterval?: number | undefined;
  /** Most clients remembered; one more replaces the client that was idle longest. @default 1000000 */
  readonly maxClients?: number | undefined;
  /** Send `RateLimit` and `RateLimit-Policy` as well (draft-ietf-httpapi-ratelimit-headers-10). @default false */
  readonly standardHeaders?: boolean | undefined;
  /**
   * Where the buckets are: in a Redis, by its URL (`redis://...`), or in a store of your own. `maxClients` and
   * `cleanupInterval` are the default's. @default the memory of the process
   */
  readonly store?: string | BucketStore | undefined;
}

/** One request in eleven days, and one in a microsecond; beyond these the clock is too coarse, or counts too far. */
const slowest = 1e-6;
const fastest = 1e6;
const largestBurst = 1e9;

export const rateLimitOptions: OptionsSchema = pluginOptions({
  requestsPerSecond: number(
    `a positive number, ${slowest.toFixed(6)} to ${fastest}`,
    (rate) => rate >= slowest && rate <= fastest,
  ),
  burstCapacity: number(`a number from 1 to ${largestBurst}`, (capacity) => capacity >= 1 && capacity <= largestBurst),
  keyStrategy: anyOf([oneOf(["ip", "user", "host"]), aFunction], '"ip", "user", "host" or a function'),
  cleanupInterval: timerSeconds,
  maxClients: integer("a whole number from 1 to 1000000000", (clients) => clients >= 1 && clients <= 1_000_000_000),
  standardHeaders: yesOrNo,
  store: anyOf(
    [redisUrl, valueThat(hasMethods("take", "giveBack"), "")],
    "a bucket store: an object with take and giveBack, or the URL of a Redis, such as redis://localhost:6379",
  ),
});

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
  const { requestsPerSecond = 10, burstCapacity = Math.max(1, 2 * requestsPerSecond), keyStrategy = "ip" } = options;
  const { standardHeaders: isStandard = false, maxClients = 1_000_000, cleanupInterval = 300 } = options;
  const policy: RateLimitPolicy = { requestsPerSecond, burstCapacity };
  const { store: given = new MemoryBuckets({ policy, maxClients, cleanupInterval }) } = options;
  const store = typeof given === "string" ? redisStore(given) : given;
  const keyOf = typeof keyStrategy === "function" ? keyStrategy : keys[keyStrategy];

  return {
    name: "rate-limit",
    needsUser: keyStrategy === "user",
    async handle(exchange, next) {
      const key = checkedKey(keyOf(exchange));
      if (key === undefined) return next();
      let decision: BucketDecision;
      try {
        decision = await store.take(key, policy);
        if (!decision) throw new TypeError("rateLimit: the store's take gave no decision");
      } catch (error) {
        exchange.site.report(error, exchange); // a store that is lost must not refuse requests
        return next();
      }
      const verdict: Verdict = { policy, decision, isStandard };
      verdicts.set(exchange, [...(verdicts.get(exchange) ?? []), verdict]);
      if (!decision.allowed) return withFields(refuse(exchange, key, decision), limitFields(exchange));

      const reply = await next();
      if (reply.error?.code === "RATE_LIMITED") {
        notify(
          () => store.giveBack(key, policy),
          (error) => exchange.site.report(error, exchange),
        );
        verdict.decision = afterGivingBack(decision, policy);
      }
      return withFields(reply, limitFields(exchange));
    },
    start: (site) => store.start?.((error) => site.report(error)),
    close: () => store.close?.(),
  };
}

const addressKey = ({ address }: Exchange): string => `ip:${clientNetwork(address)}`;

/** Each kind of client has a name space of its own: a user may be called `192.0.2.1`. */
const keys = {
  ip: addressKey,
  user(exchange: Exchange) {
    const name = exchange.user?.name ?? exchange.metadata.get("authenticated_user");
    return typeof name === "string" ? `user:${name}` : addressKey(exchange);
  },
  host: ({ host }: Exchange) => `host:${host}`,
};

// Converted to text, every promise would be the same key: one bucket for all clients.
function checkedKey(key: unknown): string | undefined {
  if (key === undefined || typeof key === "string") return key;
  throw new TypeError(`rateLimit: the function keyStrategy returned ${typeof key}: expected a string or undefined`);
}

interface Verdict {
  readonly policy: RateLimitPolicy;
  decision: BucketDecision;
  /** Whether the fields of the Internet-Draft are sent as well. */
  readonly isStandard: boolean;
}

// Neither in the exchange's metadata, which plugins may replace, nor read from header fields, which they may set.
const verdicts = new WeakMap<Exchange, readonly Verdict[]>();

/**
 * The header fields for all limiters that an exchange has met: `X-RateLimit-*` of the one with the least remaining, and
 * for each that sends them those of draft-ietf-httpapi-ratelimit-headers-10, where a policy is called by its figures.
 */
function limitFields(exchange: Exchange): ReplyHeaders {
  const all = (verdicts.get(exchange) ?? []).map(({ policy: { burstCapacity, requestsPerSecond }, ...verdict }) => {
    const limit = Math.floor(burstCapacity);
    const window = Math.ceil(burstCapacity / requestsPerSecond); // in which an empty bucket is full again
    const { remaining, msUntilFull } = verdict.decision;
    const reset = Math.ceil(msUntilFull / 1000);
    return { limit, window, remaining, reset, name: `"${limit}-in-${window}s"`, isStandard: verdict.isStandard };
  });
  const [least] = all.toSorted((one, other) => one.remaining - other.remaining);
  const standard = all.filter(({ isStandard }) => isStandard);
  return {
    ...(least && {
      "x-ratelimit-limit": String(least.limit),
      "x-ratelimit-remaining": String(least.remaining),
      "x-ratelimit-reset": String(least.reset),
    }),
    ...(standard.length > 0 && {
      "ratelimit-policy": standard.map(({ name, limit, window }) => `${name};q=${limit};w=${window}`).join(", "),
      ratelimit: standard.map(({ name, remaining, reset }) => `${name};r=${remaining};t=${reset}`).join(", "),
    }),
  };
}

/** The same reply for every client, whatever it accepts, as the interface has it. */
function refuse(exchange: Exchange, key: string, { msUntilToken }: BucketDecision): Reply {
  const seconds = Math.max(1, Math.ceil(msUntilToken / 1000));
  const { id: requestId, method, path, site } = exchange;
  notify(
    () => site.logger.info({ key, retryAfterSeconds: seconds, method, path, requestId }, "rate limit: refused"),
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
