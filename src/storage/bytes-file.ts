import { Readable } from "node:stream";
import type { ByteSpan, OpenFile, StoredStat } from "./storage.ts";

const pieceBytes = 64 * 1024;

/** Content up to here is one piece. Clients that leave half-way through more were sent no more than they took. */
const maxGivenBytes = 128 * 1024;

export class BytesFile implements OpenFile {
  readonly stat: StoredStat;
  readonly content: Uint8Array | undefined;
  readonly #bytes: Uint8Array;

  constructor(stat: StoredStat, bytes: Uint8Array) {
    this.stat = stat;
    this.content = bytes.byteLength <= maxGivenBytes ? bytes : undefined;
    this.#bytes = bytes;
  }

  async bytes(span?: ByteSpan): Promise<Uint8Array> {
    return span ? this.#bytes.subarray(span.start, span.end + 1) : this.#bytes;
  }

  stream({ start, end }: ByteSpan = { start: 0, end: this.stat.size - 1 }): Readable {
    return Readable.from(copiedPieces(this.#bytes.subarray(start, end + 1)), { objectMode: false });
  }

  async close(): Promise<void> {} // it is only memory
}

/** Copies: the reader of a stream owns its pieces, and may write to them or hand them to another thread. */
function* copiedPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield new Uint8Array(bytes.subarray(at, at + pieceBytes));
}
