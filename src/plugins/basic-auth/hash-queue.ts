import { HttpError } from "../../http/http-error.ts";

/** Options of {@link HashQueue}. */
export interface HashQueueOptions {
  /** How many run at once. @default 2, half of the four threads that Node keeps for this and for files */
  readonly concurrency?: number;
  /** How many may wait. @default 100 */
  readonly maxQueued?: number;
}

/**
 * Lets a few costly tasks run at once; the others wait, first come, first served. Hashes and file reads share the
 * thread pool of the process, so that without a queue, a hundred sign-ins would keep every file from being read.
 */
export class HashQueue {
  readonly #concurrency: number;
  readonly #maxQueued: number;
  /** The first of the set is the first to run. */
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(options: HashQueueOptions = {}) {
    const { concurrency = 2, maxQueued = 100 } = options;
    this.#concurrency = concurrency;
    this.#maxQueued = maxQueued;
  }

  /**
   * Runs `task` when it is its turn and gives what it gives. Throws a 503 where too many wait already, and the signal's
   * reason once that is aborted while it waits; a task that has begun runs to its end.
   */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running < this.#concurrency) this.#running += 1;
    else await this.#turn(signal);
    try {
      return await task();
    } finally {
      this.#passOn();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size >= this.#maxQueued) throw tooMany();
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener("abort", giveUp);
        // Some hashes are computed on the event loop. A hundred of them in line must let it turn after each.
        setImmediate(resolve);
      };
      const giveUp = (): void => {
        this.#waiting.delete(begin);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(begin);
    });
  }

  // The place goes straight to the next in line: a newcomer must not slip in between.
  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

function tooMany(): HttpError {
  return new HttpError(503, "OVERLOADED", "Too many passwords are being checked; try again shortly.", {
    headers: { "retry-after": "1" },
  });
}
