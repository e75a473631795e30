import { describe, expect, it, onTestFinished } from "vitest";
import type { Audience } from "../../../src/plugins/live/audience.ts";
import { type LiveClient, LiveClients } from "../../../src/plugins/live/live-clients.ts";
import { permitAll } from "../../../src/server/access.ts";
import { ChangeFeed } from "../../../src/server/change-feed.ts";
import type { Exchange } from "../../../src/server/exchange.ts";
import type { Plugin, PluginSite } from "../../../src/server/plugin.ts";
import { accessOf } from "../../helpers/file-request.ts";

const plugin: Plugin = { name: "live" };

function site(): PluginSite {
  const fail = (error: unknown): never => {
    throw error;
  };
  return { name: "s", plugins: [plugin], changes: new ChangeFeed(fail), report: fail } as never;
}

function exchangeOn(where: PluginSite, more: Partial<Exchange> = {}): Exchange {
  return { site: where, address: "192.0.2.1", path: "/ws", access: permitAll, ...more } as Exchange;
}

/** A client that notes what is done to it. */
class Noting implements LiveClient {
  readonly encode = ({ id }: { id: number }): Buffer => Buffer.from(String(id));
  readonly audience: Audience;
  readonly noted: string[] = [];
  readonly isFull = false;
  readonly closed: Promise<void>;
  leave: () => void = () => {};

  constructor(audience: Audience) {
    this.audience = audience;
    this.closed = new Promise((resolve) => {
      this.leave = resolve;
    });
  }

  write(bytes: Buffer): void {
    this.noted.push(String(bytes));
  }

  writeGap(): void {}
  writeHello(): void {}
  async drained(): Promise<void> {}

  beat(): void {
    this.noted.push("beat");
    this.leave();
  }

  dismiss(): void {
    this.noted.push("dismissed");
    this.leave();
  }
}

function clientsOf(options: { maxClients?: number; beatSeconds?: number } = {}): LiveClients<Noting> {
  const clients = new LiveClients<Noting>({
    maxClients: 10,
    maxClientsPerAddress: undefined,
    beatSeconds: 1000,
    ...options,
  });
  onTestFinished(() => clients.stop());
  return clients;
}

describe("live clients", () => {
  it("have no place before the start", () => {
    expect(() => clientsOf().takePlace(exchangeOn(site()))).toThrow(expect.objectContaining({ code: "CLOSING" }));
  });

  it("give their place back when they leave", async () => {
    const clients = clientsOf({ maxClients: 1 });
    const where = site();
    clients.start(where, plugin, "live");
    const client = new Noting(clients.audienceOf(exchangeOn(where), undefined));
    clients.add(client, "now", clients.takePlace(exchangeOn(where)));
    expect(() => clients.takePlace(exchangeOn(where))).toThrow(expect.objectContaining({ code: "OVERLOADED" }));
    client.leave();
    await client.closed;
    clients.takePlace(exchangeOn(where))();
  });

  it("receive each change, until they leave", async () => {
    const clients = clientsOf();
    const where = site();
    clients.start(where, plugin, "live");
    const client = new Noting(clients.audienceOf(exchangeOn(where), undefined));
    clients.add(client, "now", clients.takePlace(exchangeOn(where)));
    const change = { kind: "replaced", method: "PUT", host: "h", path: "/a", requestId: "r" } as const;
    where.changes.publish(change, { site: "s" });
    await clients.delivered();
    client.leave();
    await client.closed;
    where.changes.publish(change, { site: "s" });
    await clients.delivered();
    expect(client.noted).toEqual(["1"]);
  });

  it.each([
    ["shown that the connection is alive", true, "beat"],
    ["dismissed once they may not read what they are connected to", false, "dismissed"],
  ])("are %s", async (_what, isPermitted, expected) => {
    const clients = clientsOf({ beatSeconds: 0.001 });
    const where = site();
    clients.start(where, plugin, "live");
    const access = { ...permitAll, current: () => accessOf(() => isPermitted) };
    const client = new Noting(clients.audienceOf(exchangeOn(where, { access }), undefined));
    clients.add(client, "now", clients.takePlace(exchangeOn(where)));
    await client.closed;
    expect(client.noted[0]).toBe(expected);
  });
});
