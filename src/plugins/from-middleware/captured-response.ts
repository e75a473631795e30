import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  request,
  ServerResponse,
} from "node:http";
import { duplexPair, finished, Readable } from "node:stream";
import { HttpError } from "../../http/http-error.ts";
import { bodyLength, discard, type Reply, type ReplyHeaders } from "../../server/reply.ts";
import { asConnection } from "./connect-request.ts";

/** More than any middleware writes, in bytes; Node's own limit is for heads that strangers send. */
const maxHeadSize = 1024 * 1024;

/**
 * A response of `node:http` whose output becomes a {@link Reply} in place of being sent. It is Node's own down to its
 * connection, as middleware puts methods of its own in place of those of a response, and an Express application a
 * prototype. At the other end of that connection Node's own client reads what was written.
 */
export class CapturedResponse {
  readonly response: ServerResponse;
  /** What was written, as soon as its head is known; rejects when the response is destroyed before that. */
  readonly reply: Promise<Reply>;
  #content: IncomingMessage | undefined;
  #passedOn: Reply | undefined;
  #resolve!: (reply: Reply) => void;
  #reject!: (error: unknown) => void;

  constructor(asked: IncomingMessage) {
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const [near, far] = duplexPair();
    const response = new ServerResponse(asked);
    this.response = response;
    response.sendDate = false; // the server's own
    response.on("error", () => {}); // that it was written to after its end
    response.once("finish", () => far.end());
    response.assignSocket(asConnection(far, asked.socket));
    far.on("drain", () => response.emit("drain")).resume();
    near.once("close", () => far.destroy());

    const leave = (): unknown =>
      this.fail(new HttpError(499, "CLIENT_LEFT", "The client left before it was answered."));
    asked.socket.once("close", leave);
    far.once("close", () => {
      near.destroy();
      asked.socket.off("close", leave);
      this.#reject(new Error("The middleware destroyed its response."));
    });
    if (asked.socket.destroyed) leave();

    const { method = "GET" } = asked;
    request({ method, maxHeaderSize: maxHeadSize, createConnection: () => near })
      .once("response", (incoming) => this.#answer(incoming))
      .on("error", () => {}) // the connection closes, too
      .end();
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
      for (const [name, value] of Object.entries(headers)) {
        if (name === "vary") response.setHeader(name, unitedLists(response.getHeader(name), value));
        else if (name === "set-cookie") response.appendHeader(name, value);
        else response.setHeader(name, value); // the later value wins where not both count
      }
      this.#passedOn = reply;
      if (accept) {
        response.end();
        this.#resolve({ ...reply, headers: fieldsOf(response.getHeaders()) });
      } else if (body instanceof Readable && this.#hasContent) this.#pipeFrom(body);
      else this.#endWith(body);
    } catch (error) {
      discard(body);
      throw error;
    }
  }

  /** Gives up: the error becomes the reply. `false` where there is one: its content fails, unless it is all there. */
  fail(error: unknown): boolean {
    const { writableEnded, destroyed } = this.response;
    if (writableEnded) return false;
    this.#reject(error);
    this.#content?.destroy(error instanceof Error ? error : new Error("The content failed.", { cause: error }));
    this.response.destroy();
    return !destroyed && !this.#content;
  }

  /** HEAD, 204 and 304 have no content, whatever is written (RFC 9110 §6.4.1). */
  get #hasContent(): boolean {
    const { req, statusCode } = this.response;
    return req.method !== "HEAD" && statusCode !== 204 && statusCode !== 304;
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

  #answer(incoming: IncomingMessage): void {
    const { body: _replaced, ...passedOn } = this.#passedOn ?? {};
    const { statusCode: status = 200, headersDistinct } = incoming;
    const reply = { ...passedOn, status, headers: fieldsOf(headersDistinct) };
    incoming.on("error", () => {}); // it may fail before it is read; a later reader gets the error all the same
    this.#content = incoming;
    if (this.#hasContent) this.#resolve({ ...reply, body: incoming });
    else {
      finished(this.response, () => this.#resolve(reply));
      incoming.resume();
    }
  }
}

/** Header fields of one connection; each has its own. */
const ofConnection: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

function fieldsOf(headers: OutgoingHttpHeaders): ReplyHeaders {
  const fields: Record<string, string | string[]> = {};
  for (const [name, value = []] of Object.entries(headers)) {
    const [first = "", ...others] = [value].flat().map(String);
    if (!ofConnection.has(name)) fields[name] = others.length === 0 ? first : [first, ...others];
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
