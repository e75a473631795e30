import { HttpError } from "../../http/http-error.ts";
import { isCrossSite } from "../../http/origin.ts";
import { parseHost } from "../../http/request-target.ts";
import type { Exchange } from "../../server/exchange.ts";

/** 16 bytes in base64 (RFC 6455 §4.1). */
const nonce = /^[A-Za-z0-9+/]{21}[AQgw]==$/;
const token = /^[!#$%&'*+\-.^_`|~\w]+$/;

/**
 * Checks the opening handshake (RFC 6455 §4.2.1) of a request that the pipeline let through, and returns the subprotocols
 * that the client offers. Throws what is to be answered instead.
 */
export function checkHandshake(exchange: Exchange, allowedOrigins: ReadonlySet<string>): readonly string[] {
  const { method, isUpgrade, httpVersion } = exchange;
  if (method !== "GET" && (method !== "HEAD" || isUpgrade)) {
    throw new HttpError(405, "METHOD_NOT_ALLOWED", "Supported here: GET.", { headers: { allow: "GET" } });
  }
  if (!isUpgrade) throw upgradeRequired("This is for web sockets: connect with `new WebSocket(url)`.");
  if (httpVersion !== "1.1") throw invalidHandshake("A web socket needs HTTP/1.1.");
  refuseContent(exchange);
  if (field(exchange, "sec-websocket-version") !== "13") {
    throw upgradeRequired("Version 13 of the web socket protocol is spoken here.", { "sec-websocket-version": "13" });
  }
  if (!nonce.test(field(exchange, "sec-websocket-key"))) {
    throw invalidHandshake("Sec-WebSocket-Key has to be 16 bytes in base64.");
  }
  if (exchange.count("origin") > 1) throw invalidHandshake("There are several Origin fields.");
  if (isForeign(exchange, allowedOrigins)) {
    throw new HttpError(403, "CROSS_SITE", "A page of another site may not connect here.");
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

/** Browsers let pages connect to any site, with the user's credentials. Only the server can tell them apart. */
function isForeign({ headers, protocol, host }: Exchange, allowedOrigins: ReadonlySet<string>): boolean {
  return isCrossSite(headers, { protocol, host: authorityOf(headers, host) }, allowedOrigins);
}

/**
 * Host and port as the browser knows them. Behind a proxy that is trusted, `host` is the forwarded one; where that has the
 * same name as the server itself, its port is what counts. No page can set either field.
 */
function authorityOf(headers: Exchange["headers"], host: string): string {
  const forwarded = headers["x-forwarded-host"]?.toString().split(",", 1)[0]?.trim();
  const candidates = [forwarded, headers.host].filter((each) => each !== undefined && names(each, host));
  return candidates[0] ?? host;
}

function names(authority: string, host: string): boolean {
  try {
    return parseHost(authority) === host;
  } catch {
    return false; // whatever it is, it is not this host
  }
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
