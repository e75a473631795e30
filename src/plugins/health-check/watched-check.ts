import { inTime } from "../../event-loop/in-time.ts";

// biome-ignore lint/suspicious/noConfusingVoidType: a check that only throws returns nothing, and should not have to
type Works = boolean | void;

/** Says whether something works: `false` or an error means it does not. `signal` is aborted at the time limit. */
export type HealthCheck = (signal: AbortSignal) => Works | Promise<Works>;

export interface WatchOptions {
  /** Time limit of a run, in milliseconds. */
  readonly timeoutMs: number;
  /** How long an answer is reused, in milliseconds. */
  readonly cacheMs: number;
  /** Told when the check begins to fail, with the reason, and when it passes again, with `undefined`. */
  readonly onChange: (reason: Error | undefined) => void;
}

/**
 * Runs a check, and resolves to whether it passes; never rejects. It runs once at a time and at most once in `cacheMs`,
 * so that probes cannot keep the server busy. A run beyond the time limit counts as failing until it ends. No other run
 * begins meanwhile: each would occupy another thread while a disk hangs.
 */
export function watchedCheck(check: HealthCheck, options: WatchOptions): () => Promise<boolean> {
  const { timeoutMs, cacheMs, onChange } = options;
  let answer: Promise<boolean> | undefined;
  let staleAt = Number.NEGATIVE_INFINITY;
  let isPassing = true;

  async function run(): Promise<boolean> {
    const controller = new AbortController();
    const ended = Promise.resolve(controller.signal)
      .then(check)
      .then(
        (result) => (result === false ? new Error("the check returned false") : undefined),
        (cause: unknown) =>
          cause instanceof Error ? cause : new Error("the check threw something else than an error", { cause }),
      )
      .finally(() => {
        staleAt = performance.now() + cacheMs;
      });
    const failure = await inTime(ended, timeoutMs, () => {
      const error = new Error(`the check took longer than ${timeoutMs} ms`);
      controller.abort(error);
      return error;
    });
    const passes = failure === undefined;
    if (passes !== isPassing) onChange(failure);
    isPassing = passes;
    return passes;
  }

  return () => {
    if (answer && performance.now() < staleAt) return answer;
    staleAt = Number.POSITIVE_INFINITY; // until the run is over
    answer = run();
    return answer;
  };
}
