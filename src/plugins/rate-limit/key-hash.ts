import { getRandomValues } from "node:crypto";

// The word "lygetedb", by which the four parts of the state begin different.
const initial2 = 0x6c796765;
const initial3 = 0x74656462;

/**
 * A keyed hash of 64 bits: HalfSipHash-2-4 (Aumasson and Bernstein), the member of the SipHash family for arithmetic in
 * 32 bits, over the UTF-16 code units of a text.
 *
 * A table stores the hash in place of the key. Two of a million keys share a hash with a probability of 3 in
 * 100,000,000. A client that chooses its key cannot aim at another client's bucket without knowing the seed.
 */
export class KeyHash {
  /** Halves of the hash of the text that was read last. Fields, since a pair for each request would be garbage. */
  high = 0;
  low = 0;

  readonly #seed0: number;
  readonly #seed1: number;
  readonly #state = new Int32Array(4);

  /** The seed has two words, random unless a test says otherwise. */
  constructor(seed: Uint32Array = getRandomValues(new Uint32Array(2))) {
    const [seed0 = 0, seed1 = 0] = seed;
    this.#seed0 = seed0;
    this.#seed1 = seed1;
  }

  read(text: string): void {
    const state = this.#state;
    state[0] = this.#seed0;
    state[1] = this.#seed1 ^ 0xee; // as the authors tell the hash of 64 bits from the one of 32
    state[2] = this.#seed0 ^ initial2;
    state[3] = this.#seed1 ^ initial3;

    const { length } = text;
    const pairedLength = length & ~1;
    for (let at = 0; at < pairedLength; at += 2) absorb(state, text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16));
    const unpaired = length > pairedLength ? text.charCodeAt(pairedLength) : 0;
    absorb(state, unpaired | ((length * 2) << 24)); // the length in bytes: "a" and "a\0" are different texts

    this.high = squeeze(state, 2, 0xee);
    this.low = squeeze(state, 1, 0xdd);
  }
}

function absorb(state: Int32Array, word: number): void {
  state[3] = (state[3] as number) ^ word;
  mix(state, 2);
  state[0] = (state[0] as number) ^ word;
}

function squeeze(state: Int32Array, part: number, mark: number): number {
  state[part] = (state[part] as number) ^ mark;
  mix(state, 4);
  return ((state[1] as number) ^ (state[3] as number)) >>> 0;
}

/** Rounds of additions, rotations and exclusive ors. The state has four parts, so each of them is a number. */
function mix(state: Int32Array, rounds: number): void {
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  for (let round = 0; round < rounds; round += 1) {
    a = (a + b) | 0;
    b = ((b << 5) | (b >>> 27)) ^ a;
    a = (a << 16) | (a >>> 16);
    c = (c + d) | 0;
    d = ((d << 8) | (d >>> 24)) ^ c;
    a = (a + d) | 0;
    d = ((d << 7) | (d >>> 25)) ^ a;
    c = (c + b) | 0;
    b = ((b << 13) | (b >>> 19)) ^ c;
    c = (c << 16) | (c >>> 16);
  }
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
}
