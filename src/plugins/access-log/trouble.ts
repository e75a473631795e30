import { messageOf } from "../../server/error-message.ts";
import { notify } from "../../server/notify.ts";
import type { Site } from "../../server/site.ts";

/** A log that keeps losing lines says so this often, in milliseconds. */
const tellEveryMs = 10_000;

/** What goes wrong with a log: counted to the last line, and told to the operator in small doses. */
export class Trouble {
  /** Whose logger and `onError` hear of it. */
  site: Site | undefined;
  /** Lines lost so far. */
  dropped = 0;
  #untold = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  /** Counts lines that are lost. */
  drop(lines: number): void {
    this.dropped += lines;
    this.#untold += lines;
    if (performance.now() - this.#toldAt >= tellEveryMs) this.tell();
  }

  /** Reports a failure, unless it is the same old one. */
  failed(what: string, cause: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.site?.report(new Error(`accessLog: ${what}: ${messageOf(cause)}`, { cause }));
  }

  /** Lines get through: the next failure is news again. */
  works(): void {
    this.#isFailing = false;
    if (this.#untold > 0 && performance.now() - this.#toldAt >= tellEveryMs) this.tell();
  }

  /** Warns of the lines lost since the last time. */
  tell(): void {
    if (this.#untold === 0) return;
    const fields = { dropped: this.#untold, droppedInAll: this.dropped };
    this.#untold = 0;
    this.#toldAt = performance.now();
    notify(
      () => this.site?.logger.warn(fields, "access log: lines were lost"),
      (error) => this.site?.report(error),
    );
  }
}
