import { Buffer } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import type { ByteSpan, OpenFile, PieceStream, StoredStat } from "../storage.ts";

/** Large enough that reading costs few system calls, small enough for thousands of slow clients. */
const chunkBytes = 128 * 1024;
const pieceBytes = 256 * 1024;

/** Unused memory for the pieces of the next file: new memory costs as much time as reading into it. */
const spare: Buffer[] = [];
const maxSpare = 16;

export class OpenDiskFile implements OpenFile {
  readonly stat: StoredStat;
  readonly #handle: FileHandle;
  #isClosed = false;
  /** The one who opened it and every reading under way; the last to leave closes the file. */
  #users = 1;

  constructor(handle: FileHandle, stat: StoredStat) {
    this.#handle = handle;
    this.stat = stat;
  }

  async bytes(span: ByteSpan = this.#whole()): Promise<Uint8Array> {
    this.#enter();
    try {
      // Not from Buffer's pool, which a small piece kept in a cache would keep from being freed.
      const bytes = Buffer.allocUnsafeSlow(span.end + 1 - span.start);
      let filled = 0;
      while (filled < bytes.length) filled += await this.#read(bytes.subarray(filled), span.start + filled);
      return bytes;
    } finally {
      await this.#leave();
    }
  }

  stream(span: ByteSpan = this.#whole()): Readable {
    this.#enter();
    const read: StreamSource["read"] = (into, position) => this.#read(into, position);
    return new FileStream({ read, done: () => this.#leave() }, span);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#leave();
  }

  #whole(): ByteSpan {
    return { start: 0, end: this.stat.size - 1 };
  }

  async #read(into: Uint8Array, position: number): Promise<number> {
    const { bytesRead } = await this.#handle.read(into, 0, into.length, position);
    // Never padded: a client that was promised more bytes must learn that they will not come.
    if (bytesRead === 0) throw new Error("the file became shorter while it was read");
    return bytesRead;
  }

  #enter(): void {
    if (this.#users === 0) throw new Error("the file was closed before it was read");
    this.#users += 1;
  }

  async #leave(): Promise<void> {
    this.#users -= 1;
    if (this.#users === 0) await this.#handle.close();
  }
}

export interface StreamSource {
  /** Reads some bytes from a position of the file, at least one. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Called once, when nothing more will be read. */
  done(): Promise<void>;
}

/** A part of a file as a stream, or in large pieces of memory that is used again. */
class FileStream extends Readable implements PieceStream {
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
