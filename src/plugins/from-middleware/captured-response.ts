import { Buffer } from "node:buffer";
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { finished, PassThrough, Readable } from "node:stream";
import { HttpError } from "../../http/http-error.ts";
import { bodyLength, discard, type Reply, type ReplyHeaders } from "../../server/reply.ts";
import { methodsOf } from "./connect-request.ts";

type Fields = OutgoingHttpHeaders | OutgoingHttpHeader[];
type Done = (error?: Error | null) => void;

/**
 * A response of `node:http` whose output is captured as a {@link Reply} in place of being sent. It calls its own methods
 * the way Node's does, for middleware puts its own in their place: `write` and `end` go through `this.writeHead`.
 *
 * `"finish"` and `"close"` come when the exchange is over, since only then the content has gone out.
 */
export class CapturedResponse extends ServerResponse<IncomingMessage> {
  override readonly socket: Socket;
  /** What was written, as soon as its head is known; rejects when the response is destroyed before that. */
  readonly reply: Promise<Reply>;
  #answered = false;
  #passedOn: Reply | undefined;
  #content: PassThrough | undefined;
  #resolve!: (reply: Reply) => void;
  #reject!: (error: unknown) => void;
  readonly #leave = (): void => {
    this.destroy(new HttpError(499, "CLIENT_LEFT", "The client left before it was answered."));
  };

  constructor(request: IncomingMessage) {
    super(request);
    Object.assign(this, methods);
    this.sendDate = false; // the server's own
    this.socket = request.socket;
    this.socket.once("close", this.#leave);
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (this.socket.destroyed) this.#leave();
  }

  /** Whether {@link reply} is settled. */
  get isAnswered(): boolean {
    return this.#answered;
  }

  /** Writes the reply of the rest of the pipeline, the way a handler under Connect would. */
  passOn(reply: Reply): void {
    const { status, headers, body, accept } = reply;
    if (this.writableEnded || this.destroyed) {
      discard(body);
      return;
    }
    try {
      this.statusCode = status;
      for (const [name, value] of Object.entries(headers)) this.#inherit(name, value);
      this.#passedOn = reply;
      if (accept) this.end();
      else if (body instanceof Readable && this.#hasContent) this.#pipeFrom(body);
      else this.#endWith(body);
    } catch (error) {
      discard(body);
      throw error;
    }
  }

  /** Tells middleware that the exchange is over: `"finish"` where all was sent, then `"close"`. */
  release(): void {
    if (this.destroyed) return;
    const isSent = this.writableEnded && (this.#content?.readableEnded ?? true);
    try {
      if (isSent) this.emit("finish");
    } finally {
      this.destroy();
    }
  }

  override writeHead(statusCode: number, reason?: string | Fields, fields?: Fields): this {
    const headers = typeof reason === "string" ? fields : reason;
    if (headers && !this.headersSent) this.#store(fieldLines(headers)); // Node would print these without storing them
    return typeof reason === "string" ? super.writeHead(statusCode, reason) : super.writeHead(statusCode);
  }

  override flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (this.#hasContent) this.#stream();
    else this.#answer();
  }

  override write(chunk: unknown, encoding?: BufferEncoding | Done | null, done?: Done): boolean {
    if (typeof encoding === "function") return this.write(chunk, undefined, encoding);
    if (this.writableEnded || this.destroyed) return false;
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (this.#hasContent) return this.#stream().write(toBytes(chunk, encoding), done ?? undefined);
    if (done) process.nextTick(done);
    return true;
  }

  override end(chunk?: unknown, encoding?: BufferEncoding | (() => void) | null, done?: () => void): this {
    if (typeof chunk === "function") return this.end(undefined, undefined, chunk as () => void);
    if (typeof encoding === "function") return this.end(chunk, undefined, encoding);
    if (this.writableEnded || this.destroyed) return this;
    const bytes = chunk === undefined || chunk === null ? undefined : toBytes(chunk, encoding);
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (done) this.once("finish", done);
    this.finished = true;
    if (this.#content) this.#content.end(bytes);
    else this.#answer(this.#hasContent ? bytes : undefined);
    return this;
  }

  /** Gives up: before there is a reply, `error` becomes it; afterwards its content fails. */
  override destroy(error?: unknown): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.socket.off("close", this.#leave);
    if (!this.#answered) this.#reject(error ?? new Error("The middleware destroyed its response."));
    this.#answered = true;
    if (this.#content && !this.#content.readableEnded) {
      this.#content.destroy(error instanceof Error ? error : new Error("The content ended early.", { cause: error }));
    }
    process.nextTick(() => this.emit("close"));
    return this;
  }

  /** HEAD, 204 and 304 have no content, whatever is written (RFC 9110 §6.4.1). */
  get #hasContent(): boolean {
    return this.req.method !== "HEAD" && this.statusCode !== 204 && this.statusCode !== 304;
  }

  #store(lines: readonly [name: string, value: OutgoingHttpHeader][]): void {
    for (const [name] of lines) this.removeHeader(name);
    for (const [name, value] of lines) this.appendHeader(name, typeof value === "number" ? String(value) : value);
  }

  /** Takes over a field: the later value wins, except where both count. */
  #inherit(name: string, value: string | readonly string[]): void {
    if (name === "vary") this.setHeader(name, unitedLists(this.getHeader(name), value));
    else if (name === "set-cookie") this.appendHeader(name, value);
    else this.setHeader(name, value);
  }

  #endWith(body: Reply["body"]): void {
    const length = bodyLength(body);
    if (body === undefined || length === undefined) {
      discard(body);
      this.end();
      return;
    }
    // As Express sets it: loggers print it, compression compares it, and HEAD tells it.
    if (!this.hasHeader("content-length")) this.setHeader("content-length", String(length));
    this.end(toBytes(body));
  }

  #pipeFrom(body: Readable): void {
    this.once("close", () => body.destroy());
    finished(body, { writable: false }, (error) => {
      if (error) this.destroy(error);
    });
    this.flushHeaders(); // the first byte may be a long time coming
    body.pipe(this);
  }

  #stream(): PassThrough {
    if (this.#content) return this.#content;
    const content = new PassThrough();
    content.on("error", () => {}); // it may fail before it is read; a later reader gets the error all the same
    content.on("drain", () => this.emit("drain"));
    content.once("close", () => content.readableEnded || this.destroy());
    this.#content = content;
    this.#answer(content);
    return content;
  }

  #answer(body?: Reply["body"]): void {
    if (this.#answered) return;
    this.#answered = true;
    const { body: _replaced, ...passedOn } = this.#passedOn ?? {};
    const headers = replyHeaders(this.getHeaders());
    this.#resolve({ ...passedOn, status: this.statusCode, headers, ...(body !== undefined && { body }) });
  }
}

