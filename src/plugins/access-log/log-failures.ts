import { messageOf, notify } from "../../server/logger.ts";
import type { Site } from "../../server/site.ts";

/** Shortest time between two warnings of lost lines, in milliseconds. */
const warnEveryMs = 10_000;

/** Counts every lost line of a log, and reports failures to the operator without flooding the logger. */
export class LogFailures {
  /** Failures go to this host's `onError`, warnings to its logger. */
  site: Site | undefined;
  /** Lines lost so far. */
  dropped = 0;
  #unreported = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  /** Counts lost lines. */
  drop(lines: number): void {
    this.dropped += lines;
    this.#unreported += lines;
    if (performance.now() - this.#warnedAt >= warnEveryMs) this.warn();
  }

  /** Reports a failure, unless lines have been failing since the last one. */
  failed(what: string, cause: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.site?.report(new Error(`accessLog: ${what}: ${messageOf(cause)}`, { cause }));
  }

  /** A line was written: the next failure is reported again. */
  succeeded(): void {
    this.#isFailing = false;
    if (this.#unreported > 0 && performance.now() - this.#warnedAt >= warnEveryMs) this.warn();
  }

  /** Warns of the lines lost since the last warning. */
  warn(): void {
    if (this.#unreported === 0) return;
    const fields = { dropped: this.#unreported, droppedInAll: this.dropped };
    this.#unreported = 0;
    this.#warnedAt = performance.now();
    notify(
      () => this.site?.logger.warn(fields, "access log: lines were lost"),
      (error) => this.site?.report(error),
    );
  }
}
