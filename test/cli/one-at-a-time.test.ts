import { describe, expect, it } from "vitest";
import { oneAtATime } from "../../src/cli/one-at-a-time.ts";

/** A task whose runs end when they are told to. */
function task(): { run: () => Promise<void>; runs: Array<{ end: () => void; fail: () => void }> } {
  const runs: Array<{ end: () => void; fail: () => void }> = [];
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => runs.push({ end: resolve, fail: () => reject(new Error("failed")) }));
  return { run, runs };
}

describe("one at a time", () => {
  it("runs the task at once when nothing is running", async () => {
    const { run, runs } = task();
    const done = oneAtATime(run)();
    expect(runs.length).toBe(1);
    runs[0]?.end();
    await done;
  });

  it("makes one more run of all that is asked for meanwhile", async () => {
    const { run, runs } = task();
    const ask = oneAtATime(run);
    const first = ask();
    const others = [ask(), ask(), ask()];
    expect(runs.length).toBe(1);
    runs[0]?.end();
    await first;
    await Promise.resolve();
    expect(runs.length).toBe(2);
    runs[1]?.end();
    await Promise.all(others);
    expect(runs.length).toBe(2);
  });

  it("asks again for what comes during that run, too", async () => {
    const { run, runs } = task();
    const ask = oneAtATime(run);
    const first = ask();
    const second = ask();
    runs[0]?.end();
    await first;
    await Promise.resolve();
    const third = ask();
    runs[1]?.end();
    await second;
    await Promise.resolve();
    expect(runs.length).toBe(3);
    runs[2]?.end();
    await third;
  });

  it("tells a failure to whoever asked for that run, and goes on", async () => {
    const { run, runs } = task();
    const ask = oneAtATime(run);
    const first = ask();
    const second = ask();
    runs[0]?.fail();
    await expect(first).rejects.toThrow("failed");
    runs[1]?.end();
    await second;
  });
});