const methods = methodsOf(CapturedResponse.prototype);

function toBytes(chunk: unknown, encoding?: BufferEncoding | null): Buffer {
  if (typeof chunk === "string") return Buffer.from(chunk, encoding ?? "utf8");
  if (chunk instanceof Uint8Array) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  throw new TypeError(`a response takes strings and bytes, not ${chunk === null ? "null" : typeof chunk}`);
}

/** The header fields given to `writeHead`, which takes an object, pairs, or names and values in turn. */
function fieldLines(fields: Fields): [name: string, value: OutgoingHttpHeader][] {
  if (!Array.isArray(fields)) return Object.entries(fields) as [string, OutgoingHttpHeader][];
  if (Array.isArray(fields[0])) return fields as unknown as [string, OutgoingHttpHeader][];
  const names = fields.filter((_, index) => index % 2 === 0);
  return names.map((name, index) => [String(name), fields[2 * index + 1] ?? ""]);
}

function replyHeaders(headers: OutgoingHttpHeaders): ReplyHeaders {
  const reply: ReplyHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) reply[name] = Array.isArray(value) ? value.map(String) : String(value);
  }
  return reply;
}

/** `Vary` names what each part of the pipeline looked at; a cache that misses one serves wrong pages. */
function unitedLists(...lists: (OutgoingHttpHeader | readonly string[] | undefined)[]): string {
  const names = lists.flat().join(",").split(",");
  const united = new Map(names.map((name) => [name.trim().toLowerCase(), name.trim()]));
  united.delete("");
  return united.has("*") ? "*" : [...united.values()].join(", ");
}
