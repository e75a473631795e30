/** Stands for "no bucket" where a number of one is expected. */
export const none = 0xffff_ffff;

// Pages, so that growing never copies what is there and shrinking gives memory back. One has 96 KiB: made in
// microseconds.
const pageBits = 12;
const entriesOnPage = 1 << pageBits;
const placeMask = entriesOnPage - 1;

// A bucket has 24 bytes, side by side, so that the processor fetches it at once: four words, and a time in place of the
// fifth and sixth.
const wordsOfEntry = 6;
const timesOfEntry = 3;
const highWord = 0;
const lowWord = 1;
const newerWord = 2;
const olderWord = 3;
const fullAtTime = 2;

/** Some thousands of buckets in one piece of memory, seen in two ways. */
interface Page {
  readonly words: Uint32Array;
  readonly times: Float64Array;
}

/**
 * The buckets as plain numbers, without gaps: bucket 0 to `count - 1`. Of each there is the hash of its key, the moment
 * at which it will be full, and its neighbours in the order of use, which is `IdleOrder`'s.
 */
export class BucketEntries {
  readonly #pages: Page[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Bytes in typed arrays. */
  get byteLength(): number {
    return this.#pages.length * entriesOnPage * wordsOfEntry * Uint32Array.BYTES_PER_ELEMENT;
  }

  /** Adds a bucket at the end and returns its number. */
  append(high: number, low: number): number {
    const entry = this.#count;
    if (entry >>> pageBits === this.#pages.length) this.#pages.push(emptyPage());
    this.#setWord(entry, highWord, high);
    this.#setWord(entry, lowWord, low);
    this.#count += 1;
    return entry;
  }

  /** Puts the last bucket in the place of another, whose number it has from now on. */
  removeByLast(entry: number): void {
    const last = this.#count - 1;
    for (let word = 0; word < wordsOfEntry; word += 1) this.#setWord(entry, word, this.#word(last, word));
    this.#count = last;
    // One empty page stays: else a bucket that comes and goes at the border would make a page each time.
    if (this.#pages.length > ((last + placeMask) >>> pageBits) + 1) this.#pages.pop();
  }

  high(entry: number): number {
    return this.#word(entry, highWord);
  }

  low(entry: number): number {
    return this.#word(entry, lowWord);
  }

  isOf(entry: number, high: number, low: number): boolean {
    return this.#word(entry, lowWord) === low && this.#word(entry, highWord) === high;
  }

  fullAt(entry: number): number {
    return this.#page(entry).times[(entry & placeMask) * timesOfEntry + fullAtTime] as number;
  }

  setFullAt(entry: number, moment: number): void {
    this.#page(entry).times[(entry & placeMask) * timesOfEntry + fullAtTime] = moment;
  }

  newer(entry: number): number {
    return this.#word(entry, newerWord);
  }

  setNewer(entry: number, newer: number): void {
    this.#setWord(entry, newerWord, newer);
  }

  older(entry: number): number {
    return this.#word(entry, olderWord);
  }

  setOlder(entry: number, older: number): void {
    this.#setWord(entry, olderWord, older);
  }

  // `entry` is the number of a bucket, so its page and its words exist.
  #page(entry: number): Page {
    return this.#pages[entry >>> pageBits] as Page;
  }

  #word(entry: number, word: number): number {
    return this.#page(entry).words[(entry & placeMask) * wordsOfEntry + word] as number;
  }

  #setWord(entry: number, word: number, value: number): void {
    this.#page(entry).words[(entry & placeMask) * wordsOfEntry + word] = value;
  }
}

function emptyPage(): Page {
  const words = new Uint32Array(entriesOnPage * wordsOfEntry);
  return { words, times: new Float64Array(words.buffer) };
}
