import { describe, expect, it } from "vitest";
import { EvaluationSteps } from "../../../src/html/selector/tree-steps.ts";

const tooCostly = expect.objectContaining({ code: "SELECTOR_TOO_COSTLY" });

describe("EvaluationSteps", () => {
  it("allow just as many as were given, in slices", () => {
    const steps = new EvaluationSteps(20_000);
    let slices = 1;
    for (let index = 0; index < 20_000; index += 1) {
      steps.spend();
      if (steps.isSliceOver()) slices += 1;
    }
    expect([steps.taken, slices]).toEqual([20_000, 5]);
    expect(() => steps.spend()).toThrow(tooCostly);
  });

  it("are not endless where nobody can interrupt them", () => {
    const steps = new EvaluationSteps(100_000_000);
    steps.spend(1_000_000);
    expect(() => steps.spend(1_000_000)).toThrow(tooCostly);
  });
});
