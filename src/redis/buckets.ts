import { hash } from "node:crypto";
import { ConfigError } from "../config.ts";
import {
  type BucketDecision,
  type BucketStore,
  type RateLimitPolicy,
  TokenBucket,
} from "../plugins/rate-limit/token-bucket.ts";
import { RedisConnection, type RedisSource } from "./connection.ts";

/** Options for {@link redisBuckets}. */
export interface RedisBucketsOptions {
  /** Begins the name of each key. @default "filement:bucket:" */
  readonly prefix?: string | undefined;
  /** Seconds that a request waits for Redis; then it passes. @default 0.5 */
  readonly timeout?: number | undefined;
}

/** Time enough for the longest rest of a client; Redis does not count much further. */
const maxExpiryMs = 1e12;

/**
 * A bucket is the number of tokens that are missing, and when that was so, in microseconds. Takes (1) or gives back
 * (-1) a token. A bucket that would be full has expired, which is the same.
 */
const changeBucket = `
local change, tokensInMs, capacity, longest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = ARGV[5] and {0, ARGV[5]} or redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local missing = 0
local stored = redis.call('GET', KEYS[1])
if stored then
  local before, at = string.match(stored, '(%S+) (%S+)')
  missing = math.max(0, tonumber(before) - math.max(0, now - tonumber(at)) / 1000 * tokensInMs)
end
local allowed = change < 0 or missing + change <= capacity + 4 / 1048576
if allowed then missing = math.max(0, missing + change) end
if missing > 0 then
  local expiry = ARGV[5] and longest or math.min(longest, math.ceil(missing / tokensInMs) + 1)
  redis.call('SET', KEYS[1], string.format('%.17g %.0f', missing, now), 'PX', string.format('%.0f', expiry))
elseif stored then
  redis.call('DEL', KEYS[1])
end
return {allowed and 1 or 0, string.format('%.17g', missing)}
`;

/**
 * Keeps the buckets of `rateLimit({ store })` in a Redis, where several servers share them, within one token. Each
 * request costs one round trip; the time is that of Redis. Where Redis is away, or too slow, requests pass and
 * `onError` is told.
 *
 * @example rateLimit({ requestsPerSecond: 5, store: redisBuckets("redis://redis.internal") });
 */
export function redisBuckets(source: RedisSource, options: RedisBucketsOptions = {}): BucketStore {
  return bucketsAt(source, options);
}

/** Like {@link redisBuckets}, with a clock in milliseconds in place of Redis's, for tests. */
export function bucketsAt(
  source: RedisSource,
  { prefix = "filement:bucket:", timeout = 0.5 }: RedisBucketsOptions,
  now?: () => number,
): BucketStore {
  if (!(timeout > 0)) throw new ConfigError([`redisBuckets: timeout is ${timeout}: expected seconds, more than 0`]);
  let connection: RedisConnection | undefined;

  async function change(by: 1 | -1, key: string, policy: RateLimitPolicy): Promise<BucketDecision> {
    const { requestsPerSecond, burstCapacity } = policy;
    connection ??= RedisConnection.to(source).hold();
    // Hashed: the keys of Redis must not list addresses and names. Limiters with the same figures share buckets.
    const bucket = prefix + hash("sha256", `${requestsPerSecond} ${burstCapacity}\n${key}`, "base64url").slice(0, 22);
    const figures = [by, requestsPerSecond / 1000, burstCapacity, maxExpiryMs].map(String);
    const clock = now ? [String(Math.round(now() * 1000))] : [];
    const reply = await connection.runScript(changeBucket, [bucket], [...figures, ...clock], timeout * 1000);
    const [allowed, missing] = reply as [number, string]; // as the script gives them
    return new TokenBucket(policy).decision(allowed === 1, Number(missing), 0);
  }

  return {
    take: (key, policy) => change(1, key, policy),
    giveBack: async (key, policy) => void (await change(-1, key, policy)),
    async start(report) {
      connection ??= RedisConnection.to(source).hold();
      await connection.reach().catch(report); // requests pass until it is there
    },
    close() {
      connection?.release();
      connection = undefined;
    },
  };
}
