import type { Writable } from "node:stream";
import { isPromise } from "node:util/types";
import { ConfigError } from "../../config.ts";
import { inTime } from "../../event-loop/in-time.ts";
import { messageOf, notify } from "../../server/logger.ts";
import type { Site } from "../../server/site.ts";
import type { AccessLogEntry } from "./entry.ts";

/** Where lines go. */
export interface Output {
  /** Called for each host that lists the plugin. */
  start?(site: Site): Promise<void> | void;
  /** Takes a line, or counts it as dropped. Never throws and never blocks. */
  add(line: string, entry: () => AccessLogEntry): void;
  reopen?(): Promise<void>;
  /** Hands over what is queued, within two seconds, and releases what was opened. */
  close(): Promise<void>;
}

/** Most bytes that wait for a slow file, stream or promise; lines beyond are dropped. */
export const maxQueuedBytes: number = 1024 * 1024;

/** How long a closing server waits for a log that does not write, in milliseconds. */
const closeMs = 2_000;

/** Shortest time between two warnings of lost lines, in milliseconds. */
const warnEveryMs = 10_000;

/** Waits for work to be done, but not for ever; tells whether it was. */
export function isDoneInTime(work: Promise<unknown>): Promise<boolean> {
  const done = work.then(() => true);
  return inTime(done, closeMs, () => false);
}

/** Counts every lost line of a log, and reports failures to the operator without flooding the logger. */
export class LogFailures {
  /** Failures go to this host's `onError`, warnings to its logger. */
  site: Site | undefined;
  dropped = 0;
  #unreported = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;

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
  }

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

/** Hands lines to a function; a promise that it gives holds the line until it is settled. */
export function functionOutput(take: (...line: Parameters<Output["add"]>) => unknown, failures: LogFailures): Output {
  const pending = new Set<Promise<void>>();
  let pendingLength = 0;

  const lost = (error: unknown): void => {
    failures.failed("the function that takes its lines failed", error);
    failures.drop(1);
  };
  return {
    add(line, entry) {
      const { length } = line;
      if (pendingLength + length > maxQueuedBytes) return failures.drop(1);
      try {
        const result = take(line, entry);
        if (!isPromise(result)) return failures.succeeded();
        pendingLength += length;
        const held: Promise<void> = result
          .then(() => failures.succeeded(), lost)
          .then(() => {
            pendingLength -= length;
            pending.delete(held);
          });
        pending.add(held);
      } catch (error) {
        lost(error);
      }
    },
    async close() {
      if (!(await isDoneInTime(Promise.all(pending)))) failures.drop(pending.size);
    },
  };
}

/** What this needs of a stream: logging libraries have some that only look like one of node's. */
export type LogStream = Pick<Writable, "write" | "on" | "off"> & Partial<Pick<Writable, "writable" | "writableLength">>;

/** Writes lines to a stream of the host program, which stays open and answers for what it has taken. */
export function streamOutput(stream: LogStream, failures: LogFailures): Output {
  const onError = (error: unknown): void => failures.failed("its stream failed", error);
  let isStarted = false;
  return {
    start() {
      if (isStarted) return;
      if (stream.writable === false) {
        throw new ConfigError(["accessLog: stream is ended or destroyed: expected one that can be written to"]);
      }
      isStarted = true;
      stream.on("error", onError);
    },
    add(line) {
      const { writable, writableLength = 0 } = stream;
      if (writable === false) onError(new Error("it ended before the server did"));
      if (writable === false || writableLength + line.length > maxQueuedBytes) return failures.drop(1);
      stream.write(`${line}\n`);
    },
    async close() {
      isStarted = false;
      const isEmpty =
        !stream.writableLength || (await isDoneInTime(new Promise((resolve) => stream.write("", resolve))));
      // A write that is still in the stream may fail later. Without a listener, that error would end the process.
      if (isEmpty) stream.off("error", onError);
    },
  };
}
