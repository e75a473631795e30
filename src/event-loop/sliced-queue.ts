import { type Client, FairQueue } from "./fair-queue.ts";
import { oneSlice, type SlicedWork } from "./sliced-work.ts";
import { TimeSlice } from "./time-slice.ts";

/** What is done within that is not worth a place in the queue. */
const atOnceMs = 1;

/**
 * Does the work of many clients side by side in slices of a few milliseconds: clients take turns, and all of them together
 * get at most half of the event loop while others need it.
 */
export class SlicedQueue {
  readonly #queue = new FairQueue();
  readonly #newSlice: () => TimeSlice;
  #rest: Promise<void> | undefined;

  constructor(newSlice: () => TimeSlice = () => new TimeSlice()) {
    this.#newSlice = newSlice;
  }

  /** The result of work: at once, without a promise, where it is done in a moment. */
  do<Value>(work: SlicedWork<Value>, client: Client): Value | Promise<Value> {
    const piece = oneSlice(work, new TimeSlice(atOnceMs));
    return piece.done ? piece.value : this.#doRest(work, client);
  }

  async #doRest<Value>(work: SlicedWork<Value>, client: Client): Promise<Value> {
    for (;;) {
      const piece = await this.#queue.run(client, async () => {
        await this.#rest;
        const slice = this.#newSlice();
        try {
          return oneSlice(work, slice);
        } finally {
          this.#rest = slice.rest();
        }
      });
      if (piece.done) return piece.value;
    }
  }
}
