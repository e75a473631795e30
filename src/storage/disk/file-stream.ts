import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import type { ByteSpan, PieceStream } from "../storage.ts";

/** Large enough that reading costs few system calls, small enough for thousands of slow clients. */
const chunkBytes = 128 * 1024;
const pieceBytes = 256 * 1024;

/** Unused memory for the pieces of the next file: new memory costs as much time as reading into it. */
const spare: Buffer[] = [];
const maxSpare = 16;

export interface StreamSource {
  /** Reads some bytes from a position of the file, at least one. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Called once, when nothing more will be read. */
  done(): Promise<void>;
}

/** A part of a file as a stream, or in large pieces of memory that is used again. */
export class FileStream extends Readable implements PieceStream {
  readonly #source: StreamSource;
  readonly #end: number;
  #position: number;

  constructor(source: StreamSource, { start, end }: ByteSpan) {
    super({ highWaterMark: chunkBytes });
    this.#source = source;
    this.#position = start;
    this.#end = end;
  }

  async eachPiece(take: (piece: Uint8Array) => Promise<void>): Promise<void> {
    const memory = spare.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
    try {
      while (this.#position <= this.#end) {
        const length = await this.#readInto(memory.subarray(0, Math.min(pieceBytes, this.#end + 1 - this.#position)));
        await take(memory.subarray(0, length));
      }
      // Not after a failure: the last piece may still be in use.
      if (spare.length < maxSpare) spare.push(memory);
    } finally {
      this.destroy();
    }
  }

  override _read(): void {
    this.#nextChunk().then(
      (chunk) => this.push(chunk),
      (error: Error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#source.done().then(
      () => callback(error),
      (closing: Error) => callback(error ?? closing),
    );
  }

  async #nextChunk(): Promise<Uint8Array | null> {
    if (this.#position > this.#end) return null;
    const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, this.#end + 1 - this.#position));
    return chunk.subarray(0, await this.#readInto(chunk));
  }

  async #readInto(memory: Uint8Array): Promise<number> {
    const length = await this.#source.read(memory, this.#position);
    this.#position += length;
    return length;
  }
}
