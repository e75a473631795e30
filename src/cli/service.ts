import type { AddressInfo } from "node:net";
import { ConfigError, type FileServerConfig } from "../config.ts";
import { doneInTime } from "../event-loop/in-time.ts";
import { hostKey } from "../options/check-config.ts";
import { messageOf } from "../server/logger.ts";
import type { CommandLine } from "./command-line.ts";
import { Listener, type Timeouts } from "./listener.ts";
import type { OperatorLog } from "./log-lines.ts";
import { openHostWarnings, writersNotice } from "./open-hosts.ts";
import { defaultAddress, type StartedFiles, startFiles } from "./start-files.ts";
import { SwitchOver } from "./switch-over.ts";
import { readTlsFiles } from "./tls-files.ts";

/** How long plugins and storages may take to close once nothing is in flight, in milliseconds. */
const closeMs = 10_000;
/** Longer than the listener waits for requests in flight. */
const stopMs = 8_000 + closeMs;

export class Service {
  readonly url: string;
  readonly #commandLine: CommandLine;
  readonly #log: OperatorLog;
  readonly #listener: Listener;
  readonly #bound: Address;
  readonly #current: SwitchOver;
  #isStopping = false;
  #warned: readonly string[] | undefined;

  static async start(commandLine: CommandLine, log: OperatorLog, timeouts: Partial<Timeouts> = {}): Promise<Service> {
    const tls = commandLine.tls && (await readTlsFiles(commandLine.tls));
    const listener = new Listener(tls, timeouts);
    const started = await startFiles(commandLine, log);
    const current = new SwitchOver(started, listener.server, (err) => log.error({ err }, "closing failed"));
    const wanted = addressOf(commandLine, started.address);
    try {
      const got = await listener.listen(wanted.host, wanted.port);
      listener.server.on("error", (err: Error) => log.error({ err }, "cannot accept a connection"));
      const url = urlOf(got, tls !== undefined, started.config);
      const service = new Service({ commandLine, log, listener, current, bound: wanted, url });
      service.#warnOfOpenHosts(started.config);
      return service;
    } catch (error) {
      current.close().catch(() => {}); // the error of listening is the one to report
      throw error;
    }
  }

  private constructor({ commandLine, log, listener, current, bound, url }: Parts) {
    this.#commandLine = commandLine;
    this.#log = log;
    this.#listener = listener;
    this.#current = current;
    this.#bound = bound;
    this.url = url;
  }

  /** Loads configuration and certificate again. Where one of them cannot be used, both stay as they were. */
  async reload(): Promise<void> {
    if (this.#isStopping) return;
    const { tls, target } = this.#commandLine;
    await this.#current.reopenLogs(); // also where the rest fails: what was renamed may be compressed by now
    try {
      const renewed = tls && (await readTlsFiles(tls));
      const started = await startFiles({ ...this.#commandLine, host: this.#bound.host }, this.#log);
      if (renewed) this.#listener.renewCertificate(renewed);
      this.#current.replace(started);
      this.#log.notice(`${target} is loaded`);
      this.#noteAddress(started);
    } catch (error) {
      const problems = error instanceof ConfigError ? error.problems : [messageOf(error)];
      for (const problem of problems) this.#log.error({}, problem);
      this.#log.error({}, `${target} was not loaded: what was loaded before stays in force`);
    }
  }

  /** Answers what is in flight, closes everything and leaves the process nothing to do. Rejects if uploads were cut. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    let cut = 0;
    this.#listener.stop(() => {
      cut = this.#current.uploads;
    });
    await doneInTime(this.#current.close(), stopMs, `not everything has ended within ${stopMs / 1000} s`);
    this.#listener.finish();
    if (cut > 0) throw new Error(`${cut} ${cut === 1 ? "upload was" : "uploads were"} cut off before the end`);
  }

  /** Says who may write, and warns of hosts open to anonymous clients, unless the former configuration had the same. */
  #warnOfOpenHosts(config: FileServerConfig): void {
    const warnings = openHostWarnings(config, this.#bound.host);
    const isNews = this.#warned === undefined || this.#warned.length > 0;
    if (warnings.length === 0 && isNews) this.#log.notice(writersNotice(this.#commandLine));
    for (const warning of warnings) if (!this.#warned?.includes(warning)) this.#log.warn({}, warning);
    this.#warned = warnings;
  }

  #noteAddress({ config, address }: StartedFiles): void {
    const wanted = addressOf(this.#commandLine, address);
    this.#warnOfOpenHosts(config);
    if (wanted.host === this.#bound.host && wanted.port === this.#bound.port) return;
    const change = `from ${this.#bound.host}:${this.#bound.port} to ${wanted.host}:${wanted.port}`;
    this.#log.warn({}, `the address to listen on has changed ${change}, which takes a restart`);
  }
}

interface Parts {
  readonly commandLine: CommandLine;
  readonly log: OperatorLog;
  readonly listener: Listener;
  readonly current: SwitchOver;
  readonly bound: Address;
  readonly url: string;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where to listen: the command line takes precedence over the configuration. */
function addressOf({ host, port }: CommandLine, { bindAddress, bindPort }: StartedFiles["address"]): Address {
  return { host: host ?? bindAddress ?? defaultAddress, port: port ?? bindPort ?? 3000 };
}

/** A URL that the server answers: with the address, or with a name if no host has the address. */
function urlOf({ address, family, port }: AddressInfo, isSecure: boolean, config: FileServerConfig): string {
  const literal = family === "IPv6" ? `[${address}]` : address;
  const hosts = Object.entries(config.hosts ?? {});
  const names = hosts.flatMap(([name, { aliases = [] }]) => [name, ...aliases]).map(hostKey);
  const isDefault = config.root !== undefined || config.storage !== undefined || names.includes("*");
  const [first = literal] = isDefault || names.includes(literal) ? [literal] : names;
  const name = first !== literal && names.includes("localhost") ? "localhost" : first;
  return `${isSecure ? "https" : "http"}://${name}:${port}`;
}
