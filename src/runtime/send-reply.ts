import { Buffer } from "node:buffer";
import { type OutgoingHttpHeaders, OutgoingMessage, ServerResponse } from "node:http";
import { constants, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Readable } from "node:stream";
import { discard, isStream, type Reply, type Sent } from "../server/reply.ts";
import { isPieceStream } from "../storage/storage.ts";
import { isPlain, type NodeRequest, type NodeResponse, onceOver } from "./node-request.ts";

/** Most of an unread request that is read and thrown away so that the connection can be used again, in bytes. */
const maxDrained = 64 * 1024;
/** How long a client that is still sending may take to read a reply that does not want its content, in milliseconds. */
const lingerMs = 1_000;

// RFC 9113 §8.2.2: what belongs to one connection of HTTP/1 is an error in HTTP/2.
const connectionHeaders = ["connection", "keep-alive", "proxy-connection", "upgrade"];

/**
 * Sends a reply; the only place that writes to a response of `node:http` or `node:http2`. With `isLast` the connection
 * is closed afterwards. Throws, with nothing sent, for a header field that HTTP does not know.
 */
export function sendReply(
  request: NodeRequest,
  response: NodeResponse,
  reply: Reply,
  isLast = false,
): Promise<Sent> | Sent {
  const { body } = reply;
  // The client is gone, or another handler has answered: under Express perhaps a middleware that limits the time.
  if (request.socket.destroyed || response.headersSent || response.writableEnded) {
    discard(body);
    return { bytes: 0, aborted: true };
  }
  const unread = unreadContent(request);
  try {
    writeHead(request, response, reply, isLast || unread === "much");
  } catch (error) {
    discard(body);
    throw error;
  }
  return isStream(body)
    ? sendStream(request, response, reply, body, unread)
    : sendWhole(request, response, body, unread);
}

/** Whether what is written goes to the connection itself. Express's `compression` keeps it, and never calls back. */
function writesAtOnce(response: NodeResponse): response is ServerResponse {
  const { write, end } = OutgoingMessage.prototype;
  const isOwn = response instanceof ServerResponse && response.write === write && response.end === end;
  return isOwn && !isPlain(response.socket);
}

type Unread = "nothing" | "little" | "much";

function unreadContent(request: NodeRequest): Unread {
  if (request.complete) return "nothing";
  if (request instanceof Http2ServerRequest) return request.stream.endAfterHeaders ? "nothing" : "much";
  const { "content-length": length, "transfer-encoding": coding, expect } = request.headers;
  if (coding === undefined && (length === undefined || length === "0")) return "nothing";
  // A client that waits for "100 Continue" may now send the content or not: the connection cannot be used again.
  return coding === undefined && expect === undefined && Number(length) <= maxDrained ? "little" : "much";
}

function writeHead(request: NodeRequest, response: NodeResponse, reply: Reply, closeAfter: boolean): void {
  const headers = reply.headers as OutgoingHttpHeaders; // made for this reply alone, see `completeReply`
  if (request.httpVersionMajor !== 1) for (const name of connectionHeaders) delete headers[name];
  else if (closeAfter) headers["connection"] = "close";
  // node:http and node:http2 take the same arguments here, but TypeScript sees two signatures.
  (response as { writeHead(status: number, headers: OutgoingHttpHeaders): unknown }).writeHead(reply.status, headers);
}

function sendWhole(
  request: NodeRequest,
  response: NodeResponse,
  body: string | Uint8Array | undefined,
  unread: Unread,
): Promise<Sent> | Sent {
  const bytes = body === undefined ? 0 : Buffer.byteLength(body);
  if (unread === "nothing" && writesAtOnce(response)) {
    response.end(body);
    if (isHandedOver(response)) return { bytes, aborted: false };
    return completion(request, response, () => ({ bytes, isWhole: true }));
  }
  const sent = completion(request, response, () => ({ bytes, isWhole: true }));
  if (unread === "much") {
    flushHeaders(response);
    if (body !== undefined) (response as NodeJS.WritableStream).write(body);
    endAfterDraining(request, response);
    return sent;
  }
  if (unread === "little") request.resume();
  if (body === undefined) response.end();
  else response.end(body);
  return sent;
}

/** Whether the connection has taken all of a reply already: there is nothing to wait for. */
function isHandedOver({ socket, writableLength }: ServerResponse): boolean {
  return socket !== null && !socket.destroyed && !socket.errored && writableLength === 0;
}

