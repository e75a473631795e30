import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { MemoryBuckets } from "../../../src/plugins/rate-limit/memory-buckets.ts";
import { TokenBucket } from "../../../src/plugins/rate-limit/token-bucket.ts";
import { checks, timesOf } from "../../helpers/effort.ts";

const policy = { requestsPerSecond: 1, burstCapacity: 3 };
const rules = new TokenBucket(policy);

/** Buckets whose time the test sets. */
function bucketsOf(init: { maxClients?: number; cleanupInterval?: number } = {}) {
  const clock = { ms: 0 };
  const buckets = new MemoryBuckets({
    policy,
    maxClients: 100_000,
    cleanupInterval: 300,
    now: () => clock.ms,
    ...init,
  });
  onTestFinished(() => buckets.close());
  const take = (key: number, ms = clock.ms) => {
    clock.ms = ms;
    return buckets.take(String(key));
  };
  return { buckets, clock, take };
}

/** The same by a `Map`, whose order is that of use. */
class ModelBuckets {
  readonly buckets = new Map<string, number>();
  readonly maxClients: number;

  constructor(maxClients: number) {
    this.maxClients = maxClients;
  }

  take(key: string, ms: number) {
    const now = rules.moment(ms);
    const before = this.buckets.get(key);
    if (before === undefined && this.buckets.size >= this.maxClients) {
      for (const oldest of [...this.buckets.keys()].slice(0, 1)) this.buckets.delete(oldest);
    }
    this.buckets.delete(key);
    const fullAt = before ?? now;
    const allowed = rules.hasToken(fullAt, now);
    const after = allowed ? rules.take(fullAt, now) : fullAt;
    this.buckets.set(key, after);
    return rules.decision(allowed, after, now);
  }

  giveBack(key: string): void {
    const fullAt = this.buckets.get(key);
    if (fullAt !== undefined) this.buckets.set(key, fullAt - 1);
  }

  cleanUp(ms: number): void {
    for (const [key, fullAt] of this.buckets) if (fullAt <= rules.moment(ms)) this.buckets.delete(key);
  }
}

type Step =
  | { readonly kind: "take" | "giveBack"; readonly key: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "cleanUp" };

const stepsWith = (keys: number): fc.Arbitrary<Step[]> => {
  const key = fc.nat(keys - 1);
  const step = fc.oneof(
    { weight: 30, arbitrary: fc.record({ kind: fc.constant("take" as const), key }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("giveBack" as const), key }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(700) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("cleanUp" as const) }) },
  );
  return fc.array(step, { maxLength: 600, size: "max" });
};

describe("buckets in memory", () => {
  it.each([
    [1000, 60],
    [40, 60],
    [7, 30],
    [1, 4],
  ])("of at most %i do what a Map would, for %i keys", async (maxClients, keys) => {
    let evictions = 0;
    let drops = 0;
    await fc.assert(
      fc.asyncProperty(stepsWith(keys), async (steps) => {
        const { buckets, clock } = bucketsOf({ maxClients });
        const model = new ModelBuckets(maxClients);
        const answers: unknown[] = [];
        const expected: unknown[] = [];
        for (const step of steps) {
          if (step.kind === "wait") clock.ms += step.ms;
          else if (step.kind === "cleanUp") {
            drops += buckets.size;
            await buckets.cleanUp();
            model.cleanUp(clock.ms);
            drops -= buckets.size;
          } else {
            const key = String(step.key);
            if (!model.buckets.has(key) && buckets.size === maxClients) evictions += 1;
            if (step.kind === "giveBack") {
              buckets.giveBack(key);
              model.giveBack(key);
            } else {
              answers.push(buckets.take(key));
              expected.push(model.take(key, clock.ms));
            }
          }
          answers.push(buckets.size);
          expected.push(model.buckets.size);
        }
        expect(answers).toEqual(expected);
        // Every bucket is where it should be, and as full as it should be.
        for (const key of [...model.buckets.keys()]) expect(buckets.take(key)).toEqual(model.take(key, clock.ms));
        expect(buckets.size).toBe(model.buckets.size);
      }),
      checks({ seed: 4, numRuns: 25, inCampaign: 240 }),
    );
    expect(drops).toBeGreaterThan(0);
    expect(evictions > 0).toBe(maxClients < keys);
  });

  it("count clients apart whose keys differ in the last character, in zeros at the end, or in length only", () => {
    const { buckets } = bucketsOf();
    const keys = ["", "\0", "\0\0", "a", "b", "a\0", "ab", "abc", "abd", "é", "é\0", "\ud83d\ude00", "x".repeat(128)];
    for (const key of keys) expect(buckets.take(key).remaining).toBe(2);
    expect(buckets.size).toBe(keys.length);
  });

  it("are all found again after growing over many pages, and after shrinking", async () => {
    const { buckets, clock, take } = bucketsOf();
    const keys = 30_000;
    for (let key = 0; key < keys; key += 1) take(key, 0);
    for (let key = 0; key < keys; key += 3) take(key, 500); // these are full at 2000, the others at 1000
    expect(buckets.size).toBe(keys);
    const grown = buckets.byteLength;

    clock.ms = 1000;
    await buckets.cleanUp();
    expect(buckets.size).toBe(keys / 3);
    expect(buckets.byteLength).toBeLessThan(grown - 500_000);
    for (let key = 0; key < keys; key += 3) expect(take(key).remaining).toBe(1);
    expect(buckets.size).toBe(keys / 3);

    clock.ms = 10_000;
    await buckets.cleanUp();
    expect(buckets.size).toBe(0);
    expect(take(0).remaining).toBe(2);
  });

  it("forget the one that has been idle for the longest time, not the one that came first", () => {
    const { buckets, take } = bucketsOf({ maxClients: 3 });
    for (const key of [1, 2, 3, 1]) take(key);
    take(4); // in place of 2
    expect(take(1).remaining).toBe(0);
    expect(take(3).remaining).toBe(1);
    expect(take(2).remaining).toBe(2); // in place of 4
    expect(buckets.size).toBe(3);
  });

  it("take less than 64 bytes for each of many clients, and are not one more than they may", () => {
    const clients = timesOf(30_000, 1_000_000);
    const { buckets, take } = bucketsOf({ maxClients: clients });
    for (let key = 0; key < clients + 50_000; key += 1) take(key);
    expect(buckets.size).toBe(clients);
    expect(buckets.byteLength / clients).toBeLessThan(48);
    expect(take(clients + 49_999).remaining).toBe(1); // was here a moment ago
    expect(take(50_000).remaining).toBe(1); // the oldest that must still be here
    expect(take(49_999).remaining).toBe(2); // the youngest that must be gone
  });
});

