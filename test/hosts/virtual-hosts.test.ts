import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import type { HostParts } from "../../src/hosts/site.ts";
import { createVirtualHosts, type VirtualHosts } from "../../src/hosts/virtual-hosts.ts";
import { ChangeFeed } from "../../src/server/change-feed.ts";
import { silentLogger } from "../../src/server/logger.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";

const storage = memoryStorage();
const parts: HostParts = {
  changes: new ChangeFeed(() => {}),
  logger: silentLogger,
  outage: () => undefined,
  report: () => {},
  protect: async () => {},
  cover: async () => {},
  ask: () => Promise.reject(new Error("no plugin asks")),
};
const hostsOf = (config: FileServerConfig): VirtualHosts => createVirtualHosts(config, parts);

describe("the virtual hosts", () => {
  it("find a host by its name and by each alias", () => {
    const hosts = hostsOf({ hosts: { "a.example": { storage, aliases: ["www.a.example", "a.test"] } } });
    const found = ["a.example", "www.a.example", "a.test"].map((name) => hosts.find(name)?.name);
    expect(found).toEqual(["a.example", "a.example", "a.example"]);
    expect(hosts.sites).toHaveLength(1);
  });

  it("answer by no name of somebody else where only some are allowed", () => {
    const hosts = hostsOf({ storage, hosts: { "a.example": { storage } }, allowedHosts: ["Proxy.example"] });
    const own = ["", "127.0.0.1", "10.1.2.3", "[::1]", "localhost", "site.localhost", "a.example", "proxy.example"];
    expect(own.filter((name) => hosts.find(name) === undefined)).toEqual([]);
    const foreign = ["rebound.example", "localhost.example", "notlocalhost", "127.0.0.1.example", "127.1"];
    expect(foreign.filter((name) => hosts.find(name) !== undefined)).toEqual([]);
    expect(hostsOf({ storage }).find("rebound.example")).toBeDefined();
  });

  it('leave every other name, and none at all, to "*"', () => {
    const hosts = hostsOf({ hosts: { "a.example": { storage }, "*": { storage } } });
    expect(["b.example", ""].map((name) => hosts.find(name)?.name)).toEqual(["*", "*"]);
    expect(hosts.find("a.example")?.name).toBe("a.example");
  });

  it("are just the default host where none are configured", () => {
    const hosts = hostsOf({ storage });
    expect(hosts.sites.map(({ name }) => name)).toEqual(["*"]);
    expect(hosts.find("anything")).toBe(hosts.sites[0]);
  });

  it("take over the options of the server that they do not set themselves", () => {
    const hosts = hostsOf({
      listing: false,
      maxFileSize: 10,
      contentTypes: { ".md": "text/markdown" },
      allowedOrigins: ["https://admin.example"],
      hosts: { "a.example": { storage }, "b.example": { storage, maxFileSize: 20, contentTypes: {} } },
    });
    expect(hosts.find("a.example")?.options).toMatchObject({
      listing: false,
      maxFileSize: 10,
      contentTypes: { ".md": "text/markdown" },
      allowedOrigins: new Set(["https://admin.example"]),
    });
    expect(hosts.find("b.example")?.options).toMatchObject({ listing: false, maxFileSize: 20, contentTypes: {} });
  });

  it("take over an option that they set to undefined", () => {
    const hosts = hostsOf({ listing: false, hosts: { "a.example": { storage, listing: undefined } } });
    expect(hosts.find("a.example")?.options.listing).toBe(false);
  });

  it("never share their files", () => {
    const hosts = hostsOf({ storage, hosts: { "a.example": { plugins: [{ name: "file-handler" }] } } });
    expect(hosts.find("a.example")?.storage).toBeUndefined();
  });

  it("run the server's plugins where they have none of their own, so that what protects it protects them all", () => {
    const hosts = hostsOf({
      storage,
      plugins: [{ name: "mine" }],
      hosts: {
        "a.example": { storage },
        "b.example": { storage, plugins: undefined },
        "c.example": { storage, plugins: [{ name: "other" }] },
      },
    });
    const names = ["a", "b", "c", "d"].map((host) => hosts.find(`${host}.example`)?.plugins.map(({ name }) => name));
    expect(names).toEqual([
      ["mine", "file-handler"],
      ["mine", "file-handler"],
      ["other", "file-handler"],
      ["mine", "file-handler"],
    ]);
  });

  it("have the plugins of each started for it, in order, and a shared one for each of them", async () => {
    const log: string[] = [];
    const starting = (name: string): Plugin => ({ name, start: (site) => void log.push(`${name} for ${site.name}`) });
    const shared = starting("shared");
    const files = createFileServer({
      hosts: {
        "a.example": { storage, plugins: [shared, starting("own")] },
        "b.example": { storage, plugins: [shared] },
      },
    });
    await files.ready();
    expect(log).toEqual(["shared for a.example", "own for a.example", "shared for b.example"]);
    await files.close();
  });
});
