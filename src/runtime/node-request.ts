import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { TLSSocket } from "node:tls";
import { isUint8Array } from "node:util/types";
import { HttpError } from "../http/http-error.ts";
import { belowMount, type Mount, mountOf } from "../http/request-target.ts";
import { unavailable } from "../server/admission.ts";
import type { IncomingRequest } from "../server/exchange.ts";

export type NodeRequest = IncomingMessage | Http2ServerRequest;
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** What frameworks add to a request: Express the first three, body parsers the last. */
interface FrameworkRequest {
  readonly url: string;
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly body?: unknown;
}

/** Requests whose client waits for `100 Continue` (RFC 9110 §10.1.1), which is sent when the content is first read. */
export const awaitingContinue: WeakMap<NodeRequest, NodeResponse> = new WeakMap();

/** A request of `node:http` or `node:http2` as the server sees it. */
export class NodeIncoming implements IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly target: string | undefined;
  readonly mount: string;
  readonly headers: IncomingRequest["headers"];
  readonly peer: string;
  readonly encrypted: boolean;
  readonly httpVersion: string;
  readonly isUpgrade: boolean;
  readonly request: NodeRequest;
  refusal: HttpError | undefined;
  readonly #response: NodeResponse;
  readonly #takesOver: boolean;
  #controller: AbortController | undefined;

  /** `mount` is where the server is mounted if no framework says so. */
  constructor(
    request: NodeRequest,
    response: NodeResponse,
    takesOver: "upgrade" | "reply" = "reply",
    mount: Mount = mountOf(),
  ) {
    const { url, originalUrl = url, baseUrl } = request as unknown as FrameworkRequest;
    const cutOff = baseUrl ?? prefixOf(originalUrl, url);
    const prefix = cutOff.endsWith("/") ? cutOff.replace(/\/+$/, "") : cutOff;
    this.request = request;
    this.#response = response;
    this.#takesOver = takesOver === "upgrade";
    this.method = request.method ?? "";
    const isStripped = mount.isStripped && prefix === "" && !this.#takesOver;
    this.url = isStripped ? mount.prefix + originalUrl : originalUrl;
    this.mount = prefix || mount.prefix;
    this.target = prefix === "" && !isStripped ? belowMount(url, mount.prefix) : url;
    this.headers = request.headers;
    this.peer = request.socket.remoteAddress ?? "";
    this.encrypted = (request.socket as Partial<TLSSocket>).encrypted === true;
    this.httpVersion = request.httpVersion;
    this.isUpgrade = this.#takesOver && /^websocket$/i.test(request.headers.upgrade ?? "");
  }

  count(field: string): number {
    const { rawHeaders } = this.request;
    let count = 0;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i];
      if (name?.length === field.length && name.toLowerCase() === field) count += 1;
    }
    return count;
  }

  content(): AsyncIterable<Uint8Array> {
    const request = this.request;
    // Node reads nothing behind the header section of an upgrade: the content would be lost, and a file emptied.
    if (this.#takesOver && hasContent(request)) {
      throw new HttpError(400, "UPGRADE_WITH_CONTENT", "Send content in a request without `Upgrade`; it was not read.");
    }
    if (request.readableDidRead || request.readableEnded) return onceMore(request);
    const waiting = awaitingContinue.get(request);
    if (waiting) {
      awaitingContinue.delete(request);
      waiting.writeContinue();
    }
    return arriving(request);
  }

  signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      onceOver(this.request, this.#response, () => this.#response.writableEnded || controller.abort());
    }
    return this.#controller.signal;
  }
}

/** Whether a connection is the plain object, without events, that adapters for cloud functions have in its place. */
export function isPlain(socket: object | null): boolean {
  return socket !== null && !(socket instanceof EventEmitter);
}

