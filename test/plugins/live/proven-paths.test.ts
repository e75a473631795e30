import { describe, expect, it } from "vitest";
import { directory } from "../../../src/plugins/directory.ts";
import { provenPaths } from "../../../src/plugins/live/proven-paths.ts";
import { listPlugins } from "../../../src/server/pipeline.ts";
import type { Plugin } from "../../../src/server/plugin.ts";

const auth = (): Plugin => ({ name: "auth", anonymousMayWrite: () => false, handle: (_exchange, next) => next() });
const other: Plugin = { name: "other", handle: (_exchange, next) => next() };
const self: Plugin = { name: "self" };

/** For pairs of where a client connected and what changed. */
function proven(list: readonly Plugin[], ...pairs: readonly (readonly [string, string])[]): boolean[] {
  const plugins = listPlugins(list).map(({ plugin }) => plugin);
  const isProven = provenPaths({ plugins: [...new Set(plugins)] }, self, "self");
  return pairs.map(([connectedAt, path]) => isProven(connectedAt, path));
}

describe("provenPaths", () => {
  it("are not those of an authentication that had nothing to do with the client", () => {
    const nested = directory({ directory: "/docs", plugins: [auth(), other] });
    const pairs = [
      ["/ws", "/docs/a"],
      ["/ws", "/a"],
      ["/docs/page.html", "/docs/a"],
      ["/docs/page.html", "/a"],
    ] as const;
    expect(proven([nested, self], ...pairs)).toEqual([false, true, true, true]);
    const flat = [directory({ directory: "/docs" }), auth(), directory({ directory: "/" }), self];
    expect(proven(flat, ...pairs)).toEqual([false, true, true, true]);
  });

  it("are not those of an authentication that is asked later", () => {
    const nested = directory({ directory: "/docs", plugins: [self, auth()] });
    expect(proven([nested], ["/docs/ws", "/docs/a"], ["/docs/ws", "/a"])).toEqual([false, true]);
  });
});
