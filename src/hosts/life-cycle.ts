import type { FileServerConfig } from "../config.ts";
import type { HttpError } from "../http/http-error.ts";
import { filePath } from "../local-files/file-path.ts";
import { unavailable } from "../server/admission.ts";
import type { ChangeFeed } from "../server/change-feed.ts";
import { notify } from "../server/logger.ts";
import type { PluginSite } from "../server/plugin.ts";
import { openHostWarnings } from "./authentication.ts";

export class LifeCycle {
  readonly #changes: ChangeFeed;
  readonly #sites: () => readonly PluginSite[];
  readonly #config: FileServerConfig;
  #inFlight = 0;
  #isStarted = false;
  #started: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  /** `sites` is called when they are first needed: to make them takes this object. */
  constructor(config: FileServerConfig, changes: ChangeFeed, sites: () => readonly PluginSite[]) {
    this.#config = config;
    this.#changes = changes;
    this.#sites = sites;
  }

  /** Whether requests can be answered without waiting for {@link ready}: all is started, or will never be. */
  get isSettled(): boolean {
    return this.#isStarted || this.isClosing;
  }

  get isClosing(): boolean {
    return this.#closed !== undefined;
  }

  enter(): void {
    this.#inFlight += 1;
  }

  leave(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#drained?.();
  }

  /** Why the server refuses all requests at the moment: closing, under maintenance, or overloaded. */
  outage(): HttpError | undefined {
    if (this.isClosing) return unavailable("CLOSING");
    const { maintenance, maxConcurrentRequests = 10_000 } = this.#config;
    if (typeof maintenance === "function" ? maintenance() : maintenance) return unavailable("MAINTENANCE");
    return this.#inFlight > maxConcurrentRequests ? unavailable("OVERLOADED") : undefined;
  }

  /** Starts the plugins of each host in order, once. */
  ready(): Promise<void> {
    this.#started ??= this.isClosing
      ? Promise.reject(new Error("the file server was closed before it was started"))
      : this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    const [site] = this.#sites(); // any will do: what it protects is protected on all
    const { feed, protectedFiles = [] } = this.#config;
    for (const location of protectedFiles) await site?.protect(filePath(location) ?? location);
    // The code for a Redis is loaded here: most servers do without Redis.
    const shared = typeof feed === "string" ? (await import("../redis/feed.ts")).redisFeed(feed) : feed;
    if (shared) await this.#changes.share(shared);
    for (const site of this.#sites()) for (const plugin of site.plugins) await plugin.start?.(site);
    this.#isStarted = true;
    const remedy = "basicAuth, permissions or readOnly changes that";
    for (const warning of openHostWarnings(this.#config, "every client that can reach this server", remedy)) {
      const warn = (): unknown => site?.logger.warn({ openHosts: true }, warning);
      notify(warn, () => {}); // a log that fails is no reason not to start
    }
  }

  /** Drains and closes, once. `release` gives up what will never finish. */
  close(release: () => void, report: (error: unknown) => void): Promise<void> {
    this.#closed ??= Promise.resolve().then(() => this.#close(release, report)); // later: `isClosing` is set by then
    return this.#closed;
  }

  async #close(release: () => void, report: (error: unknown) => void): Promise<void> {
    await this.#started?.catch(() => {}); // the caller of `ready` has the error
    release();
    const sites = this.#sites();
    const plugins = new Set(sites.flatMap((site) => site.plugins));
    for (const plugin of plugins) notify(() => plugin.drain?.(), report);
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    await this.#changes.end();
    await closeAll([...[...plugins].reverse(), ...new Set(sites.map((site) => site.storage))]);
  }
}

async function closeAll(parts: readonly ({ close?(): void | Promise<void> } | undefined)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of parts) {
    try {
      await part?.close?.();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `closing failed: ${failures.join("; ")}`);
}
