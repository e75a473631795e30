import type { Exchange } from "../../server/exchange.ts";

/** How clients are told apart; see `keyStrategy` of the options. */
export type KeyStrategy = "ip" | "user" | "host" | ((exchange: Exchange) => string | undefined);

/** The bucket that a request takes from; `undefined` for an unlimited one. */
export type ClientKey = (exchange: Exchange) => string | undefined;

const groupBits = 16;
const groupsOfAddress = 8;

/** Compiles a strategy. Each kind of client has a name space of its own: a user may be called `192.0.2.1`. */
export function clientKey(strategy: KeyStrategy, ipv6Prefix: number): ClientKey {
  if (typeof strategy === "function") return (exchange) => checkedKey(strategy(exchange));
  const addressKey: ClientKey = ({ address }) => `ip:${networkOf(address, ipv6Prefix)}`;
  const strategies: Record<typeof strategy, ClientKey> = {
    ip: addressKey,
    user(exchange) {
      const user = userName(exchange);
      return user === undefined ? addressKey(exchange) : `user:${user}`;
    },
    host: ({ host }) => `host:${host}`,
  };
  return strategies[strategy];
}

/**
 * The network that an address counts for: an IPv4 address for itself, an IPv6 address for its first `prefix` bits. One
 * household has 2^64 addresses of its own, so one bucket for each would be no limit at all.
 */
export function networkOf(address: string, prefix: number): string {
  if (!address.includes(":")) return address;
  const [start = "", end] = address.split("::", 2);
  const before = groupsOf(start);
  const after = end === undefined ? [] : groupsOf(end);
  const zeros = new Array<number>(Math.max(0, groupsOfAddress - before.length - after.length)).fill(0);

  const kept = Math.ceil(prefix / groupBits);
  const network = [...before, ...zeros, ...after].slice(0, kept);
  const spareBits = kept * groupBits - prefix;
  network[kept - 1] = ((network[kept - 1] ?? 0) >> spareBits) << spareBits;
  const groups = network.map((group) => group.toString(16)).join(":");
  return `${groups}${kept < groupsOfAddress ? "::" : ""}/${prefix}`;
}

function groupsOf(part: string): number[] {
  return part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
}

function userName({ user, metadata }: Exchange): string | undefined {
  if (user) return user.name;
  const name = metadata.get("authenticated_user");
  return typeof name === "string" ? name : undefined;
}

// Converted to text, every promise would be the same key: one bucket for all clients.
function checkedKey(key: unknown): string | undefined {
  if (key === undefined || typeof key === "string") return key;
  throw new TypeError(`rateLimit: the function keyStrategy returned ${typeof key}: expected a string or undefined`);
}
