import { usageLimit } from "../server/admission.ts";
import type { Exchange } from "../server/exchange.ts";

/** Names are counted in steps: an empty listing, which takes a place of its own, as one. */
const step = 1_000;

/** Called before that many names are held. Throws 503 `OVERLOADED`, and gives all up, where there is no room for them. */
export type HoldNames = (count: number) => void;

/** Opens the account of one listing, until its exchange is over. Throws 503 `OVERLOADED` where there is no room. */
export type OpenListing = (exchange: Pick<Exchange, "address" | "defer">) => HoldNames;

/** Bounds how many names all listings together hold in memory. One address, or one listing, counts for half at most. */
export function namesBudget(max: number): OpenListing {
  const takeNames = usageLimit(max);
  return (exchange) => {
    const held: (() => void)[] = [];
    const release = (): void => {
      for (const giveBack of held.splice(0)) giveBack();
    };
    const hold: HoldNames = (count) => {
      try {
        // A listing with more than half may go on: it would fail again each time that the client asks again.
        while (held.length * step < Math.min(count, max / 2)) held.push(takeNames(exchange.address, step));
      } catch (error) {
        release(); // at once: listings that grow side by side would all fail before the first of them is over
        throw error;
      }
    };
    hold(1);
    exchange.defer(release);
    return hold;
  };
}
