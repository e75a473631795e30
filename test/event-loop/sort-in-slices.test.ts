import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sortInSlices } from "../../src/event-loop/sort-in-slices.ts";
import { stepClock, turnsUntil } from "../helpers/counted-work.ts";
import { checks } from "../helpers/effort.ts";

describe("sortInSlices", () => {
  test("sorts as Array.sort does, equal items in the order they came", async () => {
    const item = fc.tuple(fc.nat(50), fc.nat());
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 3000, size: "max" }), async (items) => {
        const byKey = (a: readonly [number, number], b: readonly [number, number]) => a[0] - b[0];
        expect(await sortInSlices(items, byKey)).toEqual([...items].sort(byKey));
      }),
      checks({ seed: 6, numRuns: 30 }),
    );
  });

  test("leaves the given list as it is", async () => {
    const items = Object.freeze([3, 1, 2]);
    expect(await sortInSlices(items, (a, b) => a - b)).toEqual([1, 2, 3]);
    expect(items).toEqual([3, 1, 2]);
  });

  test("lets other work run meanwhile", async () => {
    const items = Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_000);
    stepClock();
    expect(await turnsUntil(sortInSlices(items, (a, b) => a - b))).toBeGreaterThan(500);
  });
});
