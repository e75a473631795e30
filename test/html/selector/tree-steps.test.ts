import { describe, expect, it } from "vitest";
import { EvaluationSteps } from "../../../src/html/selector/tree-steps.ts";

const tooCostly = expect.objectContaining({ code: "SELECTOR_TOO_COSTLY" });

/** Takes steps as work in slices does. */
function take(steps: EvaluationSteps, count: number): number {
  let slices = 1;
  for (let index = 0; index < count; index += 1) {
    steps.spend();
    if (steps.isSliceOver()) slices += 1;
  }
  return slices;
}

describe("EvaluationSteps", () => {
  it("allow just as many as were given", () => {
    const steps = new EvaluationSteps(20_000);
    take(steps, 20_000);
    expect(steps.taken).toBe(20_000);
    expect(() => steps.spend()).toThrow(tooCostly);
  });

  it("count what is kept in mind ten times", () => {
    const steps = new EvaluationSteps(1000);
    steps.keep();
    expect(steps.taken).toBe(10);
  });

  it("come in slices of 5000", () => {
    expect(take(new EvaluationSteps(1_000_000), 20_000)).toBe(5);
  });

  it("are not endless where nobody can interrupt them", () => {
    const steps = new EvaluationSteps(100_000_000);
    steps.spend(1_000_000);
    expect(() => steps.spend(1_000_000)).toThrow(tooCostly);
  });
});
