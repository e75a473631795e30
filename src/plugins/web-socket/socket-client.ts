import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Change, FeedPosition } from "../../server/change-feed.ts";
import type { Audience } from "../live/audience.ts";
import { changeText, type Encode, gapText, helloText } from "../live/change-message.ts";
import { LiveClient, maxUnsentBytes } from "../live/live-client.ts";
import { streamItems } from "./stream-item.ts";

/** FIN, and the opcode of text (RFC 6455 §5.2). */
const wholeText = 0x81;

/** A text message as one frame, which all clients are sent; a library would frame it for each of them. */
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

/** The ping of scripts in browsers, which cannot send ping frames. */
const ping = '{"type":"ping"}';
const pong = textFrame('{"type":"pong"}');

const gap = textFrame(gapText);

const jsonMessage = (change: Change): Buffer => textFrame(changeText(change));
const streamItemMessages = (change: Change): Buffer => Buffer.concat(streamItems(change).map(textFrame));

/**
 * A connected client. `ws` reads from the connection, answers pings and closes; messages are written to it directly, as
 * frames that all clients share. That is safe as long as `ws` itself does not hold frames back: it does for
 * compression, which is off.
 */
export class SocketClient extends LiveClient {
  readonly encode: Encode;
  readonly #webSocket: WebSocket;
  readonly #isStreamItem: boolean;
  #hasAnswered = true;
  #received = 0;

  constructor(webSocket: WebSocket, socket: Duplex, audience: Audience, isStreamItem: boolean) {
    super(audience, socket, new Promise((resolve) => webSocket.once("close", () => resolve())));
    this.#webSocket = webSocket;
    this.encode = isStreamItem ? streamItemMessages : jsonMessage;
    this.#isStreamItem = isStreamItem;
    webSocket.on("pong", () => {
      this.#hasAnswered = true;
    });
    webSocket.on("message", (message, isBinary) => {
      this.#received += 1;
      this.#hasAnswered = true;
      if (isBinary) this.close(1003, "binary");
      else if (this.#received > maxReceived) this.close(1008, "too many messages");
      else if (String(message) === ping) this.write(pong);
    });
    webSocket.on("error", () => {}); // the client broke the protocol or its connection; `ws` has closed it by now
  }

  write(frame: Buffer): void {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return;
    if (this.stream.writableLength > maxUnsentBytes) this.close(1013, "too slow");
    else this.stream.write(frame);
  }

  writeGap(): void {
    if (!this.#isStreamItem) this.write(gap);
  }

  writeHello(position: FeedPosition): void {
    if (!this.#isStreamItem) this.write(textFrame(helloText(position, this.audience.path)));
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
}
