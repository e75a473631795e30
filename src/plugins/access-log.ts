import { filePath } from "../local-files/file-path.ts";
import type { Plugin } from "../server/plugin.ts";
import { type AccessLogEntry, accessLogEntry } from "./access-log/entry.ts";
import { FileSink } from "./access-log/file-sink.ts";
import { lineFormat } from "./access-log/formats.ts";
import { FunctionSink } from "./access-log/function-sink.ts";
import { checkAccessLogOptions } from "./access-log/options.ts";
import type { Sink } from "./access-log/sink.ts";
import { type LogStream, StreamSink } from "./access-log/stream-sink.ts";
import { Trouble } from "./access-log/trouble.ts";

/** Options for {@link accessLog}. At most one of `file`, `stream` and `write`. */
export interface AccessLogOptions {
  /**
   * What a line looks like: Apache's Common or Combined Log Format, an object in JSON, or what a function makes of an
   * entry, in which control characters but the tab are then escaped. @default "combined"
   */
  readonly format?: "common" | "combined" | "json" | ((entry: AccessLogEntry) => string) | undefined;
  /** A path or a `file://` location to append to. Its directory has to exist. @default the server's `logger` */
  readonly file?: string | URL | undefined;
  /** A stream to write to, which stays open. @default the server's `logger` */
  readonly stream?: LogStream | undefined;
  /** Called with each line, without its line end. @default the server's `logger` */
  readonly write?: ((line: string, entry: AccessLogEntry) => unknown) | undefined;
  /** Most bytes that wait for a slow file, stream or promise; lines beyond are dropped. @default 1048576 (1 MiB) */
  readonly maxQueuedBytes?: number | undefined;
}

/** An access log, and what its operator needs. */
export interface AccessLogPlugin extends Plugin {
  /** Lines that were lost so far: nobody took them in time, or writing them failed. */
  readonly dropped: number;
  /**
   * Opens the file anew, after a rotation has renamed it; no line is lost or written twice. Rejects where that fails,
   * and the log then goes on in the old file. Does nothing for a stream or a function.
   */
  reopen(): Promise<void>;
}

/**
 * Writes a line for every reply of its host, whichever plugin gave it and wherever this one stands in the list: with
 * the bytes that were really sent, and whether the client left before the end. No reply ever waits for the log.
 *
 * Lines go to a file, a stream, a function, or with none of these to the server's `logger` (`info`, the entry as field
 * `access`). Throws a `ConfigError` for options that make no sense; a file that cannot be opened, or no logger to write
 * to, keeps the server from starting.
 *
 * @example
 * createFileServer({ root: "site", plugins: [accessLog({ file: "/var/log/site/access.log" })] });
 */
export function accessLog(options: AccessLogOptions = {}): AccessLogPlugin {
  checkAccessLogOptions(options);
  const { format = "combined", file, stream, write, maxQueuedBytes = 1024 * 1024 } = options;
  const lineOf = lineFormat(format);
  const trouble = new Trouble();
  const path = file === undefined ? undefined : filePath(String(file));
  const sink: Sink = path
    ? new FileSink(path, maxQueuedBytes, trouble)
    : stream
      ? new StreamSink(stream, maxQueuedBytes, trouble)
      : new FunctionSink(write, maxQueuedBytes, trouble);
  return {
    name: "access-log",
    get dropped() {
      return trouble.dropped;
    },
    async start(site) {
      trouble.site ??= site;
      await sink.start(site);
    },
    observe(exchange, outcome) {
      // Not from `exchange.startedAt`: that clock stands still while the computer sleeps.
      const time = new Date(Date.now() - outcome.durationMs);
      try {
        sink.add(lineOf(exchange, outcome, time), () => accessLogEntry(exchange, outcome, time));
      } catch (error) {
        trouble.failed("its format failed", error);
        trouble.drop(1);
      }
    },
    reopen: () => sink.reopen(),
    async close() {
      await sink.close();
      trouble.tell();
    },
  };
}
