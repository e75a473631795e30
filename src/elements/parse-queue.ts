import { type Client, fairQueue } from "../event-loop/fair-queue.ts";
import { inSlices, settled } from "../event-loop/sliced-work.ts";
import type { ParseInTurn } from "../html/engine.ts";
import { HttpError } from "../http/http-error.ts";

/** Up to here the parser is back after about 20 ms. */
const smallLength = 256 * 1024;
/** Characters that may wait in memory together, and as many again of known clients. */
const maxWaitingLength = 128 * 1024 * 1024;

const inTurn = fairQueue({
  maxWaiting: maxWaitingLength,
  refusal: () =>
    new HttpError(503, "OVERLOADED", "Too many large documents wait to be parsed; try again shortly.", {
      headers: { "retry-after": "2" }, // parsing of a large document takes seconds
    }),
});

/**
 * Parses short documents at once, others when it is the client's turn. Side by side, large documents would take as long
 * on the one event loop there is, and need their memory at the same time.
 *
 * Throws `OVERLOADED` when too much waits, to the client that sends the most.
 */
export function parseInTurnOf(client: Client): ParseInTurn {
  return (length, parse) =>
    length <= smallLength ? parse() : settled(inTurn(client, () => inSlices(parse()), length));
}
