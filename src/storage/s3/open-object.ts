import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { doneInTime } from "../../event-loop/in-time.ts";
import { BytesFile } from "../bytes-file.ts";
import { type ByteSpan, type OpenFile, type OpenFor, StorageError, type StoredStat } from "../storage.ts";
import { freshAnswers } from "./fresh-answers.ts";
import type { ObjectStore } from "./object-store.ts";
import { type FoundFile, maxKeptBytes, type Places } from "./places.ts";
import { isOutage } from "./store-error.ts";
import type { StoredObject } from "./stored-object.ts";

const maxBreaks = 3;
/** How long the store may take for the next piece of content, in milliseconds. */
const stallMs = 30_000;

/** Opens files. Small ones are kept, and asked for only if they are not the version that is at hand. */
export class ObjectReader {
  readonly #places: Places;
  readonly #kept: (path: string) => Promise<FoundFile | undefined>;

  constructor(places: Places) {
    this.#places = places;
    this.#kept = freshAnswers(async (path) => {
      const found = await this.#fetch(path, places.known(path));
      found?.body?.destroy(); // too large by now to be shared
      return found?.file;
    });
  }

  async open(path: string, purpose: OpenFor): Promise<OpenFile | undefined> {
    if (path.endsWith("/")) return undefined;
    const known = this.#places.known(path);
    if (known?.bytes) {
      const found = await this.#kept(path); // those who ask at the same time share an answer
      return found && this.#opened(path, found);
    }
    if (purpose === "properties") {
      const object = await this.#places.store.head(this.#places.keyOf(path));
      if (!object || object.isTombstone) return undefined;
      this.#places.saw(path, { kind: "file", object });
      return this.#opened(path, { object });
    }
    const found = await this.#fetch(path, purpose === "version" && known?.wasRead ? known : undefined);
    return found && this.#opened(path, found.file, found.body);
  }

  async read(path: string, store?: ObjectStore): Promise<(FoundFile & { readonly bytes: Uint8Array }) | undefined> {
    const known = this.#places.known(path);
    const found = await this.#fetch(path, known?.bytes && known, store);
    if (!found) return undefined;
    const { file, body } = found;
    return { kind: "file", object: file.object, bytes: await this.#opened(path, file, body).bytes() };
  }

  #opened(path: string, { object, bytes }: Pick<FoundFile, "object" | "bytes">, body?: Readable): OpenFile {
    if (bytes) return new BytesFile(object.stat, bytes);
    return new OpenObject(this.#places.store, this.#places.keyOf(path), object, body);
  }

  /** Asks for a file. A small one is read at once; the content of another is on its way, unless it is the one known. */
  async #fetch(
    path: string,
    known: FoundFile | undefined,
    store: ObjectStore = this.#places.store.timed(),
  ): Promise<{ file: FoundFile; body?: Readable } | undefined> {
    const key = this.#places.keyOf(path);
    // Not a conditional GET: its 304 does not tell the write, and equal content has an equal tag in the store.
    const now = known && (await store.head(key));
    if (known && !now) return undefined;
    if (known && now?.etag === known.object.etag) {
      const file = { ...known, object: now };
      this.#places.saw(path, file);
      return { file };
    }
    for (let breaks = 0; ; breaks += 1) {
      const answer = await store.get(key);
      if (answer === undefined) return undefined;
      const { object, body } = answer;
      if (object.isTombstone) {
        body.destroy();
        return undefined;
      }
      if (object.stat.size > maxKeptBytes) {
        const file = { kind: "file", object, wasRead: true } as const;
        this.#places.saw(path, file);
        return { file, body };
      }
      try {
        const file = { kind: "file", object, bytes: await allOf(piecesOf(body), object.stat.size) } as const;
        this.#places.saw(path, file);
        return { file };
      } catch (error) {
        if (breaks >= maxBreaks) throw new StorageError("unavailable", error);
      }
    }
  }
}

class OpenObject implements OpenFile {
  readonly stat: StoredStat;
  readonly #store: ObjectStore;
  readonly #key: string;
  readonly #object: StoredObject;
  /** The stream in which all of the content comes. */
  #body: Readable | undefined;
  #isClosed = false;

  /** @param body the stream in which all of the content comes; otherwise it is asked for */
  constructor(store: ObjectStore, key: string, object: StoredObject, body: Readable | undefined) {
    this.stat = object.stat;
    this.#store = store;
    this.#key = key;
    this.#object = object;
    this.#body = body?.on("error", () => {}); // not read yet; a reader asks for the rest
  }

  async bytes(span: ByteSpan = this.#whole()): Promise<Uint8Array> {
    return allOf(this.#pieces(span, this.#takeBody(span)), span.end + 1 - span.start);
  }

  stream(span: ByteSpan = this.#whole()): Readable {
    const body = this.#takeBody(span);
    const stream = Readable.from(this.#pieces(span, body), { objectMode: false });
    // Of a stream that is never read, nothing else would give the connection back.
    return body ? stream.once("close", () => body.destroy()) : stream;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#body?.destroy();
    this.#body = undefined;
  }

  #whole(): ByteSpan {
    return { start: 0, end: this.stat.size - 1 };
  }

  /** The stream that came with the file, for the first one who reads all of it. */
  #takeBody({ start, end }: ByteSpan): Readable | undefined {
    if (this.#isClosed) throw new Error("the file was closed before it was read");
    if (end >= this.stat.size) throw new RangeError("the span reaches beyond the end of the file");
    if (start > 0 || end < this.stat.size - 1) return undefined;
    const body = this.#body;
    this.#body = undefined;
    return body;
  }

  /** The content of a span. Where it breaks off, the rest is asked for. */
  async *#pieces({ start, end }: ByteSpan, opened: Readable | undefined): AsyncGenerator<Uint8Array> {
    let body = opened;
    let at = start;
    try {
      for (let breaks = 0; at <= end; ) {
        try {
          body ??= await this.#store.getSpan(this.#key, { start: at, end }, this.#object);
          for await (const piece of lastAtEnd(piecesOf(body))) {
            at += piece.byteLength;
            yield piece;
          }
          if (at <= end) throw new Error("the store sent less than it said");
        } catch (error) {
          body?.destroy();
          body = undefined;
          // The version that was opened is not stored any more: the client's next try opens what is there now.
          if (error instanceof Error && "$metadata" in error && !isOutage(error)) throw new StorageError("busy", error);
          // What a checksum finds wrong cannot be mended: most of it is sent.
          const isWrong = error instanceof Error && error.message.startsWith("Checksum mismatch");
          if (at > end || isWrong || breaks >= maxBreaks)
            throw error instanceof StorageError ? error : new StorageError("unavailable", error);
          breaks += 1;
          await nextTurn();
        }
      }
    } finally {
      body?.destroy();
    }
  }
}

async function* piecesOf(body: Readable): AsyncGenerator<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await doneInTime(pieces.next(), stallMs, "the store has stopped sending");
      if (done) return;
      yield value;
    }
  } finally {
    body.destroy();
  }
}

/** The pieces of a stream, the last one when the stream has ended: then its checksum is known to be right. */
async function* lastAtEnd(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | undefined;
  for await (const piece of pieces) {
    if (held) yield held;
    held = piece;
  }
  if (held) yield held;
}

async function allOf(pieces: AsyncIterable<Uint8Array>, size: number): Promise<Uint8Array> {
  // Not from Buffer's pool, which a small piece kept in a cache would keep from being freed.
  const bytes = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for await (const piece of pieces) {
    bytes.set(piece, filled);
    filled += piece.byteLength;
  }
  if (filled < size) throw new Error("the store sent less than it said");
  return bytes;
}
