import { PassThrough } from "node:stream";
import type { FeedPosition } from "../../server/change-feed.ts";
import type { Audience } from "../live/audience.ts";
import { changeText, type Encode, gapText, helloText } from "../live/change-message.ts";
import { LiveClient, maxUnsentBytes } from "../live/live-client.ts";

/** Milliseconds after which a browser whose connection ended tries again. */
const retry = 2_000;

/** A comment, which readers ignore. */
const heartbeat = ":\n\n";

/** A client that reads a reply for as long as both sides stay. */
export class EventReader extends LiveClient<PassThrough> {
  readonly encode: Encode = changeEvent;
  #writtenBytes = 0;
  #takenBytesAtBeat = -1;

  constructor(audience: Audience) {
    const body = new PassThrough();
    super(audience, body, new Promise((resolve) => body.once("close", resolve)));
  }

  get body(): PassThrough {
    return this.stream;
  }

  write(event: Buffer | string): void {
    if (this.body.writableEnded || this.body.destroyed) return;
    if (this.#unreadBytes > maxUnsentBytes) {
      this.#cutOff(`more than ${maxUnsentBytes} bytes wait for it`);
      return;
    }
    this.#writtenBytes += Buffer.byteLength(event);
    this.body.write(event);
  }

  writeGap({ name, lastId }: FeedPosition): void {
    this.write(eventText(name, "gap", gapText, lastId));
  }

  /** With an id only for a reader that begins here: one that missed something would else miss it for good. */
  writeHello(feed: FeedPosition, isBeginning: boolean = true): void {
    const id = isBeginning ? feed.lastId : undefined;
    this.write(`retry: ${retry}\n${eventText(feed.name, "hello", helloText(feed, this.audience.path), id)}`);
  }

  /** Shows that the connection is alive, or cuts off a reader that has taken nothing since the last time. */
  beat(): void {
    const takenBytes = this.#writtenBytes - this.#unreadBytes;
    if (!this.isFull) this.write(heartbeat);
    else if (takenBytes === this.#takenBytesAtBeat) this.#cutOff("it does not read");
    this.#takenBytesAtBeat = takenBytes;
  }

  /** Ends the stream without what waits to be read. */
  dismiss(): void {
    if (this.isFull) this.body.destroy();
    else this.end();
  }

  /** Ends the stream after what waits to be read. */
  end(): void {
    this.body.end();
  }

  get #unreadBytes(): number {
    return this.body.writableLength + this.body.readableLength;
  }

  /** With an error: the reply has to look broken off, so that the reader asks for the rest. */
  #cutOff(reason: string): void {
    this.body.destroy(new Error(`a reader of the event stream was cut off: ${reason}`));
  }
}

const changeEvent: Encode = (change, feed) => Buffer.from(eventText(feed, "change", changeText(change), change.id));

/** JSON has no line ends, which would end the field. */
function eventText(feed: string, name: string, data: string, id: number | undefined): string {
  const idField = id === undefined ? "" : `id: ${feed}:${id}\n`;
  return `${idField}event: ${name}\ndata: ${data}\n\n`;
}
