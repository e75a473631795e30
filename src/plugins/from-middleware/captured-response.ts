import { type IncomingMessage, type OutgoingHttpHeader, ServerResponse } from "node:http";
import { finished, PassThrough, Readable } from "node:stream";
import { HttpError } from "../../http/http-error.ts";
import { bodyLength, discard, type Reply, type ReplyHeaders } from "../../server/reply.ts";
import { PeerSocket } from "./connect-request.ts";

/** Takes the content of a response, as fast as it is read. */
class ContentSocket extends PeerSocket {
  readonly content: PassThrough = new PassThrough();

  constructor(request: IncomingMessage) {
    const { remoteAddress = "" } = request.socket;
    super(remoteAddress, Reflect.get(request.socket, "encrypted") === true);
    Object.assign(this, { _writev: undefined }); // of net.Socket: pieces come one by one
    this.content.on("error", () => {}); // it may fail before it is read; a later reader gets the error all the same
    this.content.once("close", () => this.destroy());
  }

  override _write(chunk: string | Uint8Array, encoding: BufferEncoding, done: () => void): void {
    if (this.content.write(chunk, encoding)) done();
    else this.content.once("drain", done);
  }
}

/**
 * A response of `node:http` whose output becomes a {@link Reply} in place of being sent. It is Node's own down to its
 * connection, as middleware puts methods of its own in place of those of a response, and an Express application a
 * prototype.
 */
export class CapturedResponse {
  readonly response: ServerResponse;
  /** What was written, as soon as its head is known; rejects when the response is destroyed before that. */
  readonly reply: Promise<Reply>;
  /** Whether {@link reply} is settled. */
  isAnswered = false;
  readonly #socket: ContentSocket;
  #passedOn: Reply | undefined;
  #resolve!: (reply: Reply) => void;
  #reject!: (error: unknown) => void;

  constructor(request: IncomingMessage) {
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const response = new ServerResponse(request);
    const socket = new ContentSocket(request);
    this.response = response;
    this.#socket = socket;
    response.sendDate = false; // the server's own
    response.on("error", () => {}); // that it was written to after its end
    response.once("finish", () => socket.content.end());
    response.assignSocket(socket);
    socket.on("drain", () => response.emit("drain"));

    const leave = (): void => this.fail(new HttpError(499, "CLIENT_LEFT", "The client left before it was answered."));
    request.socket.once("close", leave);
    socket.once("close", () => {
      request.socket.off("close", leave);
      this.fail(new Error("The middleware destroyed its response."));
    });
    if (request.socket.destroyed) leave();

    const { writeHead } = response;
    response.writeHead = (...head: unknown[]) => {
      Reflect.apply(writeHead, response, head);
      this.#answer();
      return response;
    };
  }

  /** Writes the reply of the rest of the pipeline, the way a handler under Connect would. */
  passOn(reply: Reply): void {
    const { response } = this;
    const { status, headers, body, accept } = reply;
    if (response.writableEnded || response.destroyed) {
      discard(body);
      return;
    }
    try {
      response.statusCode = status;
      for (const [name, value] of Object.entries(headers)) this.#inherit(name, value);
      this.#passedOn = reply;
      if (accept) response.end();
      else if (body instanceof Readable && this.#hasContent) this.#pipeFrom(body);
      else this.#endWith(body);
    } catch (error) {
      discard(body);
      throw error;
    }
  }

  /** Gives up: before there is a reply, the error becomes it; afterwards its content fails, unless it is all there. */
  fail(error: unknown): void {
    if (this.isAnswered && this.response.writableEnded) return;
    this.isAnswered = true;
    this.#reject(error);
    this.#socket.content.destroy(error instanceof Error ? error : new Error("The content failed.", { cause: error }));
    this.#socket.destroy();
  }

  /** HEAD, 101, 204 and 304 have no content, whatever is written (RFC 9110 §6.4.1). */
  get #hasContent(): boolean {
    const { req, statusCode } = this.response;
    return req.method !== "HEAD" && statusCode >= 200 && statusCode !== 204 && statusCode !== 304;
  }

  /** Takes over a field: the later value wins, except where both count. */
  #inherit(name: string, value: string | readonly string[]): void {
    const { response } = this;
    if (name === "vary") response.setHeader(name, unitedLists(response.getHeader(name), value));
    else if (name === "set-cookie") response.appendHeader(name, value);
    else response.setHeader(name, value);
  }

  #endWith(body: Reply["body"]): void {
    const { response } = this;
    const length = bodyLength(body);
    if (body === undefined || body instanceof Readable || length === undefined) {
      discard(body);
      response.end();
      return;
    }
    // As Express sets it: loggers print it, compression compares it, and HEAD tells it.
    if (!response.hasHeader("content-length")) response.setHeader("content-length", String(length));
    response.end(body);
  }

  #pipeFrom(body: Readable): void {
    this.response.once("close", () => body.destroy());
    finished(body, { writable: false }, (error) => {
      if (error) this.fail(error);
    });
    this.response.flushHeaders(); // the first byte may be a long time coming
    body.pipe(this.response);
  }

  /** The head is as Node is about to send it. It goes no further, and neither does the framing of the content. */
  #answer(): void {
    const { response } = this;
    const head = String(Reflect.get(response, "_header"));
    Object.assign(response, { _headerSent: true, chunkedEncoding: false });
    const { body: _replaced, ...passedOn } = this.#passedOn ?? {};
    const reply = { ...passedOn, status: response.statusCode, headers: fieldsOf(head) };
    if (!this.#hasContent) {
      response.once("finish", () => this.#settle(reply));
      return;
    }
    this.#settle({ ...reply, body: this.#socket.content });
  }

  #settle(reply: Reply): void {
    this.isAnswered = true;
    this.#resolve(reply);
  }
}

/** Header fields of one connection; each has its own. */
const ofConnection: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

function fieldsOf(head: string): ReplyHeaders {
  const fields: Record<string, string | string[]> = {};
  for (const [, name = "", value = ""] of head.matchAll(/^([^\s:]+): (.*)\r$/gm)) {
    const key = name.toLowerCase();
    const before = fields[key];
    if (!ofConnection.has(key)) fields[key] = before === undefined ? value : [before, value].flat();
  }
  return fields;
}

/** `Vary` names what each part of the pipeline looked at; a cache that misses one serves wrong pages. */
function unitedLists(...lists: (OutgoingHttpHeader | readonly string[] | undefined)[]): string {
  const names = lists.flat().join(",").split(",");
  const united = new Map(names.map((name) => [name.trim().toLowerCase(), name.trim()]));
  united.delete("");
  return united.has("*") ? "*" : [...united.values()].join(", ");
}
