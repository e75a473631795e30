import { DocumentError } from "../document-error.ts";

/** Up to here the parser is back after about 20 ms. */
const smallLength = 256 * 1024;
/** So many characters may wait in memory together; more come back later. */
const maxWaitingLength = 128 * 1024 * 1024;

let last: Promise<unknown> = Promise.resolve();
let waitingLength = 0;

/**
 * Runs `parse` of so many characters: at once, where they are few, otherwise when all that came before are done. Side by
 * side, large documents would take as long on the one event loop there is, and need their memory at the same time.
 *
 * Throws `OVERLOADED` when too much waits already.
 */
export async function parseInTurn<T>(length: number, parse: () => Promise<T>): Promise<T> {
  if (length <= smallLength) return parse();
  if (waitingLength > 0 && waitingLength + length > maxWaitingLength) {
    const details = "Too many large documents wait to be parsed; try again shortly.";
    throw new DocumentError("OVERLOADED", details);
  }
  waitingLength += length;
  const parsed = last.then(parse);
  last = parsed.catch(() => {}); // Its own caller is told; the next one begins.
  try {
    return await parsed;
  } finally {
    waitingLength -= length;
  }
}
