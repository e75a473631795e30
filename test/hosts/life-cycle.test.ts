import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { LifeCycle } from "../../src/hosts/life-cycle.ts";
import { ChangeFeed } from "../../src/server/change-feed.ts";
import type { Plugin, PluginSite } from "../../src/server/plugin.ts";

const unexpected = (error: unknown): never => expect.unreachable(String(error));

/** A life with one host of these plugins, and what happened in it. */
function lifeOf(plugins: readonly Plugin[] = [], config: FileServerConfig = {}) {
  const storage = { close: async () => void log.push("storage closed") };
  const site = { plugins, storage } as unknown as PluginSite;
  const log: string[] = [];
  const changes = new ChangeFeed(unexpected);
  const life = new LifeCycle(config, changes, () => [site]);
  const close = (): Promise<void> => life.close(() => log.push("released"), unexpected);
  return { life, changes, close, log };
}

function noting(name: string, log: () => string[]): Plugin {
  return {
    name,
    start: () => void log().push(`${name} started`),
    drain: () => void log().push(`${name} drained`),
    close: () => void log().push(`${name} closed`),
  };
}

describe("the life of a server", () => {
  it("ends with what nobody reads, then the draining, then plugins in reverse, then the storage", async () => {
    const { close, log }: ReturnType<typeof lifeOf> = lifeOf([noting("a", () => log), noting("b", () => log)]);
    await Promise.all([close(), close()]);
    expect(log).toEqual(["released", "a drained", "b drained", "b closed", "a closed", "storage closed"]);
  });

  it("knows why nobody is answered: overload, maintenance, the end", async () => {
    let isMaintained = false;
    const { life, close } = lifeOf([], { maxConcurrentRequests: 1, maintenance: () => isMaintained });
    expect(life.outage()).toBeUndefined();
    life.enter();
    life.enter();
    expect(life.outage()).toMatchObject({ status: 503, code: "OVERLOADED" });
    isMaintained = true;
    expect(life.outage()).toMatchObject({ status: 503, code: "MAINTENANCE" });
    life.leave();
    life.leave();
    const closed = close();
    expect(life.outage()).toMatchObject({ status: 503, code: "CLOSING" });
    await closed;
  });
});
