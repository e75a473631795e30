import { expect, test } from "vitest";
import { steadyClock } from "../../../src/plugins/rate-limit/steady-clock.ts";

function clockOf(...readings: readonly number[]): number[] {
  const rest = [...readings];
  const clock = steadyClock(() => rest.shift() ?? Number.NaN);
  return readings.slice(1).map(clock);
}

test("begins at 0 and counts what passes", () => {
  expect(clockOf(5000, 5000, 5001, 5250.5)).toEqual([0, 1, 250.5]);
});

test("stands still where the clock below jumps back, and goes on from there", () => {
  expect(clockOf(1000, 1600, 200, 200, 300, 1000)).toEqual([600, 600, 600, 700, 1400]);
});

test("follows a jump forward, and a jump back from there", () => {
  expect(clockOf(0, 1e12, 10, 25)).toEqual([1e12, 1e12, 1e12 + 15]);
});

test("keeps parts of a millisecond after a year", () => {
  const year = 365.25 * 86_400_000;
  const [first = 0, second = 0] = clockOf(0, year, year + 0.01);
  expect(second - first).toBeCloseTo(0.01, 4);
});
