import { HttpError } from "../../http/http-error.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Position } from "../live/broadcast.ts";
import { positionOf, readFeedQuery, wantedPath } from "../live/feed-query.ts";
import { streamItemProtocol } from "./stream-item.ts";

/** 16 bytes in base64 (RFC 6455 §4.1). */
const nonce = /^[A-Za-z0-9+/]{21}[AQgw]==$/;
const noHandshake =
  "This is for web sockets: connect with `new WebSocket(url)`. If that was done, a proxy dropped the field Upgrade, or " +
  "the program does not forward upgrades: files.attach(server).";
const token = /^[!#$%&'*+\-.^_`|~\w]+$/;

/**
 * Checks the opening handshake (RFC 6455 §4.2.1) of a request that the pipeline let through, and returns the
 * subprotocols that the client offers. Throws the error for a wrong one.
 */
export function checkHandshake(exchange: Exchange): readonly string[] {
  const { method, isUpgrade, httpVersion } = exchange;
  if (method !== "GET" && (method !== "HEAD" || isUpgrade)) {
    throw new HttpError(405, "METHOD_NOT_ALLOWED", "Supported here: GET.", { headers: { allow: "GET" } });
  }
  if (!isUpgrade) throw upgradeRequired(noHandshake);
  if (httpVersion !== "1.1") throw invalidHandshake("A web socket needs HTTP/1.1.");
  refuseContent(exchange);
  if (field(exchange, "sec-websocket-version") !== "13") {
    throw upgradeRequired("Version 13 of the web socket protocol is spoken here.", { "sec-websocket-version": "13" });
  }
  if (!nonce.test(field(exchange, "sec-websocket-key"))) {
    throw invalidHandshake("Sec-WebSocket-Key has to be 16 bytes in base64.");
  }
  return offeredProtocols(exchange);
}

/** A value of a field that may be sent once; `""` otherwise. */
function field(exchange: Exchange, name: string): string {
  return exchange.count(name) === 1 ? (exchange.header(name) ?? "") : "";
}

/** Node leaves content in the connection, where it would be read as frames. */
function refuseContent({ headers }: Exchange): void {
  const { "content-length": length, "transfer-encoding": coding } = headers;
  if ((length === undefined || length === "0") && coding === undefined) return;
  throw new HttpError(400, "UPGRADE_WITH_CONTENT", "A handshake has no content.");
}

function offeredProtocols(exchange: Exchange): readonly string[] {
  const header = exchange.header("sec-websocket-protocol");
  if (header === undefined) return [];
  const offered = header.split(",").map((protocol) => protocol.trim());
  if (offered.every((protocol) => token.test(protocol)) && new Set(offered).size === offered.length) return offered;
  throw invalidHandshake("Sec-WebSocket-Protocol has to be a list of different names.");
}

function invalidHandshake(details: string): HttpError {
  return new HttpError(400, "INVALID_HANDSHAKE", details);
}

function upgradeRequired(details: string, headers: Readonly<Record<string, string>> = {}): HttpError {
  const upgrade = { connection: "Upgrade", upgrade: "websocket" };
  return new HttpError(426, "UPGRADE_REQUIRED", details, { headers: { ...upgrade, ...headers } });
}

/** The changes that a client wants, and their format. */
export interface WantedChanges {
  /** See `Audience.path`. */
  readonly path: string | undefined;
  readonly position: Position;
  readonly isStreamItem: boolean;
  /** The subprotocol that is agreed on. */
  readonly protocol: string | undefined;
}

/** Whether a handshake offers our subprotocol. Hot reload connects to `/` with its own, others without any. */
export function offersStreamItems(exchange: Exchange): boolean {
  const offered = exchange.header("sec-websocket-protocol")?.split(",") ?? [];
  return offered.some((each) => each.trim() === streamItemProtocol);
}

/** The changes of a document, for any subprotocol; or those that the query asks for, in the format offered. */
export async function wantedChanges(
  exchange: Exchange,
  document: string | undefined,
  offered: readonly string[],
): Promise<WantedChanges> {
  const isOffered = offered.includes(streamItemProtocol);
  const protocol = isOffered ? streamItemProtocol : undefined;
  if (document !== undefined) {
    return { path: document, position: "now", isStreamItem: true, protocol: protocol ?? offered[0] };
  }
  const query = readFeedQuery(exchange.search);
  if (isOffered && query.since !== undefined) {
    throw new HttpError(400, "INVALID_QUERY", "Stream items have no ids that `since` could name.");
  }
  const position = positionOf(query, exchange.site.changes.name);
  return { path: await wantedPath(exchange, query), position, isStreamItem: isOffered, protocol };
}
