import { HttpError } from "../http/http-error.ts";
import type { Exchange } from "../server/exchange.ts";

/** An empty listing takes as many names, since it takes a place of its own. */
const fewest = 1_000;

/** Called before that many names are held. Throws 503 `OVERLOADED` where there is no room for them. */
export type HoldNames = (count: number) => void;

/** Opens the account of one listing, until its exchange is over. Throws 503 `OVERLOADED` where there is no room. */
export type OpenListing = (exchange: Pick<Exchange, "defer">) => HoldNames;

/** Bounds how many names all listings together hold in memory. */
export function namesBudget(max: number): OpenListing {
  let held = 0;
  return (exchange) => {
    let own = 0;
    const hold: HoldNames = (count) => {
      if (count <= own) return;
      const others = held - own;
      // One that is alone may go on: it would fail again each time that the client asks again.
      if (others > 0 && others + count > max) {
        const details = "Too many listings are being sent. Try again shortly, or ask for a shorter page with ?limit=.";
        throw new HttpError(503, "OVERLOADED", details, { headers: { "retry-after": "1" } });
      }
      own = count;
      held = others + count;
    };
    hold(fewest);
    exchange.defer(() => {
      held -= own;
      own = 0;
    });
    return hold;
  };
}
