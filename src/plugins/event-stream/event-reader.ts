import { Readable } from "node:stream";
import type { FeedPosition } from "../../server/change-feed.ts";
import type { Audience } from "../live/audience.ts";
import type { Receiver } from "../live/broadcast.ts";
import type { LiveClient } from "../live/live-clients.ts";
import { changeEvent, gapEvent, heartbeat, helloEvent } from "./event-text.ts";

/** A client that reads a reply for as long as both sides stay. */
export class EventReader implements LiveClient {
  readonly audience: Audience;
  readonly encode: Receiver["encode"] = changeEvent;
  /** The content of the reply. */
  readonly body: Readable;
  readonly closed: Promise<void>;
  readonly #maxUnsentBytes: number;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #wantsMore = false;
  #hasRead = true;
  #isEnding = false;
  #tellDrained: (() => void) | undefined;

  /** `maxUnsentBytes` may wait for the reader at most. */
  constructor(audience: Audience, maxUnsentBytes: number) {
    this.audience = audience;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.body = new Readable({ read: () => this.#read() });
    this.closed = new Promise((resolve) => {
      this.body.once("close", () => {
        this.#waiting.length = 0;
        this.#tellIfDrained();
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
    this.write(gapEvent(position));
  }

  writeHello(position: FeedPosition, isBeginning: boolean = true): void {
    this.write(helloEvent(position, isBeginning, this.audience.path));
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#tellDrained = resolve;
      this.#tellIfDrained();
    });
  }

  /** Shows that the connection is alive, or cuts off a reader that has taken nothing since the last time. */
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
    this.#tellIfDrained();
    if (this.#isEnding && !this.isFull) this.body.push(null);
  }

  #tellIfDrained(): void {
    if (this.isFull && !this.body.destroyed) return;
    this.#tellDrained?.();
    this.#tellDrained = undefined;
  }

  /** With an error: the reply has to look broken off, so that the reader asks for the rest. */
  #cutOff(reason: string): void {
    this.body.destroy(new Error(`a reader of the event stream was cut off: ${reason}`));
  }
}
