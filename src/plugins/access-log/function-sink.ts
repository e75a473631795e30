import { ConfigError } from "../../config.ts";
import { silentLogger } from "../../server/logger.ts";
import type { Site } from "../../server/site.ts";
import type { AccessLogEntry } from "./entry.ts";
import type { LogFailures } from "./log-failures.ts";
import { isDoneInTime, maxQueuedBytes, type Sink } from "./sink.ts";

/** Takes a line; a promise holds it until it is settled. */
export type TakeLine = (line: string, entry: () => AccessLogEntry) => unknown;

/** Hands lines to a function, or to the server's logger where there is none. */
export class FunctionSink implements Sink {
  protected readonly failures: LogFailures;
  #take: TakeLine | undefined;
  readonly #maxPending: number;
  readonly #what: string;
  readonly #pending = new Set<Promise<unknown>>();
  #pendingLength = 0;

  /** `what` failed, in reports. */
  constructor(
    take: TakeLine | undefined,
    failures: LogFailures,
    maxPending: number = maxQueuedBytes,
    what = "the function that takes its lines failed",
  ) {
    this.#take = take;
    this.failures = failures;
    this.#maxPending = maxPending;
    this.#what = what;
  }

  async start({ logger }: Site): Promise<void> {
    if (this.#take) return;
    if (logger === silentLogger) {
      throw new ConfigError([
        "accessLog: has nowhere to write: expected file, stream or write, or a logger of the server",
      ]);
    }
    this.#take = (line, entry) => logger.info({ access: entry() }, line);
  }

  add(line: string, entry: () => AccessLogEntry): void {
    if (!this.#take || this.#pendingLength + line.length > this.#maxPending) {
      this.failures.drop(1);
      return;
    }
    try {
      const result = this.#take(line, entry);
      if (result instanceof Promise) this.#await(result, line.length);
      else this.failures.succeeded();
    } catch (error) {
      this.#lose(error);
    }
  }

  async reopen(): Promise<void> {}

  async close(): Promise<void> {
    if (!(await isDoneInTime(Promise.all(this.#pending)))) this.failures.drop(this.#pending.size);
  }

  /** An `async` function may be slow, and holds its line until it is done. */
  #await(result: Promise<unknown>, length: number): void {
    this.#pendingLength += length;
    const settled = result
      .then(
        () => this.failures.succeeded(),
        (error) => this.#lose(error),
      )
      .finally(() => {
        this.#pendingLength -= length;
        this.#pending.delete(settled);
      });
    this.#pending.add(settled);
  }

  #lose(error: unknown): void {
    this.failures.failed(this.#what, error);
    this.failures.drop(1);
  }
}
