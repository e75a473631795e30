/** Numbers that look random and are the same for the same seed (mulberry32). */
export class Random {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed | 0;
  }

  /** From 0 up to, but without, `end`. @param {number} end */
  below(end) {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * end);
  }

  /** @template Item @param {readonly [Item, ...Item[]]} items @returns {Item} */
  oneOf(items) {
    return items[this.below(items.length)] ?? items[0];
  }
}
