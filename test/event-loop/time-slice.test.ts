import { describe, expect, it } from "vitest";
import { TimeSlice } from "../../src/event-loop/time-slice.ts";
import { stepClock } from "../helpers/counted-work.ts";

describe("TimeSlice", () => {
  it("is over after some milliseconds of work, and begins anew when renewed", async () => {
    const clock = stepClock(0);
    const slice = new TimeSlice();
    clock.pass(4);
    expect(slice.isOver).toBe(false);
    clock.pass(1);
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

  it("rests until its time has passed again, or nobody needs the event loop", async () => {
    const clock = stepClock(0);
    const slice = new TimeSlice();
    clock.pass(20);
    let turns = 0;
    let isResting = true;
    const busy = (): void => {
      turns += 1;
      clock.pass(1);
      if (isResting) setImmediate(busy);
    };
    setImmediate(busy);
    await slice.rest();
    isResting = false;
    expect(turns).toBeGreaterThan(1);
    await new TimeSlice().rest();
  });
});
