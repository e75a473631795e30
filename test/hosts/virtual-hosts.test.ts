import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import type { HostParts } from "../../src/hosts/site.ts";
import { createVirtualHosts, type VirtualHosts } from "../../src/hosts/virtual-hosts.ts";
import { ChangeFeed } from "../../src/server/change-feed.ts";
import { silentLogger } from "../../src/server/logger.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { rawRequest, serve } from "../helpers/serve.ts";

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

/** A storage whose `/` tells whose it is. */
const home = (text: string) => memoryStorage({ "/index.html": text });

describe("the virtual hosts", () => {
  it("find a host by its name and by each alias", () => {
    const hosts = hostsOf({ hosts: { "a.example": { storage, aliases: ["www.a.example", "a.test"] } } });
    const found = ["a.example", "www.a.example", "a.test"].map((name) => hosts.find(name)?.name);
    expect(found).toEqual(["a.example", "a.example", "a.example"]);
    expect(hosts.sites).toHaveLength(1);
  });

  it("find names that the configuration spells in capitals", () => {
    const hosts = hostsOf({ hosts: { "A.Example": { storage, aliases: ["WWW.a.example"] } } });
    expect(hosts.find("a.example")).toBeDefined();
    expect(hosts.find("www.a.example")).toBe(hosts.find("a.example"));
  });

  it("answer by no name of somebody else where only some are allowed", () => {
    const hosts = hostsOf({ storage, hosts: { "a.example": { storage } }, allowedHosts: ["Proxy.example"] });
    const own = ["", "127.0.0.1", "10.1.2.3", "[::1]", "localhost", "site.localhost", "a.example", "proxy.example"];
    expect(own.filter((name) => hosts.find(name) === undefined)).toEqual([]);
    const foreign = ["rebound.example", "localhost.example", "notlocalhost", "127.0.0.1.example", "127.1"];
    expect(foreign.filter((name) => hosts.find(name) !== undefined)).toEqual([]);
    expect(hostsOf({ storage }).find("rebound.example")).toBeDefined();
  });

  it("find nothing for a name that is not theirs", () => {
    const hosts = hostsOf({ hosts: { "a.example": { storage } } });
    const strangers = ["", "b.example", "sub.a.example", "a.example.evil.com", "constructor", "__proto__"];
    expect(strangers.map((name) => hosts.find(name))).toEqual(strangers.map(() => undefined));
  });

  it('leave every other name, and none at all, to "*"', () => {
    const hosts = hostsOf({ hosts: { "a.example": { storage }, "*": { storage } } });
    expect(["b.example", ""].map((name) => hosts.find(name)?.name)).toEqual(["*", "*"]);
    expect(hosts.find("a.example")?.name).toBe("a.example");
  });

  it("leave every other name to the storage that stands beside them", () => {
    const hosts = hostsOf({ storage, hosts: { "a.example": { storage: memoryStorage() } } });
    expect(hosts.find("b.example")?.storage).toBe(storage);
    expect(hosts.sites.map(({ name }) => name)).toEqual(["a.example", "*"]);
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

  it("are found under the one spelling of an address", () => {
    const hosts = hostsOf({ hosts: { "[0:0:0:0:0:0:0:1]": { storage } } });
    expect(hosts.find("[::1]")).toBe(hosts.sites[0]);
  });

  it("answer for the Host of a request, whatever its case, port and trailing dot", async () => {
    const { port } = await serve({
      hosts: { "a.example": { storage: home("a") }, "b.example": { storage: home("b"), aliases: ["[::1]"] } },
    });
    const spellings = ["A.EXAMPLE:8080", "a.example.", "b.example", "[0:0::1]:80"];
    const answers = await Promise.all(spellings.map((host) => rawRequest(port, "GET", "/", [`Host: ${host}`])));
    expect(answers.map(({ body }) => body)).toEqual(["a", "a", "b", "b"]);
  });

  it("answer for the host of an absolute request target before that of the Host field", async () => {
    const { port } = await serve({
      hosts: { "a.example": { storage: home("a") }, "b.example": { storage: home("b") } },
    });
    const { body } = await rawRequest(port, "GET", "http://b.example/", ["Host: a.example"]);
    expect(body).toBe("b");
  });

  it("refuse a host that is nobody's with 421, and one that is no name with 400", async () => {
    const { port } = await serve({ hosts: { "a.example": { storage } } });
    const strange = await rawRequest(port, "GET", "/", ["Host: b.example"]);
    const broken = await rawRequest(port, "GET", "/", ["Host: a.example/../b"]);
    expect([strange.status, JSON.parse(strange.body).code]).toEqual([421, "UNKNOWN_HOST"]);
    expect([broken.status, JSON.parse(broken.body).code]).toEqual([400, "INVALID_HOST"]);
  });

  it("believe X-Forwarded-Host of a trusted proxy only", async () => {
    const hosts = { "a.example": { storage: home("a") }, "b.example": { storage: home("b") } };
    const lines = ["Host: a.example", "X-Forwarded-Host: b.example"];
    const trusting = await serve({ hosts, trustProxy: "loopback" });
    const wary = await serve({ hosts });
    expect((await rawRequest(trusting.port, "GET", "/", lines)).body).toBe("b");
    expect((await rawRequest(wary.port, "GET", "/", lines)).body).toBe("a");
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

  it("close a plugin that two of them share once", async () => {
    let closed = 0;
    const shared: Plugin = {
      name: "shared",
      close() {
        closed += 1;
      },
    };
    const files = createFileServer({
      hosts: { "a.example": { storage, plugins: [shared] }, "b.example": { storage, plugins: [shared] } },
    });
    await files.ready();
    await files.close();
    expect(closed).toBe(1);
  });
});
