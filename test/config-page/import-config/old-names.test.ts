import { describe, expect, it } from "vitest";
import { bundledPlugins } from "../../../src/config-page/bundled-plugins.ts";
import {
  oldName,
  oldOfHost,
  oldOfPlugins,
  oldOfServer,
  oldPlugins,
} from "../../../src/config-page/import-config/old-names.ts";
import { type BundledName, bundledNames } from "../../../src/config-page/library.ts";
import { hostItem, serverItem } from "../../../src/config-page/load-config.ts";
import { type ItemKind, optionProperties } from "../../../src/config-page/read-options.ts";

const properties = (kind: ItemKind): string[] => [...optionProperties(kind).keys(), ...(kind.others ?? [])];
const newNames = (table: Readonly<Record<string, { readonly now: string | undefined }>>): string[] =>
  Object.values(table).flatMap(({ now }) => now ?? []);

describe("the table of old names", () => {
  it("leads to properties that a server and a host have", () => {
    expect(properties(serverItem)).toEqual(expect.arrayContaining(newNames(oldOfServer)));
    expect(properties(hostItem)).toEqual(expect.arrayContaining(newNames(oldOfHost)));
  });

  it.each(Object.keys(oldOfPlugins) as BundledName[])("leads to parameters that %s has, from none", (name) => {
    const parameters = properties(bundledPlugins[name]);
    expect(parameters).toEqual(expect.arrayContaining(newNames(oldOfPlugins[name] ?? {})));
    expect(Object.keys(oldOfPlugins[name] ?? {}).filter((each) => parameters.includes(each))).toEqual([]);
  });

  it("leads to plugins that there are, from none", () => {
    const called = Object.values(oldPlugins).flatMap((each) => ("now" in each ? each.now : []));
    expect(bundledNames).toEqual(expect.arrayContaining(called));
    expect(Object.keys(oldPlugins).filter((name) => (bundledNames as readonly string[]).includes(name))).toEqual([]);
  });

  it("has a reason for all that is left out, and something to do for all that is missing", () => {
    const tables = [oldOfServer, oldOfHost, ...Object.values(oldOfPlugins), { oldName }];
    const reasons = tables.flatMap((table) =>
      Object.values(table).flatMap((each) => (each.now === undefined ? each.because : [])),
    );
    const advice = Object.values(oldPlugins).flatMap((each) => ("now" in each ? [] : Object.values(each)));
    for (const text of [...reasons, ...advice]) expect(text).toMatch(/^[^A-Z].*[^.]$/);
    expect(reasons.length * advice.length).toBeGreaterThan(0);
  });
});
