import { describe, expect, test } from "vitest";
import { type HoldNames, namesBudget, type OpenListing } from "../../src/files/names-budget.ts";

/** The account of a listing that ends when it is told to. */
function opened(open: OpenListing): { hold: HoldNames; release: () => void } {
  const ends: (() => void)[] = [];
  const hold = open({ defer: (end) => void ends.push(end) });
  return { hold, release: () => ends[0]?.() };
}

const tooMany = expect.objectContaining({ status: 503, code: "OVERLOADED", headers: { "retry-after": "1" } });

describe("namesBudget", () => {
  test("counts every listing as 1,000 names, even an empty one", () => {
    const budget = namesBudget(3_000);
    const held = [opened(budget), opened(budget), opened(budget)];
    expect(() => opened(budget)).toThrow(tooMany);
    held[0]?.release();
    expect(() => opened(budget)).not.toThrow();
  });

  test("refuses names beyond what all together may hold", () => {
    const budget = namesBudget(10_000);
    const [one, other] = [opened(budget), opened(budget)];
    one.hold(6_000);
    other.hold(4_000);
    expect(() => other.hold(4_001)).toThrow(tooMany);
    expect(() => one.hold(6_000)).not.toThrow();
    one.release();
    expect(() => other.hold(10_000)).not.toThrow();
  });

  test("lets one that is alone have as many as it takes", () => {
    const budget = namesBudget(1);
    const alone = opened(budget);
    expect(() => alone.hold(100_000)).not.toThrow();
    expect(() => opened(budget)).toThrow(tooMany);
    alone.release();
    expect(() => opened(budget)).not.toThrow();
  });
});
