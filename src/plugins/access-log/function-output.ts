import type { Writable } from "node:stream";
import { ConfigError } from "../../config.ts";
import type { AccessLogEntry } from "./entry.ts";
import { isDoneInTime, type LogFailures, maxQueuedBytes, type Output } from "./output.ts";

/** Takes a line; a promise holds it until it is settled. */
export type TakeLine = (line: string, entry: () => AccessLogEntry) => unknown;

/** Hands lines to a function. */
export function functionOutput(take: TakeLine, failures: LogFailures): Output {
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
        if (!(result instanceof Promise)) return failures.succeeded();
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
