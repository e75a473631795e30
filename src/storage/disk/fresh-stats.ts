import { type BigIntStats, lstat } from "node:fs";

type Answer = Promise<BigIntStats | undefined>;

/**
 * Asks the disk for the record of a name, once for all who wait for it. What somebody learns was asked for after they came:
 * a look under way may have happened before the change that they know of, so they share the next one.
 */
export class FreshStats {
  readonly #underWay = new Map<string, { readonly answer: Answer; next: Answer | undefined }>();

  /** The record of a location itself, not of what a link leads to; `undefined` where there is none to be had. */
  of(location: string): Answer {
    const look = this.#underWay.get(location);
    if (!look) return this.#begin(location);
    look.next ??= look.answer.then(() => this.#begin(location));
    return look.next;
  }

  #begin(location: string): Answer {
    const answer: Answer = new Promise((resolve) => {
      lstat(location, { bigint: true }, (_error, stats) => {
        // Before anybody goes on: who comes from now on has to have a look of their own.
        if (this.#underWay.get(location) === look && !look.next) this.#underWay.delete(location);
        resolve(stats);
      });
    });
    const look = { answer, next: undefined };
    this.#underWay.set(location, look);
    return answer;
  }
}
