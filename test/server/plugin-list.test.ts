import { describe, expect, it } from "vitest";
import type { Plugin } from "../../src/server/plugin.ts";
import { distinctPlugins, isEverywhere, listPlugins } from "../../src/server/plugin-list.ts";

const plain = (name: string): Plugin => ({ name });
const scoped = (prefix: string, plugins?: readonly Plugin[]): Plugin => ({
  name: `scope ${prefix}`,
  scope: { covers: (path) => path.startsWith(prefix), plugins },
});
/** The plugins that have to do with a path, in order. */
const at = (path: string, plugins: readonly Plugin[]): string[] =>
  listPlugins(plugins)
    .filter(({ plugin, covers }) => !plugin.scope && covers(path))
    .map(({ plugin }) => plugin.name);

describe("the list of plugins", () => {
  it("has each plugin everywhere as long as there is no scope", () => {
    const listed = listPlugins([plain("a"), plain("b")]);
    expect(listed.map(({ plugin }) => plugin.name)).toEqual(["a", "b"]);
    expect(listed.every(isEverywhere)).toBe(true);
  });

  it("confines what follows a scope, up to the next one", () => {
    const plugins = [plain("first"), scoped("/a"), plain("in a"), plain("too"), scoped("/b"), plain("in b")];
    expect(at("/a/x", plugins)).toEqual(["first", "in a", "too"]);
    expect(at("/b/x", plugins)).toEqual(["first", "in b"]);
    expect(at("/c", plugins)).toEqual(["first"]);
  });

  it("confines the plugins of a scope, and not what follows it", () => {
    const plugins = [scoped("/a", [plain("inside")]), plain("outside")];
    expect(at("/a/x", plugins)).toEqual(["inside", "outside"]);
    expect(at("/b", plugins)).toEqual(["outside"]);
  });

  it("ends a flat scope at a nested one", () => {
    const plugins = [scoped("/a"), plain("flat"), scoped("/b", [plain("nested")]), plain("after")];
    expect(at("/a", plugins)).toEqual(["flat", "after"]);
    expect(at("/b", plugins)).toEqual(["nested", "after"]);
  });

  it("confines a scope within a scope to what both cover, and lets it end with the list that it stands in", () => {
    const plugins = [scoped("/a", [scoped("/a/b"), plain("inner")]), plain("after")];
    expect(at("/a/b/c", plugins)).toEqual(["inner", "after"]);
    expect(at("/a/c", plugins)).toEqual(["after"]);
    expect(at("/b", [scoped("/a", [scoped("/b", [plain("never")])])])).toEqual([]);
  });

  it("keeps a scope itself in the list, for it may be started and closed", () => {
    const listed = listPlugins([scoped("/a"), scoped("/b", [plain("x")])]);
    expect(listed.map(({ plugin }) => plugin.name)).toEqual(["scope /a", "scope /b", "x"]);
  });

  it("has a plugin that is listed twice once, for the paths of both places", () => {
    const shared = plain("shared");
    const [, place, ...others] = distinctPlugins(listPlugins([scoped("/a", [shared]), scoped("/b", [shared])]));
    expect(others.map(({ plugin }) => plugin.name)).toEqual(["scope /b"]);
    expect(place?.plugin).toBe(shared);
    expect(["/a", "/b", "/c"].filter((path) => place?.covers(path))).toEqual(["/a", "/b"]);
  });
});
