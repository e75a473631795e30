import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { MemoryBuckets } from "../../../src/plugins/rate-limit/memory-buckets.ts";

const policy = { name: "test", requestsPerSecond: 1, burstCapacity: 2 };

/** Buckets whose time the test sets. */
function bucketsOf(init: { maxClients?: number; cleanupInterval?: number } = {}) {
  const clock = { ms: 5000 };
  const buckets = new MemoryBuckets({
    policy,
    maxClients: 100_000,
    cleanupInterval: 300,
    now: () => clock.ms,
    ...init,
  });
  onTestFinished(() => buckets.close());
  return { buckets, clock };
}

function fill(buckets: MemoryBuckets, clients: number): void {
  for (let client = 0; client < clients; client += 1) buckets.take(`ip:${client}`);
}

describe("buckets in memory", () => {
  it("are dropped in a cleanup where they would be full, and only those", async () => {
    const { buckets, clock } = bucketsOf();
    fill(buckets, 3000);
    clock.ms += 999;
    buckets.take("late");
    await buckets.cleanUp();
    expect(buckets.size).toBe(3001);
    clock.ms += 1;
    await buckets.cleanUp();
    expect(buckets.size).toBe(1);
    expect(buckets.take("late").remaining).toBe(0);
  });

  it("answer others between the parts of a cleanup, and are right about what comes meanwhile", async () => {
    const { buckets, clock } = bucketsOf();
    fill(buckets, 20_000);
    clock.ms += 10_000;
    let turns = 0;
    let isOver = false;
    const cleanup = buckets.cleanUp().then(() => {
      isOver = true;
    });
    for (; !isOver; turns += 1) {
      expect(buckets.take(`new:${turns}`)).toMatchObject({ allowed: true, remaining: 1 });
      await turn();
    }
    await cleanup;
    expect(turns).toBeGreaterThan(20);
    expect(buckets.size).toBe(turns);
    for (let n = 0; n < turns; n += 1) expect(buckets.take(`new:${n}`).remaining).toBe(0);
  });

  it("are cleaned up once at a time", async () => {
    const { buckets, clock } = bucketsOf();
    fill(buckets, 2000);
    clock.ms += 10_000;
    const first = buckets.cleanUp();
    expect(buckets.cleanUp()).toBe(first);
    await first;
    expect(buckets.size).toBe(0);
    expect(buckets.cleanUp()).not.toBe(first);
  });

  it("are left alone once they are closed, also in the middle of a cleanup", async () => {
    const { buckets, clock } = bucketsOf();
    fill(buckets, 20_000);
    clock.ms += 10_000;
    const cleanup = buckets.cleanUp();
    buckets.close();
    const { size } = buckets;
    await cleanup;
    expect(buckets.size).toBe(size);
    expect(size).toBeGreaterThan(10_000);
  });
});

describe("the timer of the cleanup", () => {
  it("is one for all hosts, goes off every cleanupInterval, and stops with the server", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const { buckets, clock } = bucketsOf({ cleanupInterval: 60 });
    expect(vi.getTimerCount()).toBe(0);
    buckets.start();
    buckets.start();
    expect(vi.getTimerCount()).toBe(1);

    fill(buckets, 10);
    clock.ms += 60_000;
    vi.advanceTimersByTime(59_999);
    expect(buckets.size).toBe(10);
    vi.advanceTimersByTime(1);
    expect(buckets.size).toBe(0);
    await buckets.cleanUp(); // the one that the timer began
    fill(buckets, 10);
    clock.ms += 60_000;
    vi.advanceTimersByTime(60_000);
    expect(buckets.size).toBe(0);

    buckets.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not keep the process alive", () => {
    const { buckets } = bucketsOf();
    const started = vi.spyOn(globalThis, "setInterval");
    onTestFinished(() => started.mockRestore());
    buckets.start();
    expect(started).toHaveBeenCalledTimes(1);
    expect(started.mock.results[0]?.value.hasRef()).toBe(false);
  });
});
