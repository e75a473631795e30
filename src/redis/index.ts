export { type RedisBucketsOptions, redisBuckets } from "./buckets.ts";
export { type RedisClient, RedisError, type RedisSource } from "./connection.ts";
export { type RedisFeedOptions, redisFeed } from "./feed.ts";
export { type RedisLocksOptions, redisLocks } from "./locks.ts";
