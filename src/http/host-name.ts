import { isIPv4 } from "node:net";
import { HttpError } from "./http-error.ts";
import { canonicalIPv6 } from "./ip-address.ts";

const maxNameLength = 253;
const name = /^([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::(\d{0,5}))?$/;
const literal = /^\[([0-9a-f:.]+)\](?::(\d{0,5}))?$/;

/**
 * The name in a `Host` field (RFC 9110 §7.2): lower-case, without port and trailing dot, an IPv6 address in brackets in
 * its shortest spelling. `""` if none was sent. Internationalised names arrive in Punycode.
 *
 * Throws 400 `INVALID_HOST` for everything else.
 */
export function parseHost(value: string | undefined): string {
  if (value === undefined || value === "") return "";
  const text = value.toLowerCase();
  const [, host, port = ""] = (text.startsWith("[") ? literal : name).exec(text) ?? [];
  const canonical = text.startsWith("[") ? bracketed(host) : host;
  if (canonical === undefined || canonical.length > maxNameLength || Number(port) > 65_535) {
    throw new HttpError(400, "INVALID_HOST", "The Host header is not a host name with an optional port.");
  }
  return canonical;
}

/**
 * Whether a name, as {@link parseHost} gives it, cannot be one that somebody else has registered: an IP address, `localhost`
 * or a name below it (RFC 6761 §6.3), or none at all, which no browser sends.
 */
export function isLocalName(host: string): boolean {
  return host === "" || host.startsWith("[") || isIPv4(host) || /(?:^|\.)localhost$/.test(host);
}

function bracketed(address: string | undefined): string | undefined {
  const canonical = address && canonicalIPv6(address);
  return canonical && `[${canonical}]`;
}
