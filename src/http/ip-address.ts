import { isIP, isIPv4, isIPv6 } from "node:net";

const mappedPrefix = "::ffff:";
const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * The canonical spelling of an IP address, so that equal addresses are equal strings: IPv6 as RFC 5952 writes it,
 * without a zone; an IPv4-mapped one (`::ffff:192.0.2.1`, what a dual-stack socket reports) as the IPv4 address.
 * `undefined` for anything but an address.
 */
export function canonicalAddress(text: string): string | undefined {
  if (text.startsWith(mappedPrefix) && isIPv4(text.slice(mappedPrefix.length))) return text.slice(mappedPrefix.length);
  if (isIP(text) !== 6) return isIP(text) === 4 ? text : undefined;
  const [address = ""] = text.split("%");
  const canonical = canonicalIPv6(address);
  return canonical && fromMapped(canonical);
}

/** An IPv6 address as RFC 5952 writes it; `undefined` for anything else, and for one with a zone. */
export function canonicalIPv6(text: string): string | undefined {
  if (!isIPv6(text) || text.includes("%")) return undefined;
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}

function fromMapped(address: string): string {
  const [, high, low] = mapped.exec(address) ?? [];
  if (high === undefined || low === undefined) return address;
  return [high, low].map(octets).join(".");
}

function octets(group: string): string {
  const value = Number.parseInt(group, 16);
  return `${value >> 8}.${value & 0xff}`;
}
