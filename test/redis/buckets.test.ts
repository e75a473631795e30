import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFileServer, type FileServerConfig, memoryStorage, rateLimit } from "../../src/index.ts";
import { MemoryBuckets } from "../../src/plugins/rate-limit/memory-buckets.ts";
import { bucketsAt, redisBuckets } from "../../src/redis/buckets.ts";
import { cableTo } from "../helpers/cable.ts";
import { checks } from "../helpers/effort.ts";
import { redisServer } from "./redis-server.ts";

/** Seconds: nothing but a Redis that is away ends the waiting, however busy the machine is. */
const patient = { timeout: 100 };
const policy = { requestsPerSecond: 2, burstCapacity: 3 };

function serverWith(config: FileServerConfig) {
  const files = createFileServer({ storage: memoryStorage({ "/a.txt": "a" }), ...config });
  onTestFinished(() => files.close());
  return files;
}

describe("buckets in Redis", { tags: ["redis-server"] }, () => {
  it("decide as those in memory do, for any order of requests and of tokens given back", async () => {
    const { url } = await redisServer();
    const clock = { ms: 1_700_000_000_000 };
    const store = bucketsAt(url, patient, () => clock.ms);
    onTestFinished(() => store.close?.());
    const rates = fc.oneof(
      fc.integer({ min: 1, max: 400 }).map((quarters) => quarters / 4),
      fc.constantFrom(0.3, 9.99),
    );
    const step = fc.record({
      wait: fc.oneof(fc.constant(0), fc.nat(30), fc.nat(5000)),
      key: fc.constantFrom("ip:a", "ip:b", "user:Zoë"),
      isGivenBack: fc.integer({ max: 5, min: 0 }).map((die) => die === 0),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        rates,
        fc.integer({ min: 1, max: 12 }),
        fc.array(step, { maxLength: 40 }),
        async (rate, capacity, steps) => {
          round += 1;
          const mine = { requestsPerSecond: rate, burstCapacity: capacity };
          let ms = 0;
          const memory = new MemoryBuckets({ policy: mine, maxClients: 10, cleanupInterval: 300, now: () => ms });
          for (const { wait, key: client, isGivenBack } of steps) {
            const key = `${round} ${client}`;
            ms += wait;
            clock.ms += wait;
            if (isGivenBack) {
              memory.giveBack(key);
              await store.giveBack(key, mine);
              continue;
            }
            const { msUntilFull, msUntilToken, ...rest } = memory.take(key);
            expect(await store.take(key, mine)).toEqual({
              ...rest,
              msUntilFull: expect.closeTo(msUntilFull, 1),
              msUntilToken: expect.closeTo(msUntilToken, 1),
            });
          }
        },
      ),
      checks({ seed: 14, numRuns: 25, inCampaign: 400 }),
    );
  });

  it("take the time from Redis, cost one round trip, and are gone when they would be full", async () => {
    const redis = await redisServer();
    const store = redisBuckets(redis.url, patient);
    onTestFinished(() => store.close?.());
    const slow = { ...policy, requestsPerSecond: 0.001 };
    await store.take("ip:a", slow);
    const before = await commandsOf(redis);
    await store.take("ip:a", slow);
    expect((await commandsOf(redis)) - before).toBe(1);
    const [, key = ""] = /(filement:bucket:\S+)/.exec(await redis.ask("KEYS", "*")) ?? [];
    expect(Number((await redis.ask("PTTL", key)).slice(1))).toBeGreaterThan(1_000_000);
    expect(Number((await redis.ask("PTTL", key)).slice(1))).toBeLessThanOrEqual(2_000_001);
    expect(key).not.toMatch(/ip|a$/);
    await store.giveBack("ip:a", slow);
    await store.giveBack("ip:a", slow);
    expect(await redis.ask("DBSIZE")).toBe(":0\r\n");
  });

  it("are shared by several servers to within one token", async () => {
    const { url } = await redisServer();
    const limited = { requestsPerSecond: 0.001, burstCapacity: 50 };
    const limit = () => rateLimit({ ...limited, store: redisBuckets(url, patient) });
    const servers = Array.from({ length: 4 }, () => serverWith({ plugins: [limit()] }));
    const replies = await Promise.all(
      servers.flatMap((files) => Array.from({ length: 25 }, () => files.fetch("/a.txt").then(({ status }) => status))),
    );
    const passed = replies.filter((status) => status === 200).length;
    expect(Math.abs(passed - 50)).toBeLessThanOrEqual(1);
    expect(replies.filter((status) => status === 429)).toHaveLength(100 - passed);
  });

  it("let requests pass while Redis is away, tell onError, and count again when it is back", async () => {
    const redis = await redisServer();
    const onError = vi.fn();
    const store = redisBuckets(redis.url, patient);
    const plugins = [rateLimit({ requestsPerSecond: 0.001, burstCapacity: 1, store })];
    const files = serverWith({ plugins, onError });
    const ask = async (): Promise<number> => (await files.fetch("/a.txt")).status;
    expect([await ask(), await ask()]).toEqual([200, 429]);
    await redis.kill();
    expect([await ask(), await ask()]).toEqual([200, 200]);
    expect(String(onError.mock.lastCall?.[0])).toMatch(/^RedisError: redis:/);
    await redis.start();
    await expect.poll(ask).toBe(429);
  });

  it("hold requests up while Redis is slow, and let them pass where it is too slow, until it answers in time again", async () => {
    const cable = await cableTo((await redisServer()).url);
    const onError = vi.fn();
    const asking = (timeout: number): (() => Promise<number>) => {
      const store = redisBuckets(cable.url, { timeout });
      const files = serverWith({
        plugins: [rateLimit({ requestsPerSecond: 0.001, burstCapacity: 2, store })],
        onError,
      });
      return async () => (await files.fetch("/a.txt")).status;
    };
    const [ask, askHastily] = [asking(patient.timeout), asking(0.2)];
    cable.delay(40); // each way
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]); // it is waited for
    expect(onError).not.toHaveBeenCalled();
    cable.delay(400);
    expect([await askHastily(), await askHastily()]).toEqual([200, 200]);
    expect(String(onError.mock.lastCall?.[0])).toMatch(/^RedisError: redis:.* has not answered for 200 ms/);
    cable.delay(0);
    await expect.poll(askHastily).toBe(429);
  });

  it("take no time limit that is none", () => {
    expect(() => redisBuckets("redis://127.0.0.1", { timeout: 0 })).toThrow("timeout is 0: expected seconds");
  });

  it("do not keep a server from starting while Redis is away, and are reported", async () => {
    const redis = await redisServer();
    await redis.kill();
    const onError = vi.fn();
    const files = serverWith({ plugins: [rateLimit({ store: redis.url })], onError });
    await files.ready();
    expect(String(onError.mock.lastCall?.[0])).toMatch(/^RedisError: redis:.* cannot be asked/);
    expect((await files.fetch("/a.txt")).status).toBe(200);
  });
});

async function commandsOf(redis: { ask(...command: string[]): Promise<string> }): Promise<number> {
  const [, calls = 0] = /cmdstat_eval:calls=(\d+)/.exec(await redis.ask("INFO", "commandstats")) ?? [];
  return Number(calls);
}
