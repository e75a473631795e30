import { type Client, fairQueue } from "../event-loop/fair-queue.ts";
import { unavailable } from "../server/admission.ts";

/** Documents up to here, in bytes, are parsed in about 20 ms. */
const smallBytes = 256 * 1024;
/** In bytes of the documents, and as many again of known clients. */
const waiting = { maxWaiting: 128 * 1024 * 1024, refusal: () => unavailable("OVERLOADED") };
/** With its tree, what selects in it and the page after an edit, a document takes ten times its size in memory. */
const smallPlaces = fairQueue({ concurrency: 64, ...waiting });
const largePlaces = fairQueue({ concurrency: 4, ...waiting });

/**
 * Waits until a document of so many bytes may come into memory; what it gives makes place for the next one. On one
 * event loop, more of them side by side would only take longer, and be in memory at the same time. A request that has a
 * place must not wait for a lock, for what another request parses, or for the host program, which may edit a document.
 * Throws `OVERLOADED` when too much waits, to the client that sends the most.
 */
export function placeFor(client: Client, bytes: number): Promise<() => void> {
  const places = bytes <= smallBytes ? smallPlaces : largePlaces;
  return new Promise((resolve, reject) => {
    places(client, () => new Promise<void>(resolve), bytes).catch(reject);
  });
}
