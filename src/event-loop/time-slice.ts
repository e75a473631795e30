import { performance } from "node:perf_hooks";
import { setImmediate, setTimeout } from "node:timers/promises";

/** Long enough that starting anew costs nothing, short enough that nobody else's request feels it. */
const sliceMs = 5;
/** With less work than that in a millisecond, the event loop is idle. */
const idleMs = 0.3;

/** Measures how long one piece of work has held the event loop, and gives way to everyone else once that was enough. */
export class TimeSlice {
  #startedAt: number = performance.now();
  readonly #ms: number;

  constructor(ms: number = sliceMs) {
    this.#ms = ms;
  }

  get isOver(): boolean {
    return performance.now() - this.#startedAt >= this.#ms;
  }

  /** Lets everything run that waits for the event loop, then begins a new slice. */
  async renew(): Promise<void> {
    await setImmediate();
    this.#startedAt = performance.now();
  }

  /** Leaves the event loop to others for as long as this slice has lasted, or until they have no use for it. */
  async rest(): Promise<void> {
    const now = performance.now();
    const end = now + (now - this.#startedAt);
    for (;;) {
      const before = performance.eventLoopUtilization();
      await setTimeout(1);
      if (performance.now() >= end || performance.eventLoopUtilization(before).active < idleMs) return;
    }
  }
}