async function sendStream(
  request: NodeRequest,
  response: NodeResponse,
  { headers }: Reply,
  body: Readable,
  unread: Unread,
): Promise<Sent> {
  const announced = headers["content-length"];
  // If it may take long (events, a long listing), the client learns at once that it is answered.
  if (announced === undefined) flushHeaders(response);
  let bytes = 0;
  let isWhole = false;
  let isOver = false;
  let failure: unknown;
  let wake = (): void => {};
  const sent = completion(request, response, () => ({ bytes, isWhole }));
  onceOver(request, response, () => {
    isOver = true;
    body.destroy();
    wake();
  });
  response.on("drain", () => wake());

  const count = (piece: string | Uint8Array): void => {
    if (isOver) throw new Error("the client left");
    const length = Buffer.byteLength(piece);
    // The surplus would be read as the beginning of the next reply.
    if (bytes + length > Number(announced ?? Number.POSITIVE_INFINITY)) throw wrongLength(announced);
    bytes += length;
  };
  try {
    const isUnobserved = body.eventNames().length === 0 && !body.destroyed; // by plugins
    if (isPieceStream(body) && isUnobserved && writesAtOnce(response)) {
      await body.eachPiece(async (piece) => {
        count(piece);
        await new Promise<void>((resolve) => {
          wake = resolve;
          response.write(piece, () => resolve());
        });
      });
    } else {
      body.once("close", () => wake()); // perhaps because the client does not read, which nothing else tells
      for await (const piece of body) {
        count(piece);
        const isFull = (response as NodeJS.WritableStream).write(piece) === false; // not where it says nothing
        if (isFull) await new Promise<void>((resolve) => (wake = resolve));
      }
    }
    if (announced !== undefined && bytes < Number(announced)) throw wrongLength(announced);
    isWhole = true;
    if (unread === "much") endAfterDraining(request, response);
    else {
      request.resume();
      response.end();
    }
  } catch (error) {
    if (!isOver) {
      failure = error;
      // Content that fails half-way must not look complete (RFC 9112 §8). What was written just now goes out first.
      process.nextTick(cut, response);
    }
  }
  const outcome = await sent;
  return failure === undefined ? outcome : { ...outcome, failure };
}

function cut(response: NodeResponse): void {
  // Without an error node resets the stream with NO_ERROR, which a client may take for the end of the content.
  if (response instanceof Http2ServerResponse) response.stream.destroy(new Error("the content of the reply failed"));
  else response.destroy();
}

function wrongLength(announced: unknown): Error {
  return new Error(`the content of the reply does not have the ${announced} bytes of its content-length`);
}

/** Not every framework's response that passes for one of node's has the method. */
function flushHeaders(response: NodeResponse): void {
  (response as { flushHeaders?: () => void }).flushHeaders?.();
}

/** Settles when the last byte was handed to the connection, or the client had left. */
function completion(
  request: NodeRequest,
  response: NodeResponse,
  written: () => { bytes: number; isWhole: boolean },
): Promise<Sent> {
  return new Promise((resolve) => {
    if (response instanceof Http2ServerResponse) {
      const { stream } = response;
      // "finish" comes with every "close" here, also of a stream that was reset.
      response.once("close", () => {
        const isReset = stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
        const { bytes, isWhole } = written();
        resolve({ bytes: Math.max(0, bytes - stream.writableLength), aborted: isReset || !isWhole });
      });
      return;
    }
    // "finish" comes even where a client that left has made the writing fail.
    response.once("finish", () => resolve({ bytes: written().bytes, aborted: request.socket.destroyed }));
    onceOver(request, response, () => {
      // No effect after "finish".
      const { bytes, isWhole } = written();
      const waiting = response.writableLength + (response.socket?.writableLength ?? 0);
      resolve({ bytes: Math.max(0, bytes - waiting), aborted: !isWhole || waiting > 0 });
    });
  });
}

/** Ends a reply to a client that is still sending, and would lose it if the connection closed now (RFC 9112 §9.6). */
function endAfterDraining(request: NodeRequest, response: NodeResponse): void {
  if (request instanceof Http2ServerRequest) {
    response.end();
    // NO_ERROR: the reply counts, the rest of the content is not wanted (RFC 9113 §8.1). Clients of Node 22 that get it
    // together with the end of a reply without content never see the reply.
    drain(request, () => request.complete || request.stream.close());
    return;
  }
  drain(request, () => response.end());
}

/** Throws away what comes, 64 KiB at most; calls `then` when the other side is done, at the latest after a second. */
export function drain(source: Readable, then: () => void): void {
  let drained = 0;
  const stop = (): void => {
    clearTimeout(timer);
    source.off("data", count).off("end", stop).off("close", stop).pause();
    then();
  };
  const count = (chunk: Uint8Array): void => {
    drained += chunk.byteLength;
    if (drained > maxDrained) source.pause(); // and wait: the client may be about to read the reply
  };
  const timer = setTimeout(stop, lingerMs).unref();
  source.on("data", count).once("end", stop).once("close", stop).resume();
}
