import { Buffer } from "node:buffer";
import type { Duplex, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { isUint8Array } from "node:util/types";
import * as zlib from "node:zlib";
import type { HttpError, ReplyHeaders } from "../http/http-error.ts";

export type { ReplyHeaders } from "../http/http-error.ts";

/** The content of a reply. A string is sent as UTF-8; a stream is read once, and destroyed when the client leaves. */
export type ReplyBody = string | Uint8Array | Readable;

/**
 * An answer as a plain value; nothing is sent until every plugin has seen it. A plugin may change what `next()`
 * returned or return one of its own.
 */
export interface Reply {
  /** HTTP status code, 200 to 599. */
  status: number;
  headers: ReplyHeaders;
  /** Left out where there is no content (204, 304, HEAD). */
  body?: ReplyBody;
  /** The error that this reply tells the client, where it is one. */
  error?: HttpError;
  /** Takes over the connection of an upgrade request (a web socket handshake); nothing else of the reply is sent. */
  accept?: (socket: Duplex, head: Buffer) => void;
}

/** A reply without content. */
export function emptyReply(status: number, headers: ReplyHeaders = {}): Reply {
  return { status, headers };
}

/** A reply whose content is `value` as JSON. */
export function jsonReply(status: number, value: unknown, headers: ReplyHeaders = {}): Reply {
  return withFields({ status, headers, body: JSON.stringify(value) }, { "content-type": "application/json" });
}

/** A copy of the reply with more header fields; not by a spread, to which V8 adds fields ten times as slowly. */
export function withFields(reply: Reply, ...fields: readonly Readonly<ReplyHeaders>[]): Reply {
  return { ...reply, headers: Object.assign({}, reply.headers, ...fields) };
}

/** The reply, with request header fields added to its `Vary` (RFC 9110 §12.5.5). Names in lower case. */
export function variesBy(reply: Reply, ...fields: readonly string[]): Reply {
  const { vary } = reply.headers;
  if (vary === undefined) return withFields(reply, { vary: fields.join(", ") });
  const known = [vary].flat().flatMap((value) => value.split(/\s*,\s*/).filter(Boolean));
  const names = new Set(known.map((name) => name.toLowerCase()));
  const missing = names.has("*") ? [] : fields.filter((field) => !names.has(field));
  if (missing.length === 0) return reply;
  return withFields(reply, { vary: [...known, ...missing].join(", ") });
}

/** Length of the content in bytes; `undefined` for a stream, whose length only its maker knows. */
export function bodyLength(body: ReplyBody | undefined): number | undefined {
  if (body === undefined) return 0;
  if (typeof body === "string") return Buffer.byteLength(body);
  return isUint8Array(body) ? body.byteLength : undefined;
}

export function isStream(body: ReplyBody | undefined): body is Readable {
  return typeof body === "object" && !isUint8Array(body);
}

/**
 * All of a reply's content, for plugins that change it. A stream is read to its end, and cannot be sent afterwards:
 * return a reply with a body of your own.
 */
export async function bodyBytes({ body }: Reply): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array();
  if (!isStream(body)) return typeof body === "string" ? Buffer.from(body) : body;
  return buffer(body);
}

/**
 * All of a reply's content as text, read as UTF-8 and, where it is compressed, decompressed; see {@link bodyBytes}.
 * Throws a `TypeError` for content in a coding that this version of Node does not know.
 */
export async function bodyText(reply: Reply): Promise<string> {
  const bytes = await bodyBytes(reply);
  const coding = String(reply.headers["content-encoding"] ?? "identity").toLowerCase();
  if (coding === "identity" || bytes.byteLength === 0) return Buffer.from(bytes).toString();
  const { brotliDecompress: br, inflate: deflate, gunzip: gzip } = zlib;
  const zstd = Reflect.get(zlib, "zstdDecompress") as typeof gzip | undefined; // Node 20 does not have it
  const decode = new Map(Object.entries({ br, deflate, gzip, zstd })).get(coding);
  if (!decode) throw new TypeError(`the content of the reply is ${coding}, which is not known here`);
  return String(await promisify(decode as typeof gzip)(bytes));
}

/**
 * The reply with other content in place of its own, and with header fields that go with it: plain, with a weak entity
 * tag, without ranges. A reply without content, such as that to HEAD, stays so.
 */
export function withBody(reply: Reply, body: ReplyBody): Reply {
  const headers = { ...reply.headers };
  for (const name of ["content-encoding", "content-length", "accept-ranges"]) delete headers[name];
  const { etag } = headers;
  if (typeof etag === "string" && !etag.startsWith("W/")) headers["etag"] = `W/${etag}`;
  return { ...reply, headers, ...(reply.body !== undefined && { body }) };
}

/** The first bytes of content, up to the piece with which there are more than `mostBytes`. The rest is discarded. */
export async function beginningOf(content: AsyncIterable<string | Uint8Array>, mostBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of content) {
    pieces.push(Buffer.from(piece as string));
    size += pieces.at(-1)?.byteLength ?? 0;
    if (size > mostBytes) break; // which destroys the stream
  }
  return Buffer.concat(pieces);
}

/** Releases the content of a reply that will not be sent. */
export function discard(body: ReplyBody | undefined): void {
  if (isStream(body)) body.destroy();
}

/** The reply as it is sent. Its header fields are a copy, since a plugin may give the same ones to many clients. */
export function completeReply(
  { id, method }: { readonly id: string; readonly method: string },
  reply: Reply,
  serverHeader?: string,
): Reply {
  const { status, body } = reply;
  const headers: ReplyHeaders = {};
  // By names, which takes half the time of pairs.
  for (const name of Object.keys(reply.headers)) {
    headers[name.toLowerCase()] = reply.headers[name] as ReplyHeaders[string];
  }
  headers["x-request-id"] = id;
  headers["x-content-type-options"] = "nosniff";
  if (serverHeader !== undefined) headers["server"] ??= serverHeader;
  // How content is framed is settled between node and the client.
  if ("transfer-encoding" in headers) delete headers["transfer-encoding"];
  const hasNoContent = status === 204 || status === 304;
  // Of a HEAD without content only the operation can know what a GET would send.
  const length = hasNoContent || (method === "HEAD" && body === undefined) ? undefined : bodyLength(body);
  // Whatever was announced: a plugin may have changed the content.
  if (length !== undefined) headers["content-length"] = String(length);
  if (status === 204) delete headers["content-length"]; // RFC 9110 §8.6
  if (body === undefined || !(hasNoContent || method === "HEAD")) return { ...reply, headers };
  discard(body);
  const { body: _, ...completed } = reply;
  return { ...completed, headers };
}

/** What of a reply reached the client's connection. */
export interface Sent {
  readonly bytes: number;
  /** The client left, or the content failed, before all of it was sent. */
  readonly aborted: boolean;
  /** Why the content failed, where that was not the client's doing. */
  readonly failure?: unknown;
}
