import { setImmediate as settled } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type HealthCheck, watchedCheck } from "../../../src/plugins/health-check/watched-check.ts";
import { deferred } from "../../helpers/deferred.ts";

let now = 0;

beforeEach(() => {
  now = 0;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.spyOn(performance, "now").mockImplementation(() => now);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A check under watch, how often it was run, and what was told of it. */
function watch(check: HealthCheck) {
  const changes: (string | undefined)[] = [];
  const counted = vi.fn(check);
  const passes = watchedCheck(counted, {
    timeoutMs: 5000,
    cacheMs: 1000,
    onChange: (reason) => changes.push(reason?.message),
  });
  return { passes, changes, runs: () => counted.mock.calls.length };
}

/** A check that passes when it is told to, and the signals that it was given. */
function pending(): { check: HealthCheck; signals: AbortSignal[]; pass: () => void } {
  let running = deferred<boolean>();
  const signals: AbortSignal[] = [];
  const check: HealthCheck = (signal) => {
    signals.push(signal);
    running = deferred();
    return running.promise;
  };
  return { check, signals, pass: () => running.resolve(true) };
}

describe("a watched check", () => {
  const checks: readonly (readonly [what: string, check: HealthCheck, passes: boolean])[] = [
    ["returns true", () => true, true],
    ["resolves to nothing", async () => {}, true],
    ["returns false", () => false, false],
    ["resolves to false", async () => false, false],
    [
      "throws",
      () => {
        throw new Error("no");
      },
      false,
    ],
    ["rejects", () => Promise.reject(new Error("no")), false],
  ];

  it.each(checks)("that %s", async (_what, check, passes) => {
    expect(await watch(check).passes()).toBe(passes);
  });

  it.each([true, false])("is run again only when its answer has become old: %s", async (result) => {
    const { passes, runs } = watch(() => result);
    await passes();
    now = 999;
    expect(await passes()).toBe(result);
    expect(runs()).toBe(1);
    now = 1000;
    expect(await passes()).toBe(result);
    expect(runs()).toBe(2);
  });

  it("fails at the time limit, and has its signal aborted then", async () => {
    const { check, signals } = pending();
    const { passes, changes } = watch(check);
    const answer = passes();
    await settled();
    vi.advanceTimersByTime(4999);
    expect(signals[0]?.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await answer).toBe(false);
    expect(signals[0]?.aborted).toBe(true);
    expect(changes).toEqual(["the check took longer than 5000 ms"]);
  });

  it("that has hung is not begun again before it is over", async () => {
    const { check, pass } = pending();
    const { passes, runs } = watch(check);
    const answer = passes();
    await settled();
    vi.advanceTimersByTime(5000);
    await answer;
    now = 60_000;
    expect(await passes()).toBe(false);
    expect(runs()).toBe(1);

    pass(); // an answer that comes too late is still late
    await settled();
    now = 60_999;
    expect(await passes()).toBe(false);
    now = 61_000;
    const next = passes();
    await settled();
    expect(runs()).toBe(2);
    pass();
    expect(await next).toBe(true);
  });

  it("is told of when it begins to fail and when it passes again, not each time", async () => {
    const results = [true, false, false, true, true, false];
    const { passes, changes } = watch(() => results.shift() ?? true);
    for (let i = 0; i < 6; i++) {
      await passes();
      now += 1000;
    }
    expect(changes).toEqual(["the check returned false", undefined, "the check returned false"]);
  });
});
