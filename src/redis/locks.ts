import { hash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { ConfigError } from "../config.ts";
import type { HeldLock, SharedLocks } from "../storage/locks.ts";
import { StorageError } from "../storage/storage.ts";
import { RedisConnection, type RedisSource } from "./connection.ts";

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
const pauseMs = 20;
/** How long a server passes a lock on among its own requests before others have a chance. */
const turnMs = 50;

/** Lengthens a lock, or ends it (0), where it is still one's own. */
const keepLock = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return ARGV[2] == '0' and redis.call('DEL', KEYS[1]) or redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/**
 * Locks for `diskStorage(root, { locks })` where several machines change the files of one directory, such as one on
 * NFS. They are in a Redis, and have a time limit that a living server keeps putting off. A change is made only while
 * its lock holds and the file is what it was. While Redis is away, changes get 503; reads go on.
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
  const keyOf = (path: string): string =>
    `filement:lock:${hash("sha256", `${name}\n${path}`, "base64url").slice(0, 22)}`;
  const redis = (): RedisConnection => {
    connection ??= RedisConnection.to(source).hold();
    return connection;
  };

  async function take(key: string): Promise<HeldLock | undefined> {
    const token = randomUUID();
    const askedAt = performance.now(); // the time limit begins after it
    try {
      const taken = await redis().run(["SET", key, token, "NX", "PX", `${leaseMs}`], replyMs);
      return taken === null ? undefined : held(redis(), key, token, leaseMs, askedAt);
    } catch (error) {
      throw new StorageError("unavailable", error);
    }
  }

  return {
    async acquire(path, since = performance.now()) {
      const key = keyOf(path);
      for (;;) {
        const taken = await take(key);
        if (taken) return taken;
        if (performance.now() - since > maxWaitMs)
          throw new StorageError("busy", new Error("another server holds the lock"));
        await pause(2 * pauseMs * Math.random());
      }
    },
    tryAcquire: (path) => take(keyOf(path)),
    async close() {
      const closing = connection;
      connection = undefined;
      await closing?.reach().catch(() => {}); // Redis answers in order: locks are released by then
      closing?.release();
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
