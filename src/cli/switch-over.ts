import { EventEmitter } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Http2SecureServer } from "node:http2";
import type { HostConfig } from "../config.ts";
import type { FileServer } from "../file-server.ts";
import { methodsWithContent } from "../http/methods.ts";
import { onceOver } from "../runtime/node-request.ts";
import { notify } from "../server/logger.ts";
import { listPlugins } from "../server/pipeline.ts";
import type { Plugin } from "../server/plugin.ts";
import type { StartedFiles } from "./start-files.ts";

/** A file server that answers new requests, or a replaced one that finishes its last. */
class Generation {
  readonly files: FileServer;
  readonly plugins: readonly Plugin[];
  /** Takes the place of the listening server, so that the file server can be detached again. */
  readonly emitter = new EventEmitter();
  uploads = 0;
  #inFlight = 0;
  #onIdle: (() => void) | undefined;

  constructor({ files, config }: StartedFiles) {
    this.files = files;
    const hosts: readonly HostConfig[] = [config, ...Object.values(config.hosts ?? {})];
    const plugins = hosts.flatMap((host) => listPlugins(host.plugins ?? []).map(({ plugin }) => plugin));
    this.plugins = [...new Set(plugins)];
    files.attach(this.emitter as Server);
  }

  take(event: string, request: IncomingMessage, response: ServerResponse): void {
    const upload = methodsWithContent.has(request.method ?? "") ? 1 : 0;
    this.#inFlight += 1;
    this.uploads += upload;
    onceOver(request, response, () => {
      this.#inFlight -= 1;
      this.uploads -= upload;
      if (this.#inFlight === 0) this.#onIdle?.();
    });
    this.emitter.emit(event, request, response);
  }

  /** Settles when nothing is in flight. Closing earlier would cut the connections of the last replies. */
  idle(): Promise<void> {
    return this.#inFlight === 0 ? Promise.resolve() : new Promise((resolve) => (this.#onIdle = resolve));
  }
}

/** Puts one file server in the place of another on a listening server, without losing a request. */
export class SwitchOver {
  #current: Generation;
  readonly #retiring = new Map<Generation, Promise<void>>();
  readonly #report: (error: unknown) => void;
  #closing: Promise<void> | undefined;

  constructor(started: StartedFiles, server: Server | Http2SecureServer, report: (error: unknown) => void) {
    this.#current = new Generation(started);
    this.#report = report;
    const emitter: EventEmitter = server;
    for (const event of ["request", "checkContinue"]) {
      emitter.on(event, (request, response) => this.#current.take(event, request, response));
    }
    emitter.on("upgrade", (...args) => this.#current.emitter.emit("upgrade", ...args));
  }

  get uploads(): number {
    return [this.#current, ...this.#retiring.keys()].reduce((sum, { uploads }) => sum + uploads, 0);
  }

  /** Sends new requests to another file server. The former one is closed after its last reply. */
  replace(started: StartedFiles): void {
    const next = new Generation(started);
    const former = this.#closing ? next : this.#current; // the service is closing
    if (!this.#closing) this.#current = next;
    // Endless replies would keep it alive without getting further changes. Their clients reconnect to the next one.
    for (const plugin of former.plugins) notify(() => plugin.drain?.(), this.#report);
    const retired = former
      .idle()
      .then(() => former.files.close())
      .catch(this.#report)
      .finally(() => this.#retiring.delete(former));
    this.#retiring.set(former, retired);
  }

  /** Opens all log files anew, also those that only requests still in flight will be written to. */
  async reopenLogs(): Promise<void> {
    const generations = [this.#current, ...this.#retiring.keys()];
    const logs: readonly (Plugin & { reopen?(): Promise<void> })[] = generations.flatMap(({ plugins }) => plugins);
    await Promise.all(logs.map(async (log) => log.reopen?.()).map((done) => done.catch(this.#report)));
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#current.files.close(), ...this.#retiring.values()]).then(() => {});
    return this.#closing;
  }
}
