import { Buffer } from "node:buffer";
import type { Content } from "../storage.ts";
import type { BegunUpload, Condition, ObjectStore, Part } from "./object-store.ts";
import { type NewWrite, type StoredObject, writtenObject } from "./stored-object.ts";

/** Size of the parts of long content. An upload holds three: the first, one on its way, one that fills. */
const partBytes: number = 8 * 1024 * 1024;
/** Number of the second part of long content. Before it are the first, and the file that it is appended to. */
const secondPart = 3;

/** Content that was received: its first part is in memory, the others are in the store, and no object yet. */
export class Upload {
  size = 0;
  /** The first part of the content, or all of it. */
  first: Uint8Array = new Uint8Array();
  readonly #store: ObjectStore;
  readonly #key: string;
  readonly #named: () => NewWrite;
  readonly #parts: Part[] = [];
  readonly #hasCopies: boolean;
  #begun: { readonly write: NewWrite; readonly upload: BegunUpload } | undefined;
  /** The part on its way to the store, one at a time. */
  #sending: Promise<void> = Promise.resolve();
  #isCompleted = false;

  /** `named` names the content when the store gets the first of it; `hasCopies`: {@link copy} may be used. */
  constructor(store: ObjectStore, key: string, named: () => NewWrite, hasCopies = false) {
    this.#store = store;
    this.#key = key;
    this.#named = named;
    this.#hasCopies = hasCopies;
  }

  /** Receives all of the content; if there are several parts, `beforeParts` is called before any is sent. */
  async receive(content: Content, beforeParts: () => Promise<unknown> = async () => {}): Promise<void> {
    for await (const part of partsOf(content)) {
      this.size += part.byteLength;
      if (this.size === part.byteLength) {
        this.first = part;
        continue;
      }
      await this.#sending;
      if (this.#parts.length === 0) await beforeParts();
      const number = secondPart + this.#parts.length;
      this.#sending = this.put(number, part).then((sent) => void this.#parts.push(sent));
      this.#sending.catch(() => {}); // thrown where it is awaited
    }
    await this.#sending;
  }

  /** All of the content, where it is no longer than a part. */
  get bytes(): Uint8Array | undefined {
    return this.#parts.length === 0 ? this.first : undefined;
  }

  async put(number: number, content: Uint8Array, store: ObjectStore = this.#store): Promise<Part> {
    return store.uploadPart((await this.#begin(store)).upload, number, content);
  }

  async copy(number: number, from: StoredObject, store: ObjectStore): Promise<Part> {
    return store.copyPart((await this.#begin(store)).upload, number, from);
  }

  /** Makes the object of its parts and of what came after the first. May be tried again if the condition fails. */
  async complete(
    before: readonly Part[],
    size: number,
    condition: Condition,
    store: ObjectStore,
  ): Promise<StoredObject> {
    const parts = [...before, ...this.#parts];
    const { write, upload } = await this.#begin(store);
    const etag = await store.completeUpload(upload, parts, condition);
    this.#isCompleted = true;
    return writtenObject(write, etag, size);
  }

  async abort(): Promise<void> {
    await this.#sending.catch(() => {}); // what is on its way would come after the end
    if (!this.#begun || this.#isCompleted) return;
    // What the store keeps then, its own rule for unfinished uploads removes (docs/scaling.md).
    await this.#store.abortUpload(this.#begun.upload).catch(() => {});
  }

  async #begin(store: ObjectStore): Promise<{ readonly write: NewWrite; readonly upload: BegunUpload }> {
    if (!this.#begun) {
      const write = this.#named();
      this.#begun = { write, upload: await store.beginUpload(this.#key, write, this.#hasCopies) };
    }
    return this.#begun;
  }
}

/** Content in parts of that size; the last one is shorter. */
async function* partsOf(content: Content): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of content) {
    for (let start = 0; start < piece.byteLength; ) {
      const end = Math.min(piece.byteLength, start + partBytes - length);
      pieces.push(Uint8Array.prototype.slice.call(piece, start, end)); // a copy: the piece is its sender's
      length += end - start;
      start = end;
      if (length < partBytes) continue;
      yield Buffer.concat(pieces, length);
      pieces = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(pieces, length);
}
