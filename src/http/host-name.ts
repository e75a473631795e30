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

function bracketed(address: string | undefined): string | undefined {
  const canonical = address && canonicalIPv6(address);
  return canonical && `[${canonical}]`;
}
