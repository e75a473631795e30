import { Buffer } from "node:buffer";
import { type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Http2ServerRequest } from "node:http2";
import type { Readable } from "node:stream";
import type { NodeRequest, NodeResponse } from "./node-request.ts";
import type { Reply, ReplyBody } from "./reply.ts";

/** What of a reply reached the client's connection. */
export interface Sent {
  /** Bytes of content. */
  readonly bytes: number;
  /** The client left, or the content failed, before all of it was sent. */
  readonly aborted: boolean;
}

/** Most of an unread request that is read and thrown away so that the connection can be used again, in bytes. */
const maxDrained = 64 * 1024;
/** How long a client that is still sending may take to read a reply that does not want its content, in milliseconds. */
const lingerMs = 1_000;

/** Sends a reply; the only place that writes to a response of `node:http` or `node:http2`. Never rejects. */
export async function sendReply(request: NodeRequest, response: NodeResponse, reply: Reply): Promise<Sent> {
  const { body } = reply;
  if (response.destroyed || response.writableEnded) {
    discard(body);
    return { bytes: 0, aborted: true };
  }
  const unread = unreadContent(request);
  writeHead(request, response, reply, unread === "much");
  if (!isStream(body)) return sendWhole(request, response, body, unread);
  // Where nobody knows how long it takes (events, a long listing), the client learns at once that it is answered.
  if (reply.headers["content-length"] === undefined) (response as Partial<ServerResponse>).flushHeaders?.();
  return sendStream(request, response, body);
}

/** Releases the content of a reply that will not be sent. */
export function discard(body: ReplyBody | undefined): void {
  if (isStream(body)) body.destroy();
}

export function isStream(body: ReplyBody | undefined): body is Readable {
  return typeof body === "object" && !(body instanceof Uint8Array);
}

function writeHead(request: NodeRequest, response: NodeResponse, reply: Reply, closeAfter: boolean): void {
  const headers: OutgoingHttpHeaders = { ...reply.headers } as OutgoingHttpHeaders;
  if (closeAfter && request.httpVersionMajor === 1) headers["connection"] = "close";
  // node:http and node:http2 take the same arguments here, but TypeScript sees two signatures.
  (response as { writeHead(status: number, headers: OutgoingHttpHeaders): unknown }).writeHead(reply.status, headers);
}

function sendWhole(
  request: NodeRequest,
  response: NodeResponse,
  body: string | Uint8Array | undefined,
  unread: "nothing" | "little" | "much",
): Promise<Sent> {
  const bytes = body === undefined ? 0 : Buffer.byteLength(body);
  const sent = completion(response, () => ({ bytes, isWhole: true }));
  if (unread === "much") {
    if (body === undefined)
      (response as ServerResponse).flushHeaders(); // HTTP/2 was sent on its way above
    else (response as NodeJS.WritableStream).write(body);
    drainThenEnd(request, response);
    return sent;
  }
  if (unread === "little") request.resume();
  if (body === undefined) response.end();
  else response.end(body);
  return sent;
}

function sendStream(request: NodeRequest, response: NodeResponse, body: Readable): Promise<Sent> {
  let bytes = 0;
  const sent = completion(response, () => ({ bytes, isWhole: body.readableEnded }));
  body.on("data", (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (!(response as NodeJS.WritableStream).write(chunk)) body.pause();
  });
  response.on("drain", () => body.resume());
  body.once("end", () => {
    response.end();
    request.resume();
  });
  // Content that fails half-way must not look complete: cut the connection (RFC 9112 §8), or reset the HTTP/2 stream.
  body.once("error", () => response.destroy());
  response.once("close", () => body.destroy());
  return sent;
}

/** Settles when the last byte was handed to the connection, or the client had left. */
function completion(response: NodeResponse, written: () => { bytes: number; isWhole: boolean }): Promise<Sent> {
  return new Promise((resolve) => {
    // "finish" comes even where a client that left has made the writing fail, and the response has no socket then.
    const socket = response instanceof ServerResponse ? response.socket : null;
    response.once("finish", () => resolve({ bytes: written().bytes, aborted: socket?.destroyed === true }));
    response.once("close", () => {
      // No effect after "finish".
      const { bytes, isWhole } = written();
      const waiting = response.writableLength + (response.socket?.writableLength ?? 0);
      resolve({ bytes: Math.max(0, bytes - waiting), aborted: !isWhole || waiting > 0 });
    });
  });
}

/** How much of the request's content nobody has read. */
function unreadContent(request: NodeRequest): "nothing" | "little" | "much" {
  const { "content-length": length, "transfer-encoding": coding, expect } = request.headers;
  const hasContent = (length !== undefined && length !== "0") || coding !== undefined;
  if (request instanceof Http2ServerRequest)
    return request.complete || request.stream.endAfterHeaders ? "nothing" : "much";
  if (!hasContent || request.complete) return "nothing";
  // A client that waits for "100 Continue" may now send the content or not: the connection cannot be used again.
  return coding === undefined && expect === undefined && Number(length) <= maxDrained ? "little" : "much";
}

/**
 * Ends a reply to a client that is still sending. Closing at once would make its system throw the reply away before the
 * client has read it (RFC 9112 §9.6), so a little more is read first.
 */
function drainThenEnd(request: NodeRequest, response: NodeResponse): void {
  if (request instanceof Http2ServerRequest) {
    response.end();
    request.stream.close(); // NO_ERROR: the reply counts, the rest of the content is not wanted (RFC 9113 §8.1)
    return;
  }
  let drained = 0;
  const end = (): void => {
    clearTimeout(timer);
    request.off("data", drain).off("end", end).off("close", end).pause();
    response.end();
  };
  const drain = (chunk: Uint8Array): void => {
    drained += chunk.byteLength;
    if (drained > maxDrained) end();
  };
  const timer = setTimeout(end, lingerMs).unref();
  request.on("data", drain).once("end", end).once("close", end).resume();
}
