import { describe, expect, it } from "vitest";
import { EvaluationClock } from "../../../src/html/selector/evaluation-clock.ts";

function spendFor(clock: EvaluationClock, ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end) clock.spend();
}

describe("EvaluationClock", () => {
  it("lets work go on within the time", () => {
    expect(() => spendFor(new EvaluationClock(60_000), 5)).not.toThrow();
  });

  it("stops work with 503 when the time is over", () => {
    const error = expect.objectContaining({ code: "SELECTOR_TOO_COSTLY" });
    expect(() => spendFor(new EvaluationClock(2), 1000)).toThrow(error);
  });

  it("looks at the clock at once after a large piece of work", () => {
    expect(() => new EvaluationClock(-1).spend(1_000_000)).toThrow("longer than");
  });
});
