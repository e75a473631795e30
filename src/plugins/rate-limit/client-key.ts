import { clientNetwork } from "../../http/client-address.ts";
import type { Exchange } from "../../server/exchange.ts";

/** How clients are told apart; see `keyStrategy` of the options. */
export type KeyStrategy = "ip" | "user" | "host" | ((exchange: Exchange) => string | undefined);

/** The bucket that a request takes from; `undefined` for an unlimited one. */
export type ClientKey = (exchange: Exchange) => string | undefined;

/** Compiles a strategy. Each kind of client has a name space of its own: a user may be called `192.0.2.1`. */
export function clientKey(strategy: KeyStrategy): ClientKey {
  if (typeof strategy === "function") return (exchange) => checkedKey(strategy(exchange));
  const addressKey: ClientKey = ({ address }) => `ip:${clientNetwork(address)}`;
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
