import { describe, expect, test } from "vitest";
import { type HoldNames, NamesBudget } from "../../src/files/names-budget.ts";

/** The account of a listing that ends when it is told to. */
function opened(budget: NamesBudget): { hold: HoldNames; release: () => void } {
  let release = (): void => {};
  const defer = (end: () => void): void => {
    release = end;
  };
  const hold = budget.open({ defer });
  return { hold, release: () => release() };
}

const tooMany = expect.objectContaining({ status: 503, code: "OVERLOADED", headers: { "retry-after": "1" } });

describe("NamesBudget", () => {
  test("counts every listing as 1,000 names, even an empty one", () => {
    const budget = new NamesBudget(3_000);
    const held = [opened(budget), opened(budget), opened(budget)];
    expect(() => opened(budget)).toThrow(tooMany);
    held[0]?.release();
    expect(() => opened(budget)).not.toThrow();
  });

  test("refuses names beyond what all together may hold", () => {
    const budget = new NamesBudget(10_000);
    const [one, other] = [opened(budget), opened(budget)];
    one.hold(6_000);
    other.hold(4_000);
    expect(() => other.hold(4_001)).toThrow(tooMany);
    expect(() => one.hold(6_000)).not.toThrow();
    one.release();
    expect(() => other.hold(10_000)).not.toThrow();
  });

  test("lets one that is alone have as many as it takes", () => {
    const budget = new NamesBudget(1);
    const alone = opened(budget);
    expect(() => alone.hold(100_000)).not.toThrow();
    expect(() => opened(budget)).toThrow(tooMany);
    alone.release();
    expect(() => opened(budget)).not.toThrow();
  });
});
