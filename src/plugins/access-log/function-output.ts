import type { Writable } from "node:stream";
import { ConfigError } from "../../config.ts";
import type { AccessLogEntry } from "./entry.ts";
import { isDoneInTime, type LogFailures, maxQueuedBytes, type Output } from "./output.ts";

/** Takes a line; a promise holds it until it is settled. */
export type TakeLine = (line: string, entry: () => AccessLogEntry) => unknown;

/** Hands lines to a function, whose failure is reported as `what`. */
export function functionOutput(
  take: TakeLine,
  failures: LogFailures,
  what: string = "the function that takes its lines failed",
): Output {
  const pending = new Set<Promise<void>>();
  let pendingLength = 0;

  const lost = (error: unknown): void => {
    failures.failed(what, error);
    failures.drop(1);
  };
  /** An `async` function may be slow, and holds its line until it is done. */
  async function settled(result: Promise<unknown>, length: number): Promise<void> {
    pendingLength += length;
    await result.then(() => failures.succeeded(), lost);
    pendingLength -= length;
  }

  return {
    add(line, entry) {
      if (pendingLength + line.length > maxQueuedBytes) {
        failures.drop(1);
        return;
      }
      try {
        const result = take(line, entry);
        if (!(result instanceof Promise)) return failures.succeeded();
        const held: Promise<void> = settled(result, line.length).then(() => void pending.delete(held));
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

/** Writes lines to a stream of the host program, which keeps them until it can, and stays open. */
export function streamOutput(stream: LogStream, failures: LogFailures): Output {
  const what = "its stream failed";
  const onError = (error: unknown): void => failures.failed(what, error);
  const output = functionOutput((line) => write(stream, `${line}\n`), failures, what);
  let isStarted = false;
  return {
    ...output,
    start() {
      if (isStarted) return;
      if (stream.writable === false) {
        throw new ConfigError(["accessLog: stream is ended or destroyed: expected one that can be written to"]);
      }
      isStarted = true;
      stream.on("error", onError);
    },
    async close() {
      await output.close();
      isStarted = false;
      // A write that is still in the stream may fail later. Without a listener, that error would end the process.
      if (!stream.writableLength) stream.off("error", onError);
    },
  };
}

function write(stream: LogStream, text: string): Promise<void> | undefined {
  // Its owner has ended it. Writing on would be an error of the stream, for all of its listeners.
  if (stream.writable === false) throw new Error("it ended before the server did");
  if (stream.writableLength === undefined) {
    stream.write(text); // not one of node's: it may not call back
    return undefined;
  }
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
