import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, type FileServerConfig, type HostConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import {
  createSite,
  createVirtualHosts,
  type HostedSite,
  type HostParts,
  type VirtualHosts,
} from "../../src/hosts/site.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { ChangeFeed } from "../../src/server/change-feed.ts";
import { quietLogger } from "../../src/server/logger.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const siteOf = (config: HostConfig, name = "*"): HostedSite =>
  createSite(name, config, { outage: () => undefined } as never);

function saying(name: string, alwaysOn?: boolean): Plugin {
  return { name, ...(alwaysOn && { alwaysOn }), handle: () => ({ status: 200, headers: {}, body: name }) };
}

describe("a site", () => {
  it("has documented defaults", () => {
    expect(siteOf({ storage: memoryStorage() }).options).toMatchObject({
      index: "index.html",
      listing: true,
      dotfiles: "ignore",
      contentTypes: {},
      createParents: true,
      untrustedContent: false,
      maxFileSize: 104_857_600,
      maxDocumentSize: 16_777_216,
      allowedOrigins: new Set(),
    });
  });

  it("takes an option set to undefined for one left out", () => {
    const { options } = siteOf({ storage: memoryStorage(), index: undefined, maxFileSize: undefined });
    expect(options).toMatchObject({ index: "index.html", maxFileSize: 104_857_600 });
  });

  it("has only options of files among its options", () => {
    const { options } = siteOf({ storage: memoryStorage(), aliases: ["a"], plugins: [], durability: "rename" });
    expect(Object.keys(options).filter((name) => /aliases|plugins|durability|storage/.test(name))).toEqual([]);
  });

  it("ends its pipeline in a file handler, unless the list has one", () => {
    const namesOf = (plugins: readonly Plugin[]) => siteOf({ plugins }).plugins.map(({ name }) => name);
    expect(namesOf([])).toEqual(["file-handler"]);
    expect(namesOf([saying("a")])).toEqual(["a", "file-handler"]);
    expect(namesOf([saying("file-handler"), { name: "a" }])).toEqual(["file-handler", "a"]);
  });

  it("serves a directory of the disk where it is given a root", async () => {
    const { storage } = siteOf({ root: await temporaryDirectory() });
    expect(await storage?.stat("/")).toMatchObject({ type: "directory" });
  });

  it.each([
    ["*", 'root: "'],
    ["a.example", 'hosts.a.example.root: "'],
  ])("refuses a root that does not exist with an error that names it: %s", async (name, start) => {
    const root = join(await temporaryDirectory(), "none");
    expect(() => siteOf({ root }, name)).toThrow(ConfigError);
    expect(() => siteOf({ root }, name)).toThrow(start);
    expect(() => siteOf({ root }, name)).toThrow("does not exist");
  });

  it("runs only plugins that are always on during an outage", async () => {
    const site = siteOf({ plugins: [saying("a"), saying("health", true)], storage: memoryStorage() });
    expect(await site.answer({} as never)).toMatchObject({ body: "a" });
    expect(await site.answerDuringOutage({} as never)).toMatchObject({ body: "health" });
  });

  it("answers with the outage where none of them does", async () => {
    const outage = new HttpError(503, "MAINTENANCE", "Later.");
    const site = createSite("*", { storage: memoryStorage() }, { outage: () => outage } as never);
    expect(await site.answerDuringOutage({ headers: {}, id: "1", site: { report() {} } } as never)).toMatchObject({
      status: 503,
      error: outage,
    });
  });
});

const storage = memoryStorage();
const parts: HostParts = {
  changes: new ChangeFeed(() => {}),
  logger: quietLogger(),
  outage: () => undefined,
  report: () => {},
  protect: async () => {},
  cover: async () => {},
  ask: () => Promise.reject(new Error("no plugin asks")),
};
const hostsOf = (config: FileServerConfig): VirtualHosts => createVirtualHosts(config, parts);

describe("the virtual hosts", () => {
  it("answer by no name of somebody else where only some are allowed", () => {
    const hosts = hostsOf({ storage, hosts: { "a.example": { storage } }, allowedHosts: ["Proxy.example"] });
    const own = ["", "127.0.0.1", "10.1.2.3", "[::1]", "localhost", "site.localhost", "a.example", "proxy.example"];
    expect(own.filter((name) => hosts.find(name) === undefined)).toEqual([]);
    const foreign = ["rebound.example", "localhost.example", "notlocalhost", "127.0.0.1.example", "127.1"];
    expect(foreign.filter((name) => hosts.find(name) !== undefined)).toEqual([]);
    expect(hostsOf({ storage }).find("rebound.example")).toBeDefined();
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
    const [mine, other] = ["mine", "other"].map((name) => [name, "file-handler"]);
    expect(names).toEqual([mine, mine, other, mine]);
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
