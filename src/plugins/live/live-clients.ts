import { itemsInSlices } from "../../event-loop/sliced-work.ts";
import { type TakePlace, unavailable, usageLimit } from "../../server/admission.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { ConnectedClient, Plugin, PluginSite } from "../../server/plugin.ts";
import type { Site } from "../../server/site.ts";
import { type Audience, mayStay } from "./audience.ts";
import { Broadcast, type Position } from "./broadcast.ts";
import type { LiveClient } from "./live-client.ts";
import { type IsProven, provenPaths } from "./proven-paths.ts";

/** The clients of a plugin that sends changes, on all its hosts. */
export class LiveClients<Client extends LiveClient> {
  readonly #clients = new Set<Client>();
  readonly #provenAt = new Map<Site, IsProven>();
  readonly #takePlace: TakePlace;
  readonly #beatSeconds: number;
  #broadcast: Broadcast | undefined;
  #beats: NodeJS.Timeout | undefined;

  /** At most `maxClients`, half of them from one address; each is looked at every `beatSeconds`. */
  constructor(maxClients: number, beatSeconds: number) {
    this.#takePlace = usageLimit(maxClients);
    this.#beatSeconds = beatSeconds;
  }

  /** Throws a `ConfigError` where the plugin, called `name`, stands before `basicAuth`. */
  start(site: PluginSite, plugin: Plugin, name: string): void {
    this.#provenAt.set(site, provenPaths(site, plugin, name));
    this.#broadcast ??= new Broadcast(site.changes, (error) => site.report(error));
    this.#beats ??= setInterval(() => void this.visit(beat), this.#beatSeconds * 1000).unref();
  }

  /** Takes a place for the client of a request, and returns how to give it back. Throws 503 if all are taken. */
  takePlace({ address, site }: Exchange): () => void {
    if (!this.#broadcast || !this.#provenAt.has(site)) throw unavailable("CLOSING");
    return this.#takePlace(address);
  }

  audienceOf(exchange: Exchange, wantedPath: string | undefined, connectedTo: string = exchange.path): Audience {
    const { access, site, path } = exchange;
    const proven = this.#provenAt.get(site);
    const isProven = (each: string): boolean => proven?.(path, each) ?? false;
    return { site: site.name, path: wantedPath, connectedTo, exchange, access, isProven };
  }

  /** Sends a client all changes from a position on, and gives its place back when it leaves. */
  add(client: Client, position: Position, giveBack: () => void): void {
    this.#clients.add(client);
    const leave = this.#broadcast?.join(client, position);
    void client.closed.then(() => {
      leave?.();
      this.#clients.delete(client);
      giveBack();
    });
  }

  /** Ends the connections that a function of the host program chooses, at once, and returns how many. */
  disconnect(isMeant: (client: ConnectedClient) => boolean): number {
    const meant = [...this.#clients].filter(({ audience: { exchange } }) => isMeant({ user: exchange.user, exchange }));
    for (const client of meant) client.dismiss();
    return meant.length;
  }

  async visit(task: (client: Client) => void): Promise<void> {
    for await (const client of itemsInSlices(this.#clients)) task(client);
  }

  /** Resolves when everything that was published until now is sent. */
  async delivered(): Promise<void> {
    await this.#broadcast?.delivered();
  }

  /** Sends no more changes. Resolves when all clients have left. */
  async stop(): Promise<void> {
    clearInterval(this.#beats);
    this.#beats = undefined;
    await Promise.all([...this.#clients].map(({ closed }) => closed));
    this.#broadcast?.close();
    this.#broadcast = undefined;
    this.#provenAt.clear();
  }
}

function beat(client: LiveClient): void {
  if (mayStay(client.audience)) client.beat();
  else client.dismiss();
}
