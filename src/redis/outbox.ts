import { setTimeout as pause } from "node:timers/promises";
import type { ChangeOrigin, UnnumberedChange } from "../server/change-feed.ts";
import type { ChangeStream, OutgoingChange, StreamEntry } from "./change-stream.ts";

const batchSize = 100;
const maxWaiting = 10_000;

export interface Waiting extends OutgoingChange {
  readonly sentAt: number;
  isStored: boolean;
}

export class Outbox {
  lastError: unknown;
  readonly #stream: ChangeStream;
  readonly #retryMs: number;
  readonly #signal: AbortSignal;
  #waiting: Waiting[] = [];
  readonly #whenEmpty: (() => void)[] = [];
  #sequence = 0;
  #isSending = false;
  #lastLagMs = 0;

  /** Sends until `signal` is aborted; `retryMs` is the pause after a failed attempt. */
  constructor(stream: ChangeStream, retryMs: number, signal: AbortSignal) {
    this.#stream = stream;
    this.#retryMs = retryMs;
    this.#signal = signal;
  }

  push(change: UnnumberedChange, origin: ChangeOrigin): void {
    this.#sequence += 1;
    this.#waiting.push({ sequence: this.#sequence, change, origin, sentAt: performance.now(), isStored: false });
    if (!this.#isSending) void this.#sendAll();
  }

  get isFull(): boolean {
    return this.#waiting.length >= maxWaiting;
  }

  get oldest(): Waiting | undefined {
    return this.#waiting[0];
  }

  get hasUnstored(): boolean {
    return this.#waiting.some(({ isStored }) => !isStored);
  }

  /** Seconds that the last change took to come back, or that the oldest has waited by now, if that is more. */
  get lagSeconds(): number {
    return Math.max(this.#lastLagMs, this.oldest ? performance.now() - this.oldest.sentAt : 0) / 1000;
  }

  /** The change that an entry of the stream is, if it is of this server and still waits. It waits no longer. */
  take(sender: StreamEntry["sender"]): Waiting | undefined {
    if (sender?.server !== this.#stream.server) return undefined;
    const own = this.#waiting.find(({ sequence }) => sequence === sender.sequence);
    if (own) this.#forget(own);
    return own;
  }

  /** All that waits, which waits no longer and is not sent again. */
  takeAll(): readonly Waiting[] {
    const all = this.#waiting;
    this.#waiting = [];
    this.#tellIfEmpty();
    return all;
  }

  async empty(): Promise<void> {
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (!this.#signal.aborted) {
      const batch = this.#waiting.filter(({ isStored }) => !isStored).slice(0, batchSize);
      if (batch.length === 0) break;
      try {
        const receipts = await this.#stream.add(batch);
        for (const [index, each] of batch.entries()) {
          each.isStored = true;
          if (receipts[index] === "told") this.#forget(each);
        }
      } catch (error) {
        this.lastError = error;
        await pause(this.#retryMs, undefined, { signal: this.#signal }).catch(() => {}); // closed
      }
    }
    this.#isSending = false;
  }

  #forget(own: Waiting): void {
    this.#waiting = this.#waiting.filter((each) => each !== own);
    this.#lastLagMs = performance.now() - own.sentAt;
    this.#tellIfEmpty();
  }

  #tellIfEmpty(): void {
    if (this.#waiting.length === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}