describe("a cleanup", () => {
  it("misses no bucket while others come, go and are evicted between its parts", async () => {
    const { buckets, clock, take } = bucketsOf({ maxClients: 20_000 });
    for (let key = 0; key < 20_000; key += 1) take(key);
    clock.ms = 10_000;
    let coming = 20_000;
    let isOver = false;
    const cleanup = buckets.cleanUp().then(() => {
      isOver = true;
    });
    for (; !isOver; coming += 1) {
      expect(take(coming)).toMatchObject({ allowed: true, remaining: 2 });
      await turn();
    }
    await cleanup;
    const late = coming - 20_000;
    expect(late).toBeGreaterThan(10);
    expect(buckets.size).toBe(late);
    for (let key = 20_000; key < coming; key += 1) expect(take(key).remaining).toBe(1);
  });

  it("is one at a time", async () => {
    const { buckets, clock, take } = bucketsOf();
    for (let key = 0; key < 2000; key += 1) take(key);
    clock.ms += 10_000;
    const first = buckets.cleanUp();
    expect(buckets.cleanUp()).toBe(first);
    await first;
    expect(buckets.size).toBe(0);
    expect(buckets.cleanUp()).not.toBe(first);
  });

  it("stops in the middle once the server closes", async () => {
    const { buckets, clock, take } = bucketsOf();
    for (let key = 0; key < 20_000; key += 1) take(key);
    clock.ms += 10_000;
    const cleanup = buckets.cleanUp();
    buckets.close();
    const { size } = buckets;
    await cleanup;
    expect(buckets.size).toBe(size);
    expect(size).toBeGreaterThan(10_000);
  });

  it("begins every cleanupInterval, by one timer for all hosts, which does not keep the process alive", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const { buckets, clock, take } = bucketsOf({ cleanupInterval: 60 });
    // By hand: a spy on the fake one is put back later, for all tests that follow in this process.
    const { setInterval } = globalThis;
    const started: NodeJS.Timeout[] = [];
    globalThis.setInterval = ((...values: Parameters<typeof setInterval>) => {
      const timer = setInterval(...values);
      started.push(timer);
      return timer;
    }) as typeof setInterval;
    buckets.start();
    buckets.start();
    globalThis.setInterval = setInterval;
    expect(vi.getTimerCount()).toBe(1);
    expect(started.map((timer) => timer.hasRef())).toEqual([false]);

    take(1);
    clock.ms += 60_000;
    vi.advanceTimersByTime(59_999);
    expect(buckets.size).toBe(1);
    vi.advanceTimersByTime(1);
    expect(buckets.size).toBe(0);

    buckets.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
