import { performance } from "node:perf_hooks";
import { DocumentError } from "../document-error.ts";

/** How much work is done between two looks at the clock: well below a millisecond of it. */
const stepsBetweenLooks = 1000;

/**
 * Stops the evaluation of a selector that takes too long: it runs on the event loop, where everyone else waits for it.
 * What walks over the tree says how many steps it takes.
 */
export class EvaluationClock {
  readonly #maxMs: number;
  readonly #end: number;
  #steps = 0;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
    this.#end = performance.now() + maxMs;
  }

  /** Throws `SELECTOR_TOO_COSTLY` when the time is over. Without `Retry-After`: it costs the same the next time. */
  spend(steps: number = 1): void {
    this.#steps += steps;
    if (this.#steps < stepsBetweenLooks) return;
    this.#steps = 0;
    if (performance.now() < this.#end) return;
    const details = `The selector takes longer than ${this.#maxMs} ms on this document; make it simpler, or begin it with an id.`;
    throw new DocumentError("SELECTOR_TOO_COSTLY", details);
  }
}
