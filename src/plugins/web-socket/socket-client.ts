import { once } from "node:events";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { FeedPosition } from "../../server/change-feed.ts";
import type { Audience } from "../live/audience.ts";
import type { Receiver } from "../live/broadcast.ts";
import { changeText, gapText, helloText } from "../live/change-message.ts";
import type { LiveClient } from "../live/live-clients.ts";
import { streamItems } from "./stream-item.ts";

/** FIN, and the opcode of text (RFC 6455 §5.2). */
const wholeText = 0x81;

/**
 * A text message as one frame, as servers send it: whole and not masked. All clients can be sent the same bytes, which
 * a library that frames for each of them does not offer.
 */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const headLength = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafeSlow(headLength + length);
  frame[0] = wholeText;
  if (headLength === 2) frame[1] = length;
  else if (headLength === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, headLength);
  return frame;
}

/** Most messages that a client may send from one ping to the next. Only `{"type":"ping"}` is answered. */
const maxReceived = 1_000;

/** A format of messages. */
export interface SocketFormat {
  readonly encode: Receiver["encode"];
  /** The message for missed changes; `undefined` for a format without one. */
  readonly gap: Buffer | undefined;
  /** The message that names feed and id; `undefined` for a format without one. */
  readonly hello: ((position: FeedPosition, path: string | undefined) => Buffer) | undefined;
}

export const jsonFormat: SocketFormat = {
  encode: (change) => textFrame(changeText(change)),
  gap: textFrame(gapText),
  hello: (position, path) => textFrame(helloText(position, path)),
};

/** The ping of scripts in browsers, which cannot send ping frames. */
const ping = '{"type":"ping"}';
const pong = textFrame('{"type":"pong"}');

export const streamItemFormat: SocketFormat = {
  encode: (change) => Buffer.concat(streamItems(change).map(textFrame)),
  gap: undefined,
  hello: undefined,
};

/** Options of {@link SocketClient}. */
export interface SocketClientOptions {
  readonly audience: Audience;
  readonly format: SocketFormat;
  /** Most bytes that may wait for a client to read. */
  readonly maxUnsentBytes: number;
}

/**
 * A connected client. `ws` reads from the connection, answers pings and closes; messages are written to it directly, as
 * frames that all clients share. That is safe as long as `ws` itself does not hold frames back: it does for
 * compression, which is off.
 */
export class SocketClient implements LiveClient {
  readonly audience: Audience;
  readonly encode: Receiver["encode"];
  readonly closed: Promise<void>;
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #format: SocketFormat;
  readonly #maxUnsentBytes: number;
  #hasAnswered = true;
  #received = 0;

  constructor(webSocket: WebSocket, socket: Duplex, { audience, format, maxUnsentBytes }: SocketClientOptions) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.audience = audience;
    this.encode = format.encode;
    this.#format = format;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.closed = new Promise((resolve) => webSocket.once("close", () => resolve()));
    webSocket.on("pong", () => {
      this.#hasAnswered = true;
    });
    webSocket.on("message", (message, isBinary) => this.#receive(String(message), isBinary));
    webSocket.on("error", () => {}); // the client broke the protocol or its connection; `ws` has closed it by now
  }

  get isFull(): boolean {
    return this.#socket.writableNeedDrain;
  }

  write(frame: Buffer): void {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return;
    if (this.#socket.writableLength > this.#maxUnsentBytes) this.close(1013, "too slow");
    else this.#socket.write(frame);
  }

  writeGap(): void {
    if (this.#format.gap) this.write(this.#format.gap);
  }

  writeHello(position: FeedPosition): void {
    if (this.#format.hello) this.write(this.#format.hello(position, this.audience.path));
  }

  async drained(): Promise<void> {
    const over = new AbortController();
    await Promise.race([
      once(this.#socket, "drain", { signal: over.signal }).catch(() => {}), // only ever aborted
      this.closed,
    ]);
    over.abort();
  }

  /** Sends a ping, or disconnects a client that did not answer the last one. */
  beat(): void {
    if (!this.#hasAnswered) {
      this.#webSocket.terminate();
      return;
    }
    this.#hasAnswered = false;
    this.#received = 0;
    this.#webSocket.ping();
  }

  dismiss(): void {
    this.close(1008, "no longer permitted");
  }

  /** Closes with a status code; a client that does not answer within a second is cut off. */
  close(code: number, reason: string): void {
    this.#webSocket.close(code, reason);
  }

  #receive(message: string, isBinary: boolean): void {
    this.#received += 1;
    this.#hasAnswered = true;
    if (isBinary) this.close(1003, "binary");
    else if (this.#received > maxReceived) this.close(1008, "too many messages");
    else if (message === ping) this.write(pong);
  }
}
