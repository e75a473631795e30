import { setImmediate } from "node:timers/promises";
import { onTestFinished, vi } from "vitest";

/** A million characters of what a test repeats: work that grows with the square of the length does not end. */
export function endless(piece: string): string {
  return piece.repeat(Math.ceil(1_000_000 / piece.length));
}

/** A clock on which time passes only by looking at it, or as a test says. */
export interface SteppedClock {
  /** How often somebody looked. */
  looks: number;
  pass(ms: number): void;
}

/** Has each look at `performance.now()` take a millisecond: what gives way does so after as many looks everywhere. */
export function stepClock(msOfLook = 1): SteppedClock {
  // A whole number, with which sums and differences are exact: with fractions they may not be.
  let now = Math.ceil(performance.now());
  const clock: SteppedClock = {
    looks: 0,
    pass(ms) {
      now += ms;
    },
  };
  const spy = vi.spyOn(performance, "now").mockImplementation(() => {
    clock.looks += 1;
    now += msOfLook;
    return now;
  });
  onTestFinished(() => spy.mockRestore());
  return clock;
}

/** How many turns the event loop takes until something is over. */
export async function turnsUntil(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => {}); // thrown below
  for (; !isOver; turns += 1) await setImmediate();
  await over;
  return turns;
}
