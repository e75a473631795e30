import { DocumentError } from "../document-error.ts";

/** A fraction of a millisecond of work. */
const stepsInSlice = 5000;
/** About 10 ms. Tests of one element cannot be interrupted; only documents that are made to be slow have such elements. */
const maxStepsAtOnce = 1_000_000;

/** What is known of an element until the end of the evaluation takes memory: some 80 bytes. */
const stepsToKeep = 10;

/**
 * Counts the work of an evaluation: nodes visited, characters compared (64 of them as one step, or 4), memory taken. The count depends on
 * selector and document only, so that a selector is too costly on every machine or on none.
 */
export class EvaluationSteps {
  readonly #max: number;
  #left: number;
  #sliceEnd: number;

  constructor(max: number) {
    this.#max = max;
    this.#left = max;
    this.#sliceEnd = max - stepsInSlice;
  }

  /** How many were taken so far. */
  get taken(): number {
    return this.#max - this.#left;
  }

  /** Takes steps. Throws `SELECTOR_TOO_COSTLY` when there are none left. */
  spend(steps: number = 1): void {
    this.#left -= steps;
    if (this.#left >= 0 && this.#sliceEnd - this.#left < maxStepsAtOnce) return;
    const details = `The selector takes more than ${this.#max} steps on this document; make it simpler, or begin it with an id.`;
    throw new DocumentError("SELECTOR_TOO_COSTLY", details);
  }

  /** Takes the steps of keeping something in mind about an element. */
  keep(): void {
    this.spend(stepsToKeep);
  }

  /** Whether it is time to `yield`. Having said so, begins a new slice. */
  isSliceOver(): boolean {
    if (this.#left > this.#sliceEnd) return false;
    this.#sliceEnd = this.#left - stepsInSlice;
    return true;
  }
}
