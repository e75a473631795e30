import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { inspect } from "node:util";
import proxyAddr from "proxy-addr";
import { type ForwardingHeader, forwardedFor } from "./forwarded-for.ts";
import { canonicalAddress } from "./ip-address.ts";

/**
 * Which proxies are believed, as in Express: `false` none, `true` all, a number of hops counted from the server, addresses
 * and CIDR ranges (an array, or separated by commas; also `"loopback"`, `"linklocal"` and `"uniquelocal"`), or a function
 * of an address and its distance, the socket's peer being 0.
 */
export type TrustProxy = boolean | number | string | readonly string[] | ((address: string, hop: number) => boolean);

/** Tells who a client is, and whether to believe what the socket's peer says about it. */
export interface ClientAddresses {
  /** The address nearest to the server that is not a trusted proxy; the socket's peer where nothing is reported. */
  address(peer: string, headers: IncomingHttpHeaders): string;
  /** Whether the peer is a trusted proxy, so that its `X-Forwarded-Host` and `X-Forwarded-Proto` count. */
  trusts(peer: string): boolean;
}

/**
 * Compiles `trustProxy`. Only `header` is ever read, since a proxy that maintains one lets the client's other one pass.
 * Throws a `TypeError` for a value that is none of {@link TrustProxy}.
 */
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
        // Whatever lies beyond an unreadable entry, nobody trustworthy has vouched for.
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

type Trust = (address: string, hop: number) => boolean;

/** `undefined`: nothing is trusted. */
function compileTrust(value: TrustProxy): Trust | undefined {
  if (typeof value === "function") return value;
  if (value === false || value === 0 || value === "") return undefined;
  if (value === true) return () => true;
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return (_address, hop) => hop < value;
  const ranges = typeof value === "string" ? value.split(",").map((range) => range.trim()) : value;
  if (!Array.isArray(ranges) || !ranges.every(isRange)) throw invalidTrust(value);
  if (ranges.length === 0) return undefined;
  try {
    return proxyAddr.compile(ranges);
  } catch (cause) {
    throw invalidTrust(value, cause);
  }
}

const rangeNames: readonly unknown[] = ["loopback", "linklocal", "uniquelocal"];

// proxy-addr takes "1" for the address 0.0.0.1; whoever writes it means one hop.
function isRange(range: unknown): range is string {
  return typeof range === "string" && (rangeNames.includes(range) || isIP(range.split("/")[0] ?? "") !== 0);
}

function invalidTrust(value: unknown, cause?: unknown): TypeError {
  const expected = 'true, false, a number of hops, addresses, CIDR ranges, "loopback", "linklocal" or "uniquelocal"';
  return new TypeError(`trustProxy: ${inspect(value)} is not one of ${expected}`, { cause });
}
