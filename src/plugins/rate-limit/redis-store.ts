import type { BucketStore } from "./bucket-store.ts";

/** The buckets of the Redis at a URL. Its code is loaded when it is first needed, for most servers have no Redis. */
export function redisStore(url: string): BucketStore {
  let loading: Promise<BucketStore> | undefined;
  const store = (): Promise<BucketStore> => {
    loading ??= import("../../redis/buckets.ts").then(({ redisBuckets }) => redisBuckets(url));
    return loading;
  };
  return {
    take: async (key, policy) => (await store()).take(key, policy),
    giveBack: async (key, policy) => (await store()).giveBack(key, policy),
    start: async (report) => (await store()).start?.(report),
    close: async () => (await store()).close?.(),
  };
}
