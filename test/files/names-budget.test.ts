import { describe, expect, test } from "vitest";
import { NamesBudget } from "../../src/files/names-budget.ts";

const tooMany = expect.objectContaining({ status: 503, code: "OVERLOADED", headers: { "retry-after": "1" } });

describe("NamesBudget", () => {
  test("counts every listing as 1,000 names, even an empty one", () => {
    const budget = new NamesBudget(3_000);
    const held = [budget.open(), budget.open(), budget.open()];
    expect(() => budget.open()).toThrow(tooMany);
    held[0]?.release();
    expect(() => budget.open()).not.toThrow();
  });

  test("refuses names beyond what all together may hold", () => {
    const budget = new NamesBudget(10_000);
    const [one, other] = [budget.open(), budget.open()];
    one.hold(6_000);
    other.hold(4_000);
    expect(() => other.hold(4_001)).toThrow(tooMany);
    expect(() => one.hold(6_000)).not.toThrow();
    one.release();
    expect(() => other.hold(10_000)).not.toThrow();
  });

  test("lets one that is alone have as many as it takes", () => {
    const budget = new NamesBudget(1);
    const alone = budget.open();
    expect(() => alone.hold(100_000)).not.toThrow();
    expect(() => budget.open()).toThrow(tooMany);
    alone.release();
    expect(() => budget.open()).not.toThrow();
  });
});
