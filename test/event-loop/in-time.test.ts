import { describe, expect, it } from "vitest";
import { doneInTime, inTime } from "../../src/event-loop/in-time.ts";

describe("a time limit", () => {
  it("gives what the work gives", async () => {
    expect(await doneInTime(Promise.resolve(7), 60_000, "too late")).toBe(7);
  });

  it("fails as the work fails", async () => {
    await expect(doneInTime(Promise.reject(new Error("broken")), 60_000, "too late")).rejects.toThrow("broken");
  });

  it("fails with its own words when the work never ends", async () => {
    await expect(doneInTime(new Promise(() => {}), 1, "too late")).rejects.toThrow("too late");
  });

  it("gives what stands for work that never ends", async () => {
    expect(await inTime<string>(new Promise(() => {}), 1, () => "no answer")).toBe("no answer");
  });

  it("leaves no timer behind that would keep the process", async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    await doneInTime(Promise.resolve(), 60_000, "too late");
    expect(timers()).toBe(before);
  });
});
