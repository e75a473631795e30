import { setImmediate } from "node:timers/promises";

/** Long enough that starting anew costs nothing, short enough that nobody else's request feels it. */
const sliceMs = 5;

/** Measures how long one piece of work has held the event loop, and gives way to everyone else once that was enough. */
export class TimeSlice {
  #endsAt: number = performance.now() + sliceMs;

  get isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Lets everything run that waits for the event loop, then begins a new slice. */
  async renew(): Promise<void> {
    await setImmediate();
    this.#endsAt = performance.now() + sliceMs;
  }
}
