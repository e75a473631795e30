import { ConfigError } from "../config.ts";
import { filePath } from "../local-files/file-path.ts";
import { checkOptions } from "../options/check-config.ts";
import { aFunction, fileLocation, hasMethods, pluginOptions } from "../options/option-types.ts";
import { anyOf, type OptionsSchema, oneOf, valueThat } from "../options/schema.ts";
import type { Plugin } from "../server/plugin.ts";
import { type AccessLogEntry, accessLogEntry } from "./access-log/entry.ts";
import { FileSink } from "./access-log/file-sink.ts";
import { lineFormat } from "./access-log/formats.ts";
import { FunctionSink } from "./access-log/function-sink.ts";
import { LogFailures } from "./access-log/log-failures.ts";
import type { Sink } from "./access-log/sink.ts";
import { type LogStream, StreamSink } from "./access-log/stream-sink.ts";

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
}

/** What the options are checked against. */
export const accessLogOptions: OptionsSchema = pluginOptions({
  format: anyOf([oneOf(["common", "combined", "json"]), aFunction], '"common", "combined", "json" or a function'),
  file: fileLocation,
  stream: valueThat(hasMethods("write", "on", "off"), "a stream to write to"),
  write: aFunction,
});

/** An access log, and what its operator needs. */
export interface AccessLogPlugin extends Plugin {
  /** Lines lost so far, because the output was too slow or failed. */
  readonly dropped: number;
  /**
   * Opens the file anew, after a rotation has renamed it; no line is lost or written twice. Rejects where that fails,
   * and the log then goes on in the old file. Does nothing for a stream or a function.
   */
  reopen(): Promise<void>;
}

/**
 * Writes a line for every reply of its host, whichever plugin made it and wherever this one stands in the list. The line
 * has the bytes that were sent, and whether the client left early. No reply ever waits for the log.
 *
 * Lines go to a file, a stream, a function, or with none of these to the server's `logger` (`info`, the entry as field
 * `access`). Throws a `ConfigError` for options that make no sense; a file that cannot be opened, or no logger to write
 * to, keeps the server from starting.
 *
 * @example
 * createFileServer({ root: "site", plugins: [accessLog({ file: "/var/log/site/access.log" })] });
 */
export function accessLog(options: AccessLogOptions = {}): AccessLogPlugin {
  checkOptions("accessLog", accessLogOptions, options);
  const { format = "combined", file, stream, write } = options;
  const outputs = Object.entries({ file, stream, write }).flatMap(([name, value]) => (value === undefined ? [] : name));
  if (outputs.length > 1) throw new ConfigError([`accessLog: has ${outputs.join(" and ")}: expected one of them`]);
  const lineOf = lineFormat(format);
  const failures = new LogFailures();
  const path = file === undefined ? undefined : filePath(String(file));
  const sink: Sink = path
    ? new FileSink(path, failures)
    : stream
      ? new StreamSink(stream, failures)
      : new FunctionSink(write && ((line, entry) => write(line, entry())), failures);
  return {
    name: "access-log",
    get dropped() {
      return failures.dropped;
    },
    async start(site) {
      failures.site ??= site;
      await sink.start(site);
    },
    observe(exchange, outcome) {
      // Not from `exchange.startedAt`: that clock stands still while the computer sleeps.
      const time = new Date(Date.now() - outcome.durationMs);
      try {
        sink.add(lineOf(exchange, outcome, time), () => accessLogEntry(exchange, outcome, time));
      } catch (error) {
        failures.failed("its format failed", error);
        failures.drop(1);
      }
    },
    reopen: () => sink.reopen(),
    async close() {
      await sink.close();
      failures.warn();
    },
  };
}
