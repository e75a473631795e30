import type { IncomingHttpHeaders } from "node:http";
import { isIP, isIPv4, isIPv6 } from "node:net";
import proxyAddr from "proxy-addr";

/**
 * Which proxies to trust, as in Express: `false` none, `true` all, a number of hops counted from the server, addresses
 * and CIDR ranges (an array, or separated by commas; also `"loopback"`, `"linklocal"` and `"uniquelocal"`), or a
 * function of an address and its distance, the socket's peer being 0.
 */
export type TrustProxy = boolean | number | string | readonly string[] | ((address: string, hop: number) => boolean);

/** The header in which the trusted proxies report their clients. */
export type ForwardingHeader = "x-forwarded-for" | "forwarded";

/** Finds the address of a client, and whether the socket's peer is a trusted proxy. */
export interface ClientAddresses {
  /** The address nearest to the server that is not a trusted proxy; the socket's peer if no proxy reports one. */
  address(peer: string, headers: IncomingHttpHeaders): string;
  /** Whether the peer is a trusted proxy, so that its `X-Forwarded-Host` and `X-Forwarded-Proto` count. */
  trusts(peer: string): boolean;
}

/** Compiles `trustProxy`. Only `header` is read: a proxy that sets one of the two passes on the client's other one. */
export function clientAddress(trustProxy: TrustProxy, header: ForwardingHeader): ClientAddresses {
  const isTrusted = compileTrust(trustProxy);
  if (isTrusted === undefined) return { address: peerAddress, trusts: () => false };
  return {
    trusts: (peer) => isTrusted(peerAddress(peer), 0),
    address(peer, headers) {
      const value = headers[header];
      let address = peerAddress(peer);
      if (value === undefined || !isTrusted(address, 0)) return address;
      let hop = 0;
      for (const reported of forwardedFor(header, String(value))) {
        // No trusted proxy vouches for entries beyond an unreadable one.
        if (reported === undefined) return address;
        address = reported;
        hop += 1;
        if (!isTrusted(address, hop)) return address;
      }
      return address;
    },
  };
}

function peerAddress(peer: string): string {
  return peer.includes(":") ? (canonicalAddress(peer) ?? peer) : peer;
}

/** `undefined`: nothing is trusted. */
function compileTrust(value: TrustProxy): ((address: string, hop: number) => boolean) | undefined {
  if (typeof value === "function") return value;
  if (typeof value === "boolean") return value ? () => true : undefined;
  if (typeof value === "number") return value > 0 ? (_address, hop) => hop < value : undefined;
  const ranges = rangesOf(value);
  return ranges.length > 0 ? proxyAddr.compile([...ranges]) : undefined;
}

function rangesOf(value: string | readonly string[]): readonly string[] {
  if (typeof value !== "string") return value;
  return value === "" ? [] : value.split(",").map((range) => range.trim());
}

export function isTrustProxy(value: unknown): value is TrustProxy {
  if (typeof value === "function" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0;
  if (typeof value !== "string" && !Array.isArray(value)) return false;
  const ranges: readonly unknown[] = rangesOf(value);
  try {
    return ranges.every((range) => isRange(range) && proxyAddr.compile(range));
  } catch {
    return false; // which is all that the error says
  }
}

const rangeNames: readonly unknown[] = ["loopback", "linklocal", "uniquelocal"];

// proxy-addr takes "1" for the address 0.0.0.1, but users mean one hop.
function isRange(range: unknown): range is string {
  return typeof range === "string" && (rangeNames.includes(range) || isIP(range.split("/")[0] ?? "") !== 0);
}

/**
 * The addresses that proxies report, the nearest first, `undefined` for one that is withheld (`unknown`, `_hidden`) or
 * malformed. Split from the right, whatever is quoted: what a client wrote must not change how the part of the nearest
 * proxy is read. `forwarded` is RFC 7239.
 */
export function* forwardedFor(header: ForwardingHeader, value: string): Generator<string | undefined> {
  for (const element of value.split(",").reverse()) {
    const text = element.trim();
    if (text !== "") yield nodeAddress(header === "forwarded" ? forParameter(text) : text);
  }
}

const parameter = /^([\w-]+)=(?:"([^"\\]*)"|([^\s"\\]*))$/;

/** The value of `for` in one element, which must be well-formed and contain only one. */
function forParameter(element: string): string | undefined {
  const texts = element.split(";").map((text) => text.trim());
  const parameters = texts.filter((text) => text !== "").map((text) => parameter.exec(text) ?? []);
  const values = parameters.filter(([, name]) => name === undefined || name.toLowerCase() === "for");
  const [[, , quoted, token] = []] = values;
  return values.length === 1 ? (quoted ?? token) : undefined;
}

const withPort = /^(?:\[([\da-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::[\w.-]+)?$/i;

function nodeAddress(node: string | undefined): string | undefined {
  if (node === undefined) return undefined;
  const [, ipv6, ipv4] = withPort.exec(node) ?? [];
  return canonicalAddress(ipv6 ?? ipv4 ?? node);
}

/** What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, which one household has. */
export function clientNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const [start = "", end] = address.split("::", 2);
  const before = groupsOf(start);
  const after = end === undefined ? [] : groupsOf(end);
  const zeros = new Array<number>(Math.max(0, 8 - before.length - after.length)).fill(0);
  const network = [...before, ...zeros, ...after].slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(":")}::/64`;
}

function groupsOf(part: string): number[] {
  return part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
}

const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * The canonical spelling of an IP address, so that equal addresses are equal strings: IPv6 as RFC 5952 writes it,
 * without a zone; an IPv4-mapped one (what a dual-stack socket reports) as the IPv4 address. `undefined` for others.
 */
export function canonicalAddress(text: string): string | undefined {
  const ipv4 = text.startsWith("::ffff:") ? text.slice("::ffff:".length) : text;
  if (isIPv4(ipv4)) return ipv4;
  const canonical = canonicalIPv6(text.replace(/%.*/s, ""));
  const [, ...groups] = mapped.exec(canonical ?? "") ?? [];
  const values = groups.map((group) => Number.parseInt(group, 16));
  return values.length > 0 ? values.flatMap((value) => [value >> 8, value & 0xff]).join(".") : canonical;
}

/** An IPv6 address as RFC 5952 writes it; `undefined` for anything else, and for one with a zone. */
export function canonicalIPv6(text: string): string | undefined {
  if (!isIPv6(text) || text.includes("%")) return undefined;
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}
