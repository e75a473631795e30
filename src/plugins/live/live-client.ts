import { once } from "node:events";
import type { Writable } from "node:stream";
import type { FeedPosition } from "../../server/change-feed.ts";
import type { Audience } from "./audience.ts";
import type { Encode } from "./change-message.ts";

/** Most bytes that may wait for a client; one with more is disconnected. */
export const maxUnsentBytes: number = 1024 * 1024;

/** A client that receives changes through a stream for as long as both sides stay. */
export abstract class LiveClient<Stream extends Writable = Writable> {
  readonly audience: Audience;
  readonly closed: Promise<void>;
  protected readonly stream: Stream;

  constructor(audience: Audience, stream: Stream, closed: Promise<void>) {
    this.audience = audience;
    this.stream = stream;
    this.closed = closed;
  }

  abstract readonly encode: Encode;
  /** Sends bytes of `encode`, or disconnects a client for which too much waits already. */
  abstract write(bytes: Buffer): void;
  /** Tells the client that it misses changes, the last of them at this position. */
  abstract writeGap(position: FeedPosition): void;
  /** Tells the client in which feed it is from now on, and where. */
  abstract writeHello(position: FeedPosition): void;
  /** Shows that the connection is alive, or ends it where the client is not. */
  abstract beat(): void;
  /** Ends the connection of a client that may not receive changes any more. */
  abstract dismiss(): void;

  /** Whether more waits to be sent than the connection takes at the moment. */
  get isFull(): boolean {
    return this.stream.writableNeedDrain;
  }

  /** Resolves when everything written is sent, or the client has left. */
  async drained(): Promise<void> {
    const over = new AbortController();
    await Promise.race([
      once(this.stream, "drain", { signal: over.signal }).catch(() => {}), // aborted, or the stream failed
      this.closed,
    ]);
    over.abort();
  }
}
