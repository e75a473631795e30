import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, type HostConfig } from "../../src/config.ts";
import { createSite, type HostedSite } from "../../src/hosts/site.ts";
import { HttpError } from "../../src/http/http-error.ts";
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
