/** A place in a text, as an editor shows it; both count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Lines and columns of offsets that never go back. */
export class LineCounter {
  readonly #source: string;
  readonly #lineEnd = /\r\n?|\n/g;
  #line = 1;
  #lineStart = 0;
  #nextLine: number;

  constructor(source: string) {
    this.#source = source;
    this.#nextLine = this.#findNextLine();
  }

  at(offset: number | null): Place {
    const position = offset ?? 0;
    while (this.#nextLine <= position) {
      this.#line += 1;
      this.#lineStart = this.#nextLine;
      this.#nextLine = this.#findNextLine();
    }
    return { line: this.#line, column: Math.max(position - this.#lineStart, 0) + 1 };
  }

  #findNextLine(): number {
    return this.#lineEnd.test(this.#source) ? this.#lineEnd.lastIndex : Number.POSITIVE_INFINITY;
  }
}
