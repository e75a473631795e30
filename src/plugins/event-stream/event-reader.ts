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
  #isFull = false;
  #isEnding = false;
  #writtenBytes = 0;
  #takenBytesAtBeat = -1;
  #tellDrained: (() => void) | undefined;

  /** `maxUnsentBytes` may wait for the reader at most. */
  constructor(audience: Audience, maxUnsentBytes: number) {
    this.audience = audience;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.body = new Readable({ read: () => this.#takesMore() });
    this.closed = new Promise((resolve) => {
      this.body.once("close", () => {
        this.#takesMore();
        resolve();
      });
    });
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  write(event: Buffer): void {
    if (this.#isEnding || this.body.destroyed) return;
    if (this.body.readableLength > this.#maxUnsentBytes) {
      this.#cutOff(`more than ${this.#maxUnsentBytes} bytes wait for it`);
      return;
    }
    this.#writtenBytes += event.length;
    this.#isFull = !this.body.push(event);
  }

  writeGap(position: FeedPosition): void {
    this.write(gapEvent(position));
  }

  writeHello(position: FeedPosition, isBeginning: boolean = true): void {
    this.write(helloEvent(position, isBeginning, this.audience.path));
  }

  async drained(): Promise<void> {
    if (!this.#isFull) return;
    await new Promise<void>((resolve) => {
      this.#tellDrained = resolve;
    });
  }

  /** Shows that the connection is alive, or cuts off a reader that has taken nothing since the last time. */
  beat(): void {
    const takenBytes = this.#writtenBytes - this.body.readableLength;
    if (!this.#isFull) this.write(heartbeat);
    else if (takenBytes === this.#takenBytesAtBeat) this.#cutOff("it does not read");
    this.#takenBytesAtBeat = takenBytes;
  }

  /** Ends the stream without what waits to be read. */
  dismiss(): void {
    if (this.#isFull) this.body.destroy();
    else this.end();
  }

  /** Ends the stream after what waits to be read. */
  end(): void {
    this.#isEnding = true;
    this.body.push(null);
  }

  #takesMore(): void {
    this.#isFull = false;
    this.#tellDrained?.();
    this.#tellDrained = undefined;
  }

  /** With an error: the reply has to look broken off, so that the reader asks for the rest. */
  #cutOff(reason: string): void {
    this.body.destroy(new Error(`a reader of the event stream was cut off: ${reason}`));
  }
}
