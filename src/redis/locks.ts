import { hash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { ConfigError } from "../config.ts";
import type { HeldLock, SharedLocks } from "../storage/locks.ts";
import { StorageError } from "../storage/storage.ts";
import { RedisConnection, type RedisSource, redisScript } from "./connection.ts";

/** Options for {@link redisLocks}. */
export interface RedisLocksOptions {
  /** Tells one shared directory from another in the same Redis. @default "files" */
  readonly name?: string | undefined;
  /** Seconds after which the lock of a server that has died, or lost Redis, is over; at least 1. @default 10 */
  readonly lease?: number | undefined;
}

/** What a request waits for other servers at most, in milliseconds. */
const maxWaitMs = 30_000;
/** How long Redis may take: a change that waits is better than one that is refused. */
const replyMs = 5_000;
/** Between two attempts of the first in the queue; those behind it ask less often. */
const firstPauseMs = 5;
const longestPauseMs = 100;
/** A server that has not asked for this long counts as gone from the queue. */
const forgottenMs = 2_000;
/** How long a server passes a lock on among its own requests before others have a chance. */
const turnMs = 50;

/**
 * Gives the lock to the first in the queue, or says how many are in front. With "0", a server that does not get it does not queue.
 */
const takeLock = redisScript(`
local token, lease, forgotten, waits = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
while first and first ~= token and tonumber(redis.call('HGET', KEYS[3], first) or 0) < now - forgotten do
  redis.call('ZREM', KEYS[2], first)
  redis.call('HDEL', KEYS[3], first)
  first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
end
if redis.call('EXISTS', KEYS[1]) == 0 and (not first or first == token) then
  redis.call('SET', KEYS[1], token, 'PX', lease)
  redis.call('ZREM', KEYS[2], token)
  redis.call('HDEL', KEYS[3], token)
  return -1
end
if waits == '0' then return 0 end
redis.call('ZADD', KEYS[2], 'NX', time[1] * 1000000 + time[2], token)
redis.call('HSET', KEYS[3], token, now)
redis.call('PEXPIRE', KEYS[2], 10 * forgotten)
redis.call('PEXPIRE', KEYS[3], 10 * forgotten)
return redis.call('ZRANK', KEYS[2], token)
`);

/** Lengthens a lock, or ends it (0), where it is still one's own. */
const keepLock = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return ARGV[2] == '0' and redis.call('DEL', KEYS[1]) or redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/**
 * Locks for `diskStorage(root, { locks })` where several machines change the files of one directory, such as one on NFS. They are
 * in a Redis, and have a time limit that a living server keeps putting off. A change is made only while its lock holds and the file
 * is what it was. While Redis is away, changes get 503; reads go on.
 *
 * For files on several machines an object store is the better place: see `s3Storage`.
 *
 * @example diskStorage("/mnt/site", { locks: redisLocks("redis://redis.internal") });
 */
export function redisLocks(source: RedisSource, options: RedisLocksOptions = {}): SharedLocks {
  const { name = "files", lease = 10 } = options;
  if (!(lease >= 1)) throw new ConfigError([`redisLocks: lease is ${lease}: expected seconds, at least 1`]);
  const leaseMs = Math.round(lease * 1000);
  let connection: RedisConnection | undefined;
  const redis = (): RedisConnection => {
    connection ??= RedisConnection.to(source).hold();
    return connection;
  };

  /** The lock, or the number of servers in front if another server has it. */
  async function take(keys: readonly string[], token: string, waits: boolean): Promise<HeldLock | number> {
    const askedAt = performance.now(); // the time limit begins after it
    const values = [token, `${leaseMs}`, `${forgottenMs}`, waits ? "1" : "0"];
    try {
      const before = Number(await redis().runScript(takeLock, keys, values, replyMs));
      return before === -1 ? held(redis(), keys[0] ?? "", token, leaseMs, askedAt) : before;
    } catch (error) {
      throw new StorageError("unavailable", error);
    }
  }

  return {
    async acquire(key, since = performance.now()) {
      const [keys, token] = [keysOf(name, key), randomUUID()];
      for (;;) {
        const taken = await take(keys, token, true);
        if (typeof taken !== "number") return taken;
        if (performance.now() - since > maxWaitMs)
          throw new StorageError("busy", new Error("another server holds the lock"));
        await pause(Math.min(longestPauseMs, firstPauseMs * (taken + 1)) * (0.5 + Math.random()));
      }
    },
    async tryAcquire(key) {
      const taken = await take(keysOf(name, key), randomUUID(), false);
      return typeof taken === "number" ? undefined : taken;
    },
    close() {
      connection?.release();
      connection = undefined;
    },
  };
}

/** A lock since a moment. It is lengthened until it is released. */
function held(redis: RedisConnection, key: string, token: string, leaseMs: number, since: number): HeldLock {
  let endsAt = since + leaseMs;
  const renewing = setInterval(async () => {
    const askedAt = performance.now();
    const isMine = await redis.runScript(keepLock, [key], [token, `${leaseMs}`], replyMs).catch(() => undefined);
    if (isMine === 1) endsAt = askedAt + leaseMs;
    else if (isMine === 0) endsAt = 0; // it had run out
  }, leaseMs / 4).unref();
  return {
    get isAwaited() {
      return performance.now() - since > turnMs; // perhaps: it is unknown, and others need their turn
    },
    // Clocks do not run alike, and the change that is made now takes a moment.
    isOver: () => performance.now() > endsAt - leaseMs / 4,
    release() {
      clearInterval(renewing);
      redis.runScript(keepLock, [key], [token, "0"], replyMs).catch(() => {}); // then it runs out
    },
  };
}

/** The keys of one lock. What they share stands in braces, so that a cluster keeps them in one place. */
function keysOf(name: string, key: string): readonly string[] {
  const place = `filement:lock:{${hash("sha256", `${name}\n${key}`, "base64url").slice(0, 22)}}`;
  return [place, `${place}:waiting`, `${place}:seen`];
}
