import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { inspect } from "node:util";
import proxyAddr from "proxy-addr";
import { type ForwardingHeader, forwardedFor } from "./forwarded-for.ts";
import { canonicalAddress } from "./ip-address.ts";

/**
 * Which proxies to trust, as in Express: `false` none, `true` all, a number of hops counted from the server, addresses
 * and CIDR ranges (an array, or separated by commas; also `"loopback"`, `"linklocal"` and `"uniquelocal"`), or a
 * function of an address and its distance, the socket's peer being 0.
 */
export type TrustProxy = boolean | number | string | readonly string[] | ((address: string, hop: number) => boolean);

/** Finds the address of a client, and whether the socket's peer is a trusted proxy. */
export interface ClientAddresses {
  /** The address nearest to the server that is not a trusted proxy; the socket's peer if no proxy reports one. */
  address(peer: string, headers: IncomingHttpHeaders): string;
  /** Whether the peer is a trusted proxy, so that its `X-Forwarded-Host` and `X-Forwarded-Proto` count. */
  trusts(peer: string): boolean;
}

/**
 * Compiles `trustProxy`. Only `header` is read: a proxy that sets one of the two headers passes on the other from the
 * client. Throws a `TypeError` for a value that is none of {@link TrustProxy}.
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

// proxy-addr takes "1" for the address 0.0.0.1, but users mean one hop.
function isRange(range: unknown): range is string {
  return typeof range === "string" && (rangeNames.includes(range) || isIP(range.split("/")[0] ?? "") !== 0);
}

function invalidTrust(value: unknown, cause?: unknown): TypeError {
  const expected = 'true, false, a number of hops, addresses, CIDR ranges, "loopback", "linklocal" or "uniquelocal"';
  return new TypeError(`trustProxy: ${inspect(value)} is not one of ${expected}`, { cause });
}
