import { Readable } from "node:stream";
import type { FeedPosition } from "../../server/change-feed.ts";
import type { Audience } from "../live/audience.ts";
import type { Receiver } from "../live/broadcast.ts";
import type { LiveClient } from "../live/live-clients.ts";
import { heartbeat } from "./event-text.ts";

/** Options of {@link EventReader}. */
export interface EventReaderOptions {
  readonly audience: Audience;
  readonly encode: Receiver["encode"];
  /** Makes the event for missed changes up to a position. */
  readonly gap: (position: FeedPosition) => Buffer;
  /** Makes the event for ids that begin anew. */
  readonly hello: (position: FeedPosition) => Buffer;
  /** Most bytes that may wait for the reader. */
  readonly maxUnsentBytes: number;
}

/** A client that reads a reply for as long as both sides stay. */
export class EventReader implements LiveClient {
  readonly audience: Audience;
  readonly encode: Receiver["encode"];
  /** The content of the reply. */
  readonly body: Readable;
  readonly closed: Promise<void>;
  readonly #gap: EventReaderOptions["gap"];
  readonly #hello: EventReaderOptions["hello"];
  readonly #maxUnsentBytes: number;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #wantsMore = false;
  #hasRead = true;
  #isEnding = false;
  #tellDrained: (() => void) | undefined;

  constructor({ audience, encode, gap, hello, maxUnsentBytes }: EventReaderOptions) {
    this.audience = audience;
    this.encode = encode;
    this.#gap = gap;
    this.#hello = hello;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.body = new Readable({ read: () => this.#read() });
    this.closed = new Promise((resolve) => {
      this.body.once("close", () => {
        this.#waiting.length = 0;
        this.#settle();
        resolve();
      });
    });
  }

  get isFull(): boolean {
    return this.#waiting.length > 0;
  }

  write(event: Buffer): void {
    if (this.#isEnding || this.body.destroyed) return;
    if (this.#waitingBytes > this.#maxUnsentBytes) {
      this.#cutOff(`more than ${this.#maxUnsentBytes} bytes wait for it`);
      return;
    }
    this.#waiting.push(event);
    this.#waitingBytes += event.length;
    this.#give();
  }

  writeGap(position: FeedPosition): void {
    this.write(this.#gap(position));
  }

  writeHello(position: FeedPosition): void {
    this.write(this.#hello(position));
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#tellDrained = resolve;
      this.#settle();
    });
  }

  /** Shows that the connection is alive, or cuts off a reader that has taken nothing of what waits since the last time. */
  beat(): void {
    if (!this.isFull) this.write(heartbeat);
    else if (!this.#hasRead) this.#cutOff("it does not read");
    this.#hasRead = false;
  }

  /** Ends the stream without what waits to be read. */
  dismiss(): void {
    this.#waiting.length = 0;
    this.end();
  }

  /** Ends the stream after what waits to be read. */
  end(): void {
    this.#isEnding = true;
    this.#give();
  }

  #read(): void {
    this.#wantsMore = true;
    this.#hasRead = true;
    this.#give();
  }

  #give(): void {
    while (this.#wantsMore) {
      const event = this.#waiting.shift();
      if (!event) break;
      this.#waitingBytes -= event.length;
      this.#wantsMore = this.body.push(event);
    }
    this.#settle();
    if (this.#isEnding && !this.isFull) this.body.push(null);
  }

  #settle(): void {
    if (this.isFull && !this.body.destroyed) return;
    this.#tellDrained?.();
    this.#tellDrained = undefined;
  }

  /** With an error: the reply has to look broken off, so that the reader asks for the rest. */
  #cutOff(reason: string): void {
    this.body.destroy(new Error(`a reader of the event stream was cut off: ${reason}`));
  }
}