/** Calls `callback` when a response is over, sent or not. */
export function onceOver(request: NodeRequest, response: NodeResponse, callback: () => void): void {
  if (request instanceof Http2ServerRequest) {
    if (request.stream.closed) callback();
    else response.once("close", callback);
    return;
  }
  // A response that waits behind others of its connection (pipelining) gets no event when that closes.
  const { socket } = request;
  if (socket.destroyed) return void callback();
  const told = isPlain(socket) ? undefined : socket.setMaxListeners(0);
  const over = (): void => {
    told?.off("close", over);
    response.off("close", over);
    callback();
  };
  told?.on("close", over); // as many wait as the client has sent
  response.on("close", over);
}

/** The requests of a connection that wait for those before them. */
interface Line {
  /** The last one, which may be answered by now. */
  last: Promise<void>;
  waiting: number;
}

const lines = new WeakMap<object, Line>();

/** Further ones are 503 `OVERLOADED`. Node stops reading while replies wait to be sent, but not while requests wait. */
const mostWaiting = 1_000;

/**
 * Runs `serve` when all that came before on a connection of HTTP/1 is answered: Node hands over pipelined requests at
 * once, and a GET would overtake the PUT before it (RFC 9112 §9.3.2). Behind a reply that closed it, nothing is run.
 */
export function inTurn(incoming: NodeIncoming, response: NodeResponse, serve: () => Promise<void>): void {
  const { request } = incoming;
  if (request instanceof Http2ServerRequest) return void serve();
  const { socket } = request;
  // Node gives the connection to a response when those before it are sent.
  const line = response.socket ? undefined : lines.get(socket);
  if (!line) return void lines.set(socket, { last: serve(), waiting: 0 });
  if (line.waiting === mostWaiting) {
    incoming.refusal = unavailable("OVERLOADED");
    return void serve();
  }
  line.waiting += 1;
  line.last = line.last.then(() => {
    line.waiting -= 1;
    return socket.destroyed || socket.writableEnded ? undefined : serve();
  });
}

/** The prefix that a framework cut off; where nothing was left after that, it added a slash. */
function prefixOf(originalUrl: string, url: string): string {
  if (originalUrl === url) return "";
  const rest = originalUrl.endsWith(url) ? url : url.slice(1);
  return originalUrl.endsWith(rest) ? originalUrl.slice(0, originalUrl.length - rest.length) : "";
}

/** Whether the client announced content, even content of no bytes. */
function hasContent({ headers }: NodeRequest): boolean {
  const { "content-length": length, "transfer-encoding": coding } = headers;
  return (length !== undefined && length !== "0") || coding !== undefined;
}

async function* arriving(request: NodeRequest): AsyncGenerator<Uint8Array, void, undefined> {
  if (!(request instanceof Http2ServerRequest) && request.complete === true && !request.destroyed) {
    // All is here: an iterator would take several times as long to set itself up.
    for (let piece: Uint8Array | null = request.read(); piece; piece = request.read()) yield piece;
    return;
  }
  try {
    // The default would destroy the socket when reading stops early, and with it the reply that says why.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk;
  } catch (cause) {
    throw incomplete(cause);
  }
  // Requests that no connection carries (light-my-request) do not say whether they are complete.
  // In HTTP/2 a request that was cut off is "complete", and its content ends like any other.
  if (request instanceof Http2ServerRequest ? request.aborted : request.complete === false) throw incomplete();
}

function incomplete(cause?: unknown): HttpError {
  return new HttpError(400, "INCOMPLETE_BODY", "The connection ended before all of the content arrived.", { cause });
}

/** What a body parser of the host program has read already: the bytes themselves, never what it made of them. */
async function* onceMore(request: NodeRequest): AsyncGenerator<Uint8Array, void, undefined> {
  const { body } = request as unknown as FrameworkRequest;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const length = request.headers["content-length"] ?? (bytes as Uint8Array | undefined)?.byteLength;
  // Of another length: text that was in another encoding, content that was decompressed, a string that was JSON.
  if (isUint8Array(bytes) && bytes.byteLength === Number(length)) yield bytes;
  else {
    const details = "A body parser read this request before the file server could. Mount the file server before it.";
    throw new HttpError(500, "BODY_CONSUMED", details);
  }
}
