import { HttpError } from "../http/http-error.ts";

/** An empty listing takes as many names, since it takes a place of its own. */
const fewest = 1_000;

/** How many names all listings together may hold in memory. */
export class NamesBudget {
  readonly #max: number;
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Opens the account of one listing. Throws 503 `OVERLOADED` where there is no room for it. */
  open(): HeldNames {
    let own = 0;
    const hold = (count: number): void => {
      if (count <= own) return;
      const others = this.#held - own;
      // One that is alone may go on: it would fail again each time that the client asks again.
      if (others > 0 && others + count > this.#max) throw tooMany();
      own = count;
      this.#held = others + count;
    };
    hold(fewest);
    return {
      hold,
      release: () => {
        this.#held -= own;
        own = 0;
      },
    };
  }
}

export interface HeldNames {
  /** Called before that many names are held. Throws 503 `OVERLOADED` where there is no room for them. */
  hold(count: number): void;
  /** Gives everything back; called once, when the listing is over. */
  release(): void;
}

function tooMany(): HttpError {
  const details = "Too many listings are being sent. Try again shortly, or ask for a shorter page with ?limit=.";
  return new HttpError(503, "OVERLOADED", details, { headers: { "retry-after": "1" } });
}
