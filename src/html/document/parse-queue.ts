import { type Client, FairQueue } from "../../event-loop/fair-queue.ts";
import { DocumentError } from "../document-error.ts";

/** Up to here the parser is back after about 20 ms. */
const smallLength = 256 * 1024;
/** Characters that may wait in memory together, and as many again of known clients. */
const maxWaitingLength = 128 * 1024 * 1024;

const nobody: Client = { address: "" };

const queue = new FairQueue({
  maxWaiting: maxWaitingLength,
  refusal: () => new DocumentError("OVERLOADED", "Too many large documents wait to be parsed; try again shortly."),
});

/**
 * Runs `parse` for a document of some length: at once if that is short, else when it is the client's turn. Side by side, large
 * documents would take as long on the one event loop there is, and need their memory at the same time.
 *
 * Throws `OVERLOADED` when too much waits, to the client that sends the most.
 */
export async function parseInTurn<T>(length: number, parse: () => Promise<T>, client: Client = nobody): Promise<T> {
  return length <= smallLength ? parse() : queue.run(client, parse, { weight: length });
}
