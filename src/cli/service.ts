import type { AddressInfo } from "node:net";
import { ConfigError, type FileServerConfig } from "../config.ts";
import { doneInTime } from "../event-loop/in-time.ts";
import { hostKey } from "../options/check-config.ts";
import { messageOf } from "../server/logger.ts";
import type { CommandLine } from "./command-line.ts";
import { Listener, type Timeouts } from "./listener.ts";
import type { OperatorLog } from "./log-lines.ts";
import { hostNames, openHostWarnings, startFiles } from "./start-files.ts";
import { SwitchOver } from "./switch-over.ts";
import { readTlsFiles } from "./tls-files.ts";

/** How long plugins and storages may take to close once nothing is in flight, in milliseconds. */
const closeMs = 10_000;
/** Longer than the listener waits for requests in flight. */
const stopMs = 8_000 + closeMs;

/** The running command: a listening server, and the file server of the current configuration behind it. */
export interface Service {
  readonly url: string;
  /** Loads configuration and certificate again. Where one of them cannot be used, both stay as they were. */
  reload(): Promise<void>;
  /** Answers what is in flight and closes everything. Rejects if uploads were cut. */
  stop(): Promise<void>;
}

export async function startService(
  commandLine: CommandLine,
  log: OperatorLog,
  timeouts: Partial<Timeouts> = {},
): Promise<Service> {
  const { target, tls: tlsFiles } = commandLine;
  const tls = tlsFiles && (await readTlsFiles(tlsFiles));
  const listener = new Listener(tls, timeouts);
  const started = await startFiles(commandLine, log);
  const current = new SwitchOver(started, listener.server, (err) => log.error({ err }, "closing failed"));
  const bound = started.address;
  const got = await listener.listen(bound.host, bound.port).catch((error) => {
    current.close().catch(() => {}); // the error of listening is the one to report
    throw error;
  });
  listener.server.on("error", (err: Error) => log.error({ err }, "cannot accept a connection"));
  let isStopping = false;
  let warned = warnOfOpenHosts(started.config);

  /** Says who may write, and warns of hosts open to anonymous clients, unless the former configuration had the same. */
  function warnOfOpenHosts(config: FileServerConfig, before?: readonly string[]): readonly string[] {
    const warnings = openHostWarnings(config, bound.host);
    const isNews = before === undefined || before.length > 0;
    if (warnings.length === 0 && isNews) log.notice(writersNotice(commandLine));
    for (const warning of warnings) if (!before?.includes(warning)) log.warn({}, warning);
    return warnings;
  }

  return {
    url: urlOf(got, tls !== undefined, started.config),
    async reload() {
      if (isStopping) return;
      await current.reopenLogs(); // also where the rest fails: what was renamed may be compressed by now
      try {
        const renewed = tlsFiles && (await readTlsFiles(tlsFiles));
        const next = await startFiles({ ...commandLine, boundHost: bound.host }, log);
        if (renewed) listener.renewCertificate(renewed);
        current.replace(next);
        log.notice(`${target} is loaded`);
        warned = warnOfOpenHosts(next.config, warned);
        const { host, port } = next.address;
        if (host === bound.host && port === bound.port) return;
        const change = `from ${bound.host}:${bound.port} to ${host}:${port}`;
        log.warn({}, `the address to listen on has changed ${change}, which takes a restart`);
      } catch (error) {
        const problems = error instanceof ConfigError ? error.problems : [messageOf(error)];
        for (const problem of problems) log.error({}, problem);
        log.error({}, `${target} was not loaded: what was loaded before stays in force`);
      }
    },
    async stop() {
      isStopping = true;
      let cut = 0;
      listener.stop(() => {
        cut = current.uploads;
      });
      await doneInTime(current.close(), stopMs, `not everything has ended within ${stopMs / 1000} s`);
      listener.finish();
      if (cut > 0) throw new Error(`${cut} ${cut === 1 ? "upload was" : "uploads were"} cut off before the end`);
    },
  };
}

function writersNotice({ readOnly, users }: CommandLine): string {
  if (readOnly) return "files can only be read (--read-only)";
  return users === undefined
    ? "only clients that the page lets in can change files"
    : `only users of ${users} can change the files here, after signing in`;
}

/** A URL that the server answers: with the address, or with a name if no host has the address. */
function urlOf({ address, family, port }: AddressInfo, isSecure: boolean, config: FileServerConfig): string {
  const literal = family === "IPv6" ? `[${address}]` : address;
  const names = hostNames(config).map(hostKey);
  const isDefault = config.root !== undefined || config.storage !== undefined || names.includes("*");
  const [first = literal] = isDefault || names.includes(literal) ? [literal] : names;
  const name = first !== literal && names.includes("localhost") ? "localhost" : first;
  return `${isSecure ? "https" : "http"}://${name}:${port}`;
}
