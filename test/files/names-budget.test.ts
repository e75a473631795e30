import { describe, expect, test } from "vitest";
import { type HoldNames, namesBudget, type OpenListing } from "../../src/files/names-budget.ts";

let clients = 0;

/** The account of a listing, of a client of its own, that ends when it is told to. */
function opened(open: OpenListing, address = `10.0.0.${++clients}`): { hold: HoldNames; release: () => void } {
  const ends: (() => void)[] = [];
  const hold = open({ address, defer: (end) => void ends.push(end) });
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
    const [one, other, third] = [opened(budget), opened(budget), opened(budget)];
    one.hold(5_000);
    other.hold(4_000);
    expect(() => third.hold(1_001)).toThrow(tooMany);
    expect(() => one.hold(5_000)).not.toThrow();
    one.release();
    expect(() => other.hold(5_000)).not.toThrow();
  });

  test("leaves half of all to other addresses", () => {
    const budget = namesBudget(10_000);
    opened(budget, "10.1.0.1").hold(5_000);
    expect(() => opened(budget, "10.1.0.1")).toThrow(tooMany);
    expect(() => opened(budget, "10.1.0.2").hold(5_000)).not.toThrow();
  });

  test("lets one listing have more than half", () => {
    const budget = namesBudget(10_000);
    const long = opened(budget);
    expect(() => long.hold(100_000)).not.toThrow();
    expect(() => opened(budget).hold(5_000)).not.toThrow();
    expect(() => opened(budget)).toThrow(tooMany);
  });

  test("is enough for as many as it is enough for, of more listings that grow side by side", () => {
    const budget = namesBudget(10_000);
    const growing = new Set(Array.from({ length: 10 }, () => opened(budget)));
    for (let count = 1_000; count <= 5_000; count += 1_000) {
      for (const listing of growing) {
        try {
          listing.hold(count);
        } catch {
          growing.delete(listing);
        }
      }
    }
    expect(growing.size).toBe(2);
  });
});
