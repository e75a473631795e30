import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ConfigError, type FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { checkConfig } from "../../src/options/check-config.ts";
import { fileHandler } from "../../src/plugins/file-handler.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const storage = memoryStorage();

/** What is wrong with a configuration. */
function problemsOf(config: unknown): readonly string[] {
  return problemsIn(() => createFileServer(config as FileServerConfig));
}

function problemsIn(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("a configuration", () => {
  it.each([
    ["a root", { root: "." }],
    ["a storage", { storage }],
    ["a logger that a program has anyway", { storage, logger: console }],
    ["an option set to undefined", { storage, index: undefined, plugins: undefined, hosts: undefined }],
    ["hosts of their own", { hosts: { "a.example": { root: "." }, "[::1]": { storage }, "*": { storage } } }],
    ["a file handler that brings its files", { plugins: [fileHandler({ storage })] }],
    ["hosts whose file handler brings its files", { plugins: [fileHandler({ storage })], hosts: { a: {} } }],
    ["no proxies by number", { storage, trustProxy: 0 }],
    ["proxies by name", { storage, trustProxy: "loopback, 10.0.0.0/8" }],
    ["proxies by a function", { storage, trustProxy: () => true }],
    ["an extension without its dot", { storage, contentTypes: { md: "text/markdown; charset=utf-8" } }],
    ["no index", { storage, index: false }],
  ])("may have %s", (_what, config) => {
    expect(problemsOf(config)).toEqual([]);
  });

  it.each([
    [undefined, "the configuration is undefined: expected an object of options"],
    [null, "the configuration is null: expected an object of options"],
    ["site", 'the configuration is "site": expected an object of options'],
    [{}, "the configuration has no root: expected a directory to serve, or a storage"],
    [{ root: 3 }, "root is 3: expected a string"],
    [{ root: "" }, 'root is "": expected a string that is not empty'],
    [{ root: ".", rot: "." }, 'the configuration has no option "rot" (did you mean "root"?)'],
    [{ root: ".", aliases: [] }, 'the configuration has no option "aliases"'],
    [{ root: ".", storage }, "the configuration has both root and storage: expected one"],
    [{ root: ".", plugins: {} }, "plugins is {}: expected a list of plugins"],
    [{ root: ".", plugins: [{ name: "a" }, {}] }, "plugins[1] is {}: expected a plugin: an object with a name"],
    [
      { root: ".", plugins: [fileHandler] },
      "plugins[0] is a function: expected a plugin: call fileHandler(...), or say fromMiddleware(fileHandler) if it is middleware",
    ],
    [
      { root: ".", plugins: [{ name: "a", handel() {} }] },
      'plugins[0] is { name: \'a\', handel: [Function: handel] }: expected a plugin: has "handel" (did you mean "handle"?)',
    ],
    [
      { root: ".", plugins: [{ name: "a", handle: "no" }] },
      "plugins[0] is { name: 'a', handle: 'no' }: expected a plugin whose handle is a function",
    ],
    [{ root: ".", index: true }, "index is true: expected a file name, a list of file names, or false"],
    [{ root: ".", index: "" }, 'index is "": expected a file name, a list of file names, or false'],
    [{ root: ".", index: "../a.html" }, 'index is "../a.html": expected a file name, a list of file names, or false'],
    [{ root: ".", listing: "yes" }, 'listing is "yes": expected true, false, or { edit: true, zip: true }'],
    [{ root: ".", listing: {} }, "listing is {}: expected true, false, or { edit: true, zip: true }"],
    [
      { root: ".", listing: { zip: { maxEntries: 0 } } },
      "listing is { zip: { maxEntries: 0 } }: expected true, false, or { edit: true, zip: true }",
    ],
    [{ root: ".", dotfiles: "deny" }, 'dotfiles is "deny": expected "ignore" or "allow"'],
    [{ root: ".", symlinks: true }, 'symlinks is true: expected "within-root" or "never"'],
    [{ root: ".", maxFileSize: 0 }, "maxFileSize is 0: expected a positive integer"],
    [{ root: ".", maxFileSize: 1.5 }, "maxFileSize is 1.5: expected a positive integer"],
    [{ root: ".", maxFileSize: "1mb" }, 'maxFileSize is "1mb": expected a positive integer'],
    [{ root: ".", maxFileSize: 10n }, "maxFileSize is 10n: expected a positive integer"],
    [{ root: ".", fallthrough: Symbol("x") }, "fallthrough is Symbol(x): expected true or false"],
    [{ root: ".", maintenance: "on" }, 'maintenance is "on": expected true, false, or a function'],
    [{ root: ".", onError: "log" }, 'onError is "log": expected a function'],
    [{ root: ".", logger: {} }, "logger is {}: expected a logger with debug, info, warn and error"],
    [{ root: ".", forwardedHeader: "via" }, 'forwardedHeader is "via": expected "x-forwarded-for" or "forwarded"'],
    [{ root: ".", allowedOrigins: "*" }, 'allowedOrigins is "*": expected a list of origins'],
    [
      { root: ".", allowedOrigins: ["https://a.example/"] },
      'allowedOrigins[0] is "https://a.example/": expected an origin as browsers send it, such as https://admin.example',
    ],
    [{ root: ".", contentTypes: [] }, "contentTypes is []: expected an object of media types by extension"],
    [{ root: ".", contentTypes: { md: 3 } }, 'contentTypes.md is 3: expected a media type such as "text/plain"'],
    [{ hosts: [] }, "hosts is []: expected an object of hosts by name"],
    [{ hosts: {} }, "the configuration has no root: expected a directory to serve, or a storage"],
    [{ hosts: { a: 3 } }, "hosts.a is 3: expected a host's options"],
    [{ hosts: { a: { root: ".", rot: 1 } } }, 'hosts.a has no option "rot" (did you mean "root"?)'],
    [{ hosts: { a: { root: ".", trustProxy: true } } }, 'hosts.a has no option "trustProxy"'],
    [{ hosts: { a: {} } }, "hosts.a has no root: expected a directory to serve, or a storage"],
    [{ hosts: { a: { root: ".", storage } } }, "hosts.a has both root and storage: expected one"],
    [{ hosts: { "a:80": { root: "." } } }, "hosts.a:80: expected a host name without port"],
    [{ hosts: { "a b": { root: "." } } }, "hosts.a b: expected a host name without port"],
    [{ hosts: { "": { root: "." } } }, "hosts.: expected a host name without port"],
    [
      { hosts: { a: { root: ".", aliases: ["b:80"] } } },
      'hosts.a.aliases[0] is "b:80": expected a host name without port',
    ],
    [{ hosts: { a: { root: ".", aliases: "b" } } }, 'hosts.a.aliases is "b": expected a list of host names'],
    [{ hosts: { a: { root: "." }, A: { root: "." } } }, 'hosts.A: the name "a" is taken by hosts.a'],
    [{ hosts: { a: { root: "." }, "a.": { root: "." } } }, 'hosts.a.: the name "a" is taken by hosts.a'],
    [
      { hosts: { a: { root: ".", aliases: ["c"] }, b: { root: ".", aliases: ["C"] } } },
      'hosts.b: the name "c" is taken by hosts.a',
    ],
    [
      { root: ".", hosts: { "*": { root: "." } } },
      'hosts.*: root or storage beside "hosts" is the default host already',
    ],
  ])("is refused as %o with the option, its value and what was expected", (config, problem) => {
    expect(problemsOf(config)).toEqual([problem]);
  });

  it("is refused where the root is not there, and where it is a file", async () => {
    const missing = join(await temporaryDirectory(), "missing");
    const expected = `root: ${JSON.stringify(missing)} does not exist`;
    expect(problemsOf({ root: missing })).toEqual([expect.stringContaining(expected)]);
    const file = fileURLToPath(import.meta.url);
    expect(problemsOf({ hosts: { a: { root: file } } })).toEqual([expect.stringMatching(/^hosts\.a\.root: ".*"/)]);
  });

  it.each([
    ["nonsense"],
    ["127.0.0.1, nonsense"],
    ["true"],
    ["1"],
    ["10.0.0.0/99"],
    ["localhost"],
    ["10.0.0.1,"],
    [["loopback", ""]],
    [[1]],
    [-1],
    [1.5],
    [Number.NaN],
    [{}],
  ])("is refused where trustProxy is %o", (trustProxy) => {
    expect(problemsOf({ storage, trustProxy })).toEqual([
      expect.stringMatching(/^trustProxy is .*: expected true, false, a number of hops, addresses/),
    ]);
  });

  it.each([
    [{ ".md": "nonsense" }, 'contentTypes[".md"] is "nonsense": expected a media type such as "text/plain"'],
    [{ "a/b": "text/plain" }, 'contentTypes.a/b: expected a file extension such as ".md"'],
    [{ "a.b": "a/b" }, 'contentTypes.a.b: expected a file extension such as ".md"'],
    [{ ".": "a/b" }, 'contentTypes["."]: expected a file extension such as ".md"'],
    [{ a: "text/plain;" }, 'contentTypes.a is "text/plain;": expected a media type such as "text/plain"'],
    [
      { md: "text/html\r\nset-cookie: a=b" },
      'contentTypes.md is "text/html\\r\\nset-cookie: a=b": expected a media type such as "text/plain"',
    ],
  ])("is refused where contentTypes is %o, also that of a host", (contentTypes, problem) => {
    expect(problemsOf({ storage, contentTypes })).toEqual([problem]);
    expect(problemsOf({ hosts: { a: { storage, contentTypes } } })).toEqual([`hosts.a.${problem}`]);
  });

  it("is told everything that is wrong with it at once", () => {
    const problems = problemsOf({
      root: 3,
      listing: "yes",
      colour: "red",
      maxFileSize: -1,
      hosts: { a: { index: 7 } },
    });
    expect([...problems].sort()).toEqual([
      "hosts.a.index is 7: expected a file name, a list of file names, or false",
      'listing is "yes": expected true, false, or { edit: true, zip: true }',
      "maxFileSize is -1: expected a positive integer",
      "root is 3: expected a string",
      'the configuration has no option "colour"',
    ]);
    expect(problemsOf({ hosts: { a: {}, b: { root: ".", storage } } })).toHaveLength(2);
  });

  it("is refused with an error that says the same to people and to programs", () => {
    const refused = () => createFileServer({ root: ".", rot: 1, maxFileSize: 0 } as never);
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(
      expect.objectContaining({
        name: "ConfigError",
        code: "INVALID_CONFIG",
        message: expect.stringMatching(
          /^invalid configuration: .*maxFileSize is 0.*; .*no option "rot" \(did you mean "root"\?\)$/,
        ),
      }),
    );
  });

  it("is refused without a look into a value that contains itself", () => {
    const circular: Record<string, unknown> = { root: "." };
    circular["listing"] = circular;
    expect(problemsOf(circular)).toEqual([
      expect.stringMatching(/^listing is .*: expected true, false, or \{ edit: true, zip: true \}$/),
    ]);
  });

  it("may be frozen through and through, and is never written to", async () => {
    const config = Object.freeze({
      storage,
      index: "home.html",
      contentTypes: Object.freeze({ md: "text/markdown" }),
      allowedOrigins: Object.freeze(["https://a.example"]),
      plugins: Object.freeze([Object.freeze({ name: "mine" })]),
      hosts: Object.freeze({ "a.example": Object.freeze({ storage, aliases: Object.freeze(["b.example"]) }) }),
    });
    const before = structuredClone({ ...config, storage: undefined, hosts: Object.keys(config.hosts) });
    const files = createFileServer(config);
    expect((await files.fetch(new Request("http://b.example/"))).status).toBe(200);
    await files.close();
    expect({ ...config, storage: undefined, hosts: Object.keys(config.hosts) }).toEqual(before);
  });

  it("is the caller's: what is wrong is found out without calling or changing anything", () => {
    const config = { storage, maintenance: () => expect.unreachable(), onError: () => expect.unreachable() };
    expect(() => checkConfig(config)).not.toThrow();
  });
});

describe("the options of a file handler", () => {
  it.each([
    [{ lisitng: true }, 'fileHandler has no option "lisitng"'],
    [{ maxFileSize: 3 }, 'fileHandler has no option "maxFileSize"'],
    [{ plugins: [] }, 'fileHandler has no option "plugins"'],
    [{ listing: "yes" }, 'listing is "yes": expected true, false, or { edit: true, zip: true }'],
    [{ index: 3 }, "index is 3: expected a file name, a list of file names, or false"],
    [{ root: ".", storage }, "fileHandler has both root and storage: expected one"],
    [{ contentTypes: { md: "x" } }, 'contentTypes.md is "x": expected a media type such as "text/plain"'],
    [null, "fileHandler is null: expected an object of options"],
  ])("are refused as %o when it is made", (options, problem) => {
    expect(problemsIn(() => fileHandler(options as never))).toEqual([expect.stringContaining(problem)]);
  });

  it("are the host's where they are left out or undefined", async () => {
    const files = createFileServer({
      storage: memoryStorage({ "/home.html": "home" }),
      index: "home.html",
      plugins: [fileHandler({ index: undefined, listing: undefined } as never)],
    });
    const response = await files.fetch(new Request("http://x/"));
    expect(await response.text()).toBe("home");
    await files.close();
  });
});
