import { utf8Header } from "../../http/selector-range.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Outcome } from "../../server/plugin.ts";

/** A reply, as JSON lines and functions get it. Texts are as sent: escape what an output cannot hold. */
export interface AccessLogEntry {
  /** When the request arrived. */
  readonly time: Date;
  /** Request id, as in `X-Request-ID`. */
  readonly id: string;
  /** IP address of the client. */
  readonly address: string;
  /** Name of the authenticated user. */
  readonly user?: string;
  readonly method: string;
  /** Name of the addressed host: lower-case, without port. */
  readonly host: string;
  /** The request target with its query, but without a user and a password. */
  readonly url: string;
  readonly protocol: "http" | "https";
  readonly httpVersion: string;
  readonly status: number;
  /** Bytes of content that were sent. */
  readonly bytes: number;
  /** From the arrival of the header section to the last byte, in milliseconds. */
  readonly durationMs: number;
  /** The client left before all of the reply was sent. */
  readonly aborted: boolean;
  /** The `Referer` field. */
  readonly referer?: string;
  /** The `User-Agent` field. */
  readonly userAgent?: string;
}

/** Describes a finished exchange. It holds no other header fields, since `Authorization` and cookies are secrets. */
export function accessLogEntry(exchange: Exchange, outcome: Outcome, time: Date): AccessLogEntry {
  const { id, address, user, method, host, protocol, httpVersion } = exchange;
  const { status, bytes, durationMs, aborted } = outcome;
  const referer = exchange.header("referer");
  const userAgent = exchange.header("user-agent");
  return {
    time,
    id,
    address,
    ...(user && { user: user.name }),
    method,
    host,
    url: textOf(withoutUserInfo(exchange.url)),
    protocol,
    httpVersion,
    status,
    bytes,
    durationMs: Math.round(durationMs * 1000) / 1000,
    aborted,
    ...(referer !== undefined && { referer: textOf(withoutUserInfo(referer)) }),
    ...(userAgent !== undefined && { userAgent: textOf(userAgent) }),
  };
}

/** Bytes as text: UTF-8 where they are that, else latin1. */
function textOf(bytes: string): string {
  return utf8Header(bytes) ?? bytes;
}

// RFC 3986 §3.2: the authority ends at the first "/", "?" or "#"; of several "@" in it the last one counts.
const userInfo = /^([a-z][a-z\d+.-]*:\/\/)?[^/?#]*@/i;

/** A URL or a request target without the user and password that may stand before its host. */
export function withoutUserInfo(url: string): string {
  return url.startsWith("/") ? url : url.replace(userInfo, "$1");
}
