import { ConfigError } from "../config.ts";
import { filePath } from "../local-files/file-path.ts";
import { checkOptions } from "../options/check-config.ts";
import { aFunction, fileLocation, hasMethods, pluginOptions } from "../options/option-types.ts";
import { type OptionsSchema, oneOf, valueThat } from "../options/schema.ts";
import { isQuiet } from "../server/logger.ts";
import type { Plugin } from "../server/plugin.ts";
import { type AccessLogEntry, accessLogEntry } from "./access-log/entry.ts";
import { fileOutput } from "./access-log/file-output.ts";
import { formats } from "./access-log/formats.ts";
import { functionOutput, LogFailures, type LogStream, type Output, streamOutput } from "./access-log/output.ts";

/** Options for {@link accessLog}. At most one of `file`, `stream` and `write`. */
export interface AccessLogOptions {
  /** What a line looks like: Apache's Common or Combined Log Format, or an object in JSON. @default "combined" */
  readonly format?: "common" | "combined" | "json" | undefined;
  /** A path or a `file://` location to append to. Its directory has to exist. @default the server's `logger` */
  readonly file?: string | URL | undefined;
  /** A stream to write to, which stays open. @default the server's `logger` */
  readonly stream?: LogStream | undefined;
  /** Called with each line, without its line end. @default the server's `logger` */
  readonly write?: ((line: string, entry: AccessLogEntry) => unknown) | undefined;
}

export const accessLogOptions: OptionsSchema = pluginOptions({
  format: oneOf(["common", "combined", "json"], '"common", "combined" or "json"'),
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
 * Writes a line for every reply of its host, whichever plugin made it and wherever this one stands in the list. The
 * line has the bytes that were sent, and whether the client left early. No reply ever waits for the log.
 *
 * Lines go to a file, a stream, a function, or without these to the server's `logger` (`info`, the entry as field
 * `access`). Throws a `ConfigError` for options that make no sense; a file that cannot be opened, or no logger to write
 * to, keeps the server from starting.
 *
 * @example
 * createFileServer({ root: "site", plugins: [accessLog({ file: "/var/log/site/access.log" })] });
 */
export function accessLog(options: AccessLogOptions = {}): AccessLogPlugin {
  checkOptions("accessLog", accessLogOptions, options);
  const { format = "combined", ...given } = options;
  const lineOf = formats[format];
  const failures = new LogFailures();
  const output = outputOf(given, failures);
  return {
    name: "access-log",
    get dropped() {
      return failures.dropped;
    },
    async start(site) {
      failures.site ??= site;
      await output.start?.(site);
    },
    observe(exchange, outcome) {
      // Not from `exchange.startedAt`: that clock stands still while the computer sleeps.
      const time = new Date(Date.now() - outcome.durationMs);
      output.add(lineOf(exchange, outcome, time), () => accessLogEntry(exchange, outcome, time));
    },
    async reopen() {
      await output.reopen?.();
    },
    async close() {
      await output.close();
      failures.warn();
    },
  };
}

/** The one place that the options name for the lines, or the server's logger. */
function outputOf({ file, stream, write }: AccessLogOptions, failures: LogFailures): Output {
  const names = Object.entries({ file, stream, write }).flatMap(([name, value]) => (value === undefined ? [] : name));
  if (names.length > 1) throw new ConfigError([`accessLog: has ${names.join(" and ")}: expected one of them`]);
  const path = file === undefined ? undefined : filePath(String(file));
  if (path !== undefined) return fileOutput(path, failures);
  if (stream) return streamOutput(stream, failures);
  if (write) return functionOutput((line, entry) => write(line, entry()), failures);
  return {
    ...functionOutput((line, entry) => failures.site?.logger.info({ access: entry() }, line), failures),
    start({ logger }) {
      if (!isQuiet(logger)) return;
      const expected = "expected file, stream or write, or a logger of the server";
      throw new ConfigError([`accessLog: has nowhere to write: ${expected}`]);
    },
  };
}
