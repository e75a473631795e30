import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { bundledNames, readLibrary } from "../../src/config-page/library.ts";

const library = (location: string): ReturnType<typeof readLibrary> => readLibrary(location, "/etc/filement");

describe("readLibrary", () => {
  it.each([
    "file://./plugins/rate-limit.so",
    "file://./plugins/rate_limit.so",
    "file://./plugins/librate-limit.so",
    "file://./plugins/librate_limit.so",
    "/usr/lib/libfilement_rate_limit.dylib",
    "/usr/lib/libfilement-rate-limit.so.1.2",
    "file://./plugins/rusty_beam_rate_limit.dll",
    "file://./plugins/librusty-beam-rate-limit.so",
    "file://librate_limit.so",
    "FILE://./PLUGINS/RATE-LIMIT.DLL",
    "file://./rate-limit",
    "rate-limit",
  ])("takes %s for the bundled rate-limit", (location) => {
    expect(library(location)).toEqual({ kind: "bundled", name: "rate-limit" });
  });

  it.each(bundledNames)("knows %s in every spelling", (name) => {
    const snake = name.replaceAll("-", "_");
    for (const file of [name, snake, `lib${snake}`, `libfilement_${snake}`, `rusty-beam-${name}`]) {
      for (const ending of ["so", "dylib", "dll"]) {
        expect(library(`file://./plugins/${file}.${ending}`)).toEqual({ kind: "bundled", name });
      }
    }
  });

  it.each([
    ["file://./plugins/hello.mjs", "/etc/filement/plugins/hello.mjs"],
    ["/srv/hello.js", "/srv/hello.js"],
    ["./hello.js", "/etc/filement/hello.js"],
    // Not the bundled plugin: somebody has written one of that name.
    ["file://./plugins/rate-limit.mjs", "/etc/filement/plugins/rate-limit.mjs"],
    ["file://./hello", "/etc/filement/hello"],
  ])("takes %s for an ES module", (location, path) => {
    expect(library(location)).toEqual({ kind: "module", path: resolve(path) });
  });

  it.each([
    "file://./plugins/compression.so",
    "file://./plugins/libfilement_.so",
    "file://./plugins/constructor.so",
    "file://./plugins/__proto__.so",
    "file://./plugins/toString.dll",
    "file://./plugins/hasOwnProperty.dylib",
    "file://./.so",
  ])("does not know the shared library %s", (location) => {
    expect(library(location)).toEqual({ kind: "unknown" });
  });

  it.each(["http://example.org/rate-limit.so", "https://example.org/x.mjs", "data:text/javascript,0", "node:fs", ""])(
    "gives nothing for %j, which is no file",
    (location) => {
      expect(library(location)).toBeUndefined();
    },
  );
});
