import { type BucketEntries, none } from "./bucket-entries.ts";

// Each segment grows by itself, all at once; with so few buckets in it that takes a fraction of a millisecond. This is
// how the index of a million buckets grows without ever holding up a request.
const bucketsInSegment = 1024;
const mostSegments = 1 << 16;

const fewestSlots = 8;
/** Fullest, in quarters: beyond that, finding what is not there takes long. */
const mostQuarters = 3;
/** Emptiest, in quarters: a smaller segment is then half full, well away from growing again. */
const fewestQuarters = 1;

/** A small hash table: 0 is an empty slot, any other number that of a bucket, plus one. */
interface Segment {
  slots: Uint32Array;
  used: number;
}

/**
 * Finds buckets by the hash of their key: open addressing with linear probing, in segments. The high half of the hash
 * chooses the segment, the low half the slot from which on a bucket is looked for; the hash itself lies with the
 * bucket.
 */
export class BucketIndex {
  readonly #entries: BucketEntries;
  readonly #segments: (Segment | undefined)[];
  #slots = 0;

  constructor(entries: BucketEntries, maxBuckets: number) {
    const wanted = 2 ** Math.ceil(Math.log2(maxBuckets / bucketsInSegment));
    this.#entries = entries;
    this.#segments = new Array(Math.min(Math.max(wanted, 1), mostSegments)).fill(undefined);
  }

  /** Bytes in typed arrays. */
  get byteLength(): number {
    return this.#slots * Uint32Array.BYTES_PER_ELEMENT;
  }

  /** Number of the bucket of a hash, or `none`. */
  find(high: number, low: number): number {
    const slots = this.#segments[this.#segmentOf(high)]?.slots;
    if (!slots) return none;
    const mask = slots.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const stored = slots[slot] as number;
      if (stored === 0) return none;
      if (this.#entries.isOf(stored - 1, high, low)) return stored - 1;
    }
  }

  /** Adds a bucket, whose hash is not yet here. */
  add(entry: number): void {
    const segment = this.#segmentFor(entry);
    if (segment.used * 4 >= segment.slots.length * mostQuarters) this.#resize(segment, segment.slots.length * 2);
    this.#place(segment.slots, entry);
    segment.used += 1;
  }

  remove(entry: number): void {
    const segment = this.#segmentFor(entry);
    this.#empty(segment.slots, this.#slotOf(segment.slots, entry));
    segment.used -= 1;
    const isSparse = segment.used * 4 < segment.slots.length * fewestQuarters;
    if (isSparse && segment.slots.length > fewestSlots) this.#resize(segment, segment.slots.length / 2);
  }

  /** Follows a bucket that will have another number. */
  renumber(from: number, to: number): void {
    const { slots } = this.#segmentFor(from);
    slots[this.#slotOf(slots, from)] = to + 1;
  }

  #segmentOf(high: number): number {
    return high & (this.#segments.length - 1);
  }

  #segmentFor(entry: number): Segment {
    const number = this.#segmentOf(this.#entries.high(entry));
    const existing = this.#segments[number];
    if (existing) return existing;
    const segment = { slots: new Uint32Array(fewestSlots), used: 0 };
    this.#segments[number] = segment;
    this.#slots += fewestSlots;
    return segment;
  }

  /** The slot that a bucket is in; it is known to be there. */
  #slotOf(slots: Uint32Array, entry: number): number {
    const mask = slots.length - 1;
    let slot = this.#entries.low(entry) & mask;
    while (slots[slot] !== entry + 1) slot = (slot + 1) & mask;
    return slot;
  }

  #place(slots: Uint32Array, entry: number): void {
    const mask = slots.length - 1;
    let slot = this.#entries.low(entry) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = entry + 1;
  }

  /**
   * Empties a slot, and moves those behind it up to where they would be had it never been taken; a mere mark in its
   * place would make every later search longer.
   */
  #empty(slots: Uint32Array, emptied: number): void {
    const mask = slots.length - 1;
    let gap = emptied;
    for (let slot = (gap + 1) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const stored = slots[slot] as number;
      const home = this.#entries.low(stored - 1) & mask;
      // Only what is searched for by way of the gap may move there.
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
      slots[gap] = stored;
      gap = slot;
    }
    slots[gap] = 0;
  }

  #resize(segment: Segment, size: number): void {
    const slots = new Uint32Array(size);
    for (const stored of segment.slots) if (stored !== 0) this.#place(slots, stored - 1);
    this.#slots += size - segment.slots.length;
    segment.slots = slots;
  }
}
