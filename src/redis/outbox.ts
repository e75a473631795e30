import { setTimeout as pause } from "node:timers/promises";
import type { ChangeOrigin, UnnumberedChange } from "../server/change-feed.ts";
import type { ChangeStream, OutgoingChange, StreamEntry } from "./change-stream.ts";

/** Changes sent at once. */
const batchSize = 100;
/** Changes that wait for a Redis that is away. With more, the other servers are told of a gap instead. */
const maxWaiting = 10_000;

/** A change of this server that has not come back from the stream. */
export interface Waiting extends OutgoingChange {
  origin: ChangeOrigin;
  /** A moment of `performance.now()`. */
  readonly sentAt: number;
  isStored: boolean;
  /** Whether it was told here without waiting for its place in the order. */
  isDelivered: boolean;
}

/** The changes of this server on their way into the stream, in order. */
export class Outbox {
  /** Why the last attempt failed. */
  lastError: unknown;
  /** Whether changes were dropped that the other servers have not heard of. */
  hasDropped = false;
  readonly #stream: ChangeStream;
  readonly #retryMs: number;
  readonly #signal: AbortSignal;
  readonly #waiting: Waiting[] = [];
  readonly #whenEmpty: (() => void)[] = [];
  #sequence = 0;
  #sending: Promise<void> | undefined;
  #lastLagMs = 0;

  /** Sends until `signal` is aborted; `retryMs` is the pause after a failed attempt. */
  constructor(stream: ChangeStream, retryMs: number, signal: AbortSignal) {
    this.#stream = stream;
    this.#retryMs = retryMs;
    this.#signal = signal;
  }

  push(change: UnnumberedChange, origin: ChangeOrigin): Waiting {
    this.#sequence += 1;
    const sentAt = performance.now();
    const own = { sequence: this.#sequence, change, origin, sentAt, isStored: false, isDelivered: false };
    this.#waiting.push(own);
    if (this.#waiting.length > maxWaiting) {
      this.#waiting.shift();
      this.hasDropped = true;
    }
    this.#sending ??= this.#sendAll();
    return own;
  }

  /** Whether the next change has the oldest dropped. */
  get isFull(): boolean {
    return this.#waiting.length >= maxWaiting;
  }

  /** Changes that were delivered nowhere. */
  get undelivered(): readonly Waiting[] {
    return this.#waiting.filter(({ isDelivered }) => !isDelivered);
  }

  /** How many changes are not in the stream. */
  get unstored(): number {
    return this.#waiting.filter(({ isStored }) => !isStored).length;
  }

  /** Whether there are changes that were told here and are not in the stream. */
  get hasOnlyHere(): boolean {
    return this.#waiting.some(({ isDelivered, isStored }) => isDelivered && !isStored);
  }

  /** Seconds that the last change took to come back, or that the oldest has waited by now, if that is more. */
  get lagSeconds(): number {
    const [oldest] = this.#waiting;
    return Math.max(this.#lastLagMs, oldest ? performance.now() - oldest.sentAt : 0) / 1000;
  }

  /** The change that an entry of the stream is, if it is of this server and still waits. It waits no longer. */
  take(sender: StreamEntry["sender"]): Waiting | undefined {
    if (sender?.server !== this.#stream.server) return undefined;
    const own = this.#waiting.find(({ sequence }) => sequence === sender.sequence);
    if (own) this.#forget(own);
    return own;
  }

  /** Notes that a change was delivered here. */
  delivered(own: Waiting): void {
    own.isDelivered = true;
    own.origin = { ...own.origin, elements: undefined }; // they hold documents
    if (own.isStored) this.#forget(own);
  }

  /** Resolves at the next moment at which something may have been sent. */
  async progress(): Promise<void> {
    await (this.#sending ?? this.#rest());
    this.#signal.throwIfAborted();
  }

  /** Resolves when nothing waits any more. */
  async empty(): Promise<void> {
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
  }

  async #sendAll(): Promise<void> {
    while (!this.#signal.aborted) {
      const batch = this.#waiting.filter(({ isStored }) => !isStored).slice(0, batchSize);
      if (batch.length === 0) break;
      try {
        const receipts = await this.#stream.add(batch);
        for (const [index, each] of batch.entries()) {
          each.isStored = true;
          if (each.isDelivered || receipts[index] === "told") this.#forget(each);
        }
      } catch (error) {
        this.lastError = error;
        await this.#rest();
      }
    }
    this.#sending = undefined;
  }

  #forget(own: Waiting): void {
    const index = this.#waiting.indexOf(own);
    if (index < 0) return; // dropped meanwhile
    this.#waiting.splice(index, 1);
    this.#lastLagMs = performance.now() - own.sentAt;
    if (this.#waiting.length === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  async #rest(): Promise<void> {
    await pause(this.#retryMs, undefined, { signal: this.#signal }).catch(() => {}); // closed
  }
}
