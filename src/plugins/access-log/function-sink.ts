import { ConfigError } from "../../config.ts";
import { silentLogger } from "../../server/logger.ts";
import type { Site } from "../../server/site.ts";
import type { AccessLogEntry } from "./entry.ts";
import type { LogFailures } from "./log-failures.ts";
import { isDoneInTime, type Sink } from "./sink.ts";

/** Hands lines to a function, or to the server's logger where there is none. */
export class FunctionSink implements Sink {
  #write: ((line: string, entry: AccessLogEntry) => unknown) | undefined;
  readonly #maxPending: number;
  readonly #failures: LogFailures;
  readonly #pending = new Set<Promise<unknown>>();
  #pendingLength = 0;

  constructor(
    write: ((line: string, entry: AccessLogEntry) => unknown) | undefined,
    maxPending: number,
    failures: LogFailures,
  ) {
    this.#write = write;
    this.#maxPending = maxPending;
    this.#failures = failures;
  }

  async start({ logger }: Site): Promise<void> {
    if (this.#write) return;
    if (logger === silentLogger) {
      throw new ConfigError([
        "accessLog: has nowhere to write: expected file, stream or write, or a logger of the server",
      ]);
    }
    this.#write = (line, access) => logger.info({ access }, line);
  }

  add(line: string, entry: () => AccessLogEntry): void {
    if (!this.#write || this.#pendingLength + line.length > this.#maxPending) {
      this.#failures.drop(1);
      return;
    }
    try {
      const result = this.#write(line, entry());
      if (result instanceof Promise) this.#await(result, line.length);
      else this.#failures.succeeded();
    } catch (error) {
      this.#lose(error);
    }
  }

  async reopen(): Promise<void> {}

  async close(): Promise<void> {
    if (!(await isDoneInTime(Promise.all(this.#pending)))) this.#failures.drop(this.#pending.size);
  }

  /** An `async` function may be slow, and holds its line until it is done. */
  #await(result: Promise<unknown>, length: number): void {
    this.#pendingLength += length;
    const settled = result
      .then(
        () => this.#failures.succeeded(),
        (error) => this.#lose(error),
      )
      .finally(() => {
        this.#pendingLength -= length;
        this.#pending.delete(settled);
      });
    this.#pending.add(settled);
  }

  #lose(error: unknown): void {
    this.#failures.failed("the function that takes its lines failed", error);
    this.#failures.drop(1);
  }
}
