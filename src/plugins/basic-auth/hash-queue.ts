import { LRUCache } from "lru-cache";
import { FairQueue } from "../../event-loop/fair-queue.ts";
import { HttpError } from "../../http/http-error.ts";

/** Options of {@link HashQueue}. */
export interface HashQueueOptions {
  /** How many run at once. @default 2, half of the four threads that Node keeps for this and for files */
  readonly concurrency?: number;
  /** How many may wait; of clients who signed in before, as many again. @default 100 */
  readonly maxQueued?: number;
}

/** A client, and the user that it claims to be. */
export interface Claim {
  readonly address: string;
  readonly username: string;
  /** Stands for the name and the password, and does not tell them. */
  readonly credentials: string;
}

const unknownClaim: Claim = { address: "", username: "", credentials: "" };

/** How many credentials are remembered that were right once. */
const maxKnown = 10_000;

/**
 * Lets a few costly tasks run at once; the others wait. Hashes and file reads share the thread pool of the process, so
 * that without a queue, a hundred sign-ins would keep every file from being read. Addresses take turns, and at one address
 * user names do; credentials that were right once have a place that guessers cannot take.
 */
export class HashQueue {
  readonly #queue: FairQueue;
  readonly #known = new LRUCache<string, true>({ max: maxKnown });

  constructor(options: HashQueueOptions = {}) {
    const { concurrency = 2, maxQueued = 100 } = options;
    this.#queue = new FairQueue({ concurrency, maxWaiting: maxQueued, refusal: tooMany });
  }

  /**
   * Runs `task` when it is its turn and gives what it gives. Throws a 503 where too many wait already, and the signal's
   * reason once that is aborted while it waits; a task that has begun runs to its end.
   */
  run<T>(task: () => Promise<T>, signal?: AbortSignal, claim: Claim = unknownClaim): Promise<T> {
    const { address, username, credentials } = claim;
    const client = { address, account: username, isKnown: this.#known.get(credentials) === true };
    return this.#queue.run(client, task, { signal });
  }

  /** Notes that credentials were right. */
  remember({ credentials }: Claim): void {
    this.#known.set(credentials, true);
  }
}

function tooMany(): HttpError {
  return new HttpError(503, "OVERLOADED", "Too many passwords are being checked; try again shortly.", {
    headers: { "retry-after": "1" },
  });
}
