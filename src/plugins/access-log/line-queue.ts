import { Buffer } from "node:buffer";

/** Lines that are written together. */
export interface Batch {
  readonly bytes: Buffer;
  readonly lines: number;
}

/** Lines that wait to be written, up to a number of bytes. */
export class LineQueue {
  readonly #maxBytes: number;
  #lines: string[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Adds a line and its line end; `false` where the queue is full. */
  push(line: string): boolean {
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    this.#lines.push(line);
    return true;
  }

  /** Everything that waits. Its bytes count until they are released. */
  take(): Batch {
    const lines = this.#lines;
    this.#lines = [];
    return { bytes: Buffer.from(`${lines.join("\n")}\n`), lines: lines.length };
  }

  release({ bytes }: Batch): void {
    this.#bytes -= bytes.length;
  }

  /** Empties the queue; returns how many lines that were. */
  clear(): number {
    const { length } = this.#lines;
    this.#lines = [];
    this.#bytes = 0;
    return length;
  }
}
