import { HttpError } from "../http/http-error.ts";
import type { Exchange } from "../server/exchange.ts";

/** An empty listing takes as many names, since it takes a place of its own. */
const fewest = 1_000;

/** How many names all listings together may hold in memory. */
export class NamesBudget {
  readonly #max: number;
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Opens the account of one listing, until its exchange is over. Throws 503 `OVERLOADED` where there is no room. */
  open(exchange: Pick<Exchange, "defer">): HoldNames {
    let own = 0;
    const hold: HoldNames = (count) => {
      if (count <= own) return;
      const others = this.#held - own;
      // One that is alone may go on: it would fail again each time that the client asks again.
      if (others > 0 && others + count > this.#max) throw tooMany();
      own = count;
      this.#held = others + count;
    };
    hold(fewest);
    exchange.defer(() => {
      this.#held -= own;
      own = 0;
    });
    return hold;
  }
}

/** Called before that many names are held. Throws 503 `OVERLOADED` where there is no room for them. */
export type HoldNames = (count: number) => void;

function tooMany(): HttpError {
  const details = "Too many listings are being sent. Try again shortly, or ask for a shorter page with ?limit=.";
  return new HttpError(503, "OVERLOADED", details, { headers: { "retry-after": "1" } });
}
