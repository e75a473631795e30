import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { onTestFinished, vi } from "vitest";

const { setTimeout, setInterval } = globalThis;
const pause = timers.setTimeout;
const now = performance.now.bind(performance);

/**
 * Has the clock of this process run ten times as fast until the test is over: timers, and `performance.now()` with them, so
 * that what the product waits for comes sooner. It suits tests in which that is what has to happen. Where something else
 * has to happen before, a busy machine could be too slow for it; such a test holds the timers, with `vi.useFakeTimers`.
 * Other processes and `Date` keep their time. What was called last holds.
 */
export function fastClock(factor = 10): void {
  const start = now();
  const sooner = (set: SetTimer): SetTimer => {
    return (task, ms = 0, ...values) => set(task, ms / factor, ...values);
  };
  const spies = [
    vi.spyOn(globalThis, "setTimeout").mockImplementation(sooner(setTimeout) as typeof setTimeout),
    vi.spyOn(globalThis, "setInterval").mockImplementation(sooner(setInterval) as typeof setInterval),
    vi.spyOn(timers, "setTimeout").mockImplementation((ms = 0, ...others) => pause(ms / factor, ...others)),
    vi.spyOn(performance, "now").mockImplementation(() => start + factor * (now() - start)),
  ];
  syncBuiltinESMExports(); // for those who import one timer by its name
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
}

type SetTimer = (task: (...values: unknown[]) => void, ms?: number, ...values: unknown[]) => NodeJS.Timeout;
