import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import type { IncomingRequest } from "./exchange.ts";
import { HttpError } from "./http-error.ts";

export type NodeRequest = IncomingMessage | Http2ServerRequest;
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** What frameworks add to a request: Express the first three, body parsers the last. */
interface FrameworkRequest {
  readonly url: string;
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly body?: unknown;
}

/** Requests whose client waits for `100 Continue` before it sends the content (RFC 9110 §10.1.1). */
const awaitingContinue = new WeakMap<NodeRequest, NodeResponse>();

/** Notes that the client sends the content only when told to, which happens when it is first read. */
export function holdContinue(request: NodeRequest, response: NodeResponse): void {
  awaitingContinue.set(request, response);
}

/** A request of `node:http` or `node:http2` as the server sees it. */
export class NodeIncoming implements IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly target: string;
  readonly mount: string;
  readonly headers: IncomingRequest["headers"];
  readonly peer: string;
  readonly encrypted: boolean;
  readonly httpVersion: string;
  readonly isUpgrade: boolean;
  readonly #request: NodeRequest;
  readonly #answersOn: NodeResponse | Duplex;
  #controller: AbortController | undefined;

  /** `answersOn` is the response, or for an upgrade the bare socket. */
  constructor(request: NodeRequest, answersOn: NodeResponse | Duplex) {
    const { url, originalUrl = url, baseUrl } = request as unknown as FrameworkRequest;
    const prefix = baseUrl ?? originalUrl.slice(0, originalUrl.length - url.length);
    this.#request = request;
    this.#answersOn = answersOn;
    this.method = request.method ?? "";
    this.url = originalUrl;
    this.mount = prefix.endsWith("/") ? prefix.replace(/\/+$/, "") : prefix;
    this.target = url;
    this.headers = request.headers;
    this.peer = request.socket.remoteAddress ?? "";
    this.encrypted = request.socket instanceof TLSSocket;
    this.httpVersion = request.httpVersion;
    this.isUpgrade = answersOn instanceof Duplex && /^websocket$/i.test(request.headers.upgrade ?? "");
  }

  count(field: string): number {
    const { rawHeaders } = this.#request;
    let count = 0;
    for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === field) count += 1;
    return count;
  }

  content(): AsyncIterable<Uint8Array> {
    const request = this.#request;
    if (request.readableDidRead || request.readableEnded)
      return onceMore((request as unknown as FrameworkRequest).body);
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
      const answersOn = this.#answersOn;
      this.#controller = controller;
      const abortUnlessDone = (): void => {
        if (!answersOn.writableEnded) controller.abort();
      };
      if (this.#request.socket.destroyed) abortUnlessDone();
      else answersOn.once("close", abortUnlessDone);
    }
    return this.#controller.signal;
  }
}

async function* arriving(request: NodeRequest): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    // The default would destroy the socket when reading stops early, and with it the reply that says why.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk;
  } catch (cause) {
    throw incomplete(cause);
  }
  if (!request.complete) throw incomplete();
}

function incomplete(cause?: unknown): HttpError {
  return new HttpError(400, "INCOMPLETE_BODY", "The connection ended before all of the content arrived.", { cause });
}

/** What a body parser of the host program has read already. Only the bytes themselves will do, never a parsed object. */
async function* onceMore(body: unknown): AsyncGenerator<Uint8Array, void, undefined> {
  if (body instanceof Uint8Array) yield body;
  else if (typeof body === "string") yield Buffer.from(body);
  else {
    throw new HttpError(
      500,
      "BODY_CONSUMED",
      "A body parser read the content of this request before the file server could. Mount the file server before it.",
    );
  }
}
