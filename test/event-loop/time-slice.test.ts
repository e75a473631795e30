import { describe, expect, it } from "vitest";
import { TimeSlice } from "../../src/event-loop/time-slice.ts";

function work(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

describe("TimeSlice", () => {
  it("is over after some milliseconds of work, and begins anew when renewed", async () => {
    const slice = new TimeSlice();
    work(20);
    expect(slice.isOver).toBe(true);
    await slice.renew();
    expect(slice.isOver).toBe(false);
  });

  it("lets others have their turn", async () => {
    const turns: string[] = [];
    setImmediate(() => turns.push("other"));
    await new TimeSlice().renew();
    expect(turns).toEqual(["other"]);
  });
});
