import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, type FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { openHosts } from "../../src/hosts/authentication.ts";
import { accessLog } from "../../src/plugins/access-log.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { directory } from "../../src/plugins/directory.ts";
import { fileHandler } from "../../src/plugins/file-handler.ts";
import { healthCheck } from "../../src/plugins/health-check.ts";
import { metrics } from "../../src/plugins/metrics.ts";
import { permissions } from "../../src/plugins/permissions.ts";
import { rateLimit } from "../../src/plugins/rate-limit.ts";
import type { Right } from "../../src/server/access.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { projectRoot } from "../helpers/source-files.ts";

const auth = basicAuth({ users: async () => false });

const everyone = (...rights: readonly Right[]): Plugin =>
  basicAuth({
    users: async () => false,
    rules: [
      { username: "ada", path: "/*", permission: "allow" },
      { username: "*", path: "/*", rights, permission: "allow" },
    ],
  });

describe("hosts to which anonymous clients may write", () => {
  it("are those without a plugin that could refuse them", () => {
    const harmless = [accessLog({ write: () => {} }), metrics(), healthCheck(), rateLimit(), { name: "request-log" }];
    const hosts = {
      a: { root: "a", plugins: harmless },
      b: { root: "b", plugins: [...harmless, auth] },
      c: { root: "c" },
      d: { root: "d", plugins: [{ name: "single sign-on" }] },
    };
    expect([...openHosts({ hosts })]).toEqual([["there is no authentication", ["a", "c"]]]);
  });

  it("do not change with any other plugin of the package", () => {
    const names = readdirSync(join(projectRoot, "src/plugins"))
      .filter((file) => file.endsWith(".ts"))
      .map((file) => file.replace(/\.ts$/, ""))
      .filter((name) => !["basic-auth", "permissions", "guard", "from-middleware"].includes(name));
    expect(names.length).toBeGreaterThan(10);
    const plugins = names.map((name) => ({ name }));
    expect([...openHosts({ root: ".", plugins })]).toEqual([["there is no authentication", ["*"]]]);
  });

  it("are those whose authentication is confined to a part of the paths", () => {
    const plugins = [directory({ directory: "/private", plugins: [auth] })];
    expect([...openHosts({ root: ".", plugins })]).toEqual([
      ["the authentication covers a part of the paths only", ["*"]],
    ]);
  });

  it("are those whose rules allow it to everyone", () => {
    const hosts = {
      a: { root: "a", plugins: [everyone("read", "list")] },
      b: { root: "b", plugins: [everyone("read", "append")] },
      c: { root: "c", plugins: [everyone("append"), auth] },
    };
    expect([...openHosts({ hosts })]).toEqual([["a rule allows it to everyone", ["b"]]]);
  });

  it("are those in which a file handler that takes changes has none before it", () => {
    const at = (path: string, readOnly = false) => fileHandler({ at: path, root: ".", readOnly });
    const guarded = directory({ directory: "/b", plugins: [auth, at("/b")] });
    const b = { plugins: [guarded, at("/", true), auth] };
    expect([...openHosts({ hosts: { a: { plugins: [at("/b"), auth] }, b, c: { plugins: [guarded] } } })]).toEqual([
      ["a file handler has no authentication before it", ["a"]],
    ]);
  });

  it("are not those that take no method that writes", () => {
    const hosts: FileServerConfig["hosts"] = {
      a: { root: "a", readOnly: true },
      b: { root: "b", methods: ["GET", "OPTIONS"] },
      c: { root: "c", methods: ["GET", "PUT"] },
    };
    expect([...openHosts({ hosts, methods: ["GET"] })]).toEqual([["there is no authentication", ["c"]]]);
    expect([...openHosts({ hosts, readOnly: true })]).toEqual([]);
  });

  it("take only GET and HEAD with fallthrough, unless they name more", () => {
    expect([...openHosts({ root: ".", fallthrough: true })]).toEqual([]);
    expect([...openHosts({ root: ".", fallthrough: true, methods: ["PUT"] })]).toEqual([
      ["there is no authentication", ["*"]],
    ]);
  });

  it("have the plugins of the server where they have none of their own", () => {
    expect([...openHosts({ hosts: { a: { root: "a" }, b: { root: "b", plugins: [] } }, plugins: [auth] })]).toEqual([
      ["there is no authentication", ["b"]],
    ]);
  });

  it("are named in the log when the server starts, with what changes that", async () => {
    const lines: string[] = [];
    const note = (_fields: object, message: string): void => void lines.push(message);
    const logger = { debug: () => {}, info: () => {}, warn: note, error: note };
    const storage = memoryStorage();
    const open = createFileServer({ storage, logger });
    await open.ready();
    await open.close();
    const closed = createFileServer({ storage, logger, readOnly: true });
    await closed.ready();
    await closed.close();
    expect(lines).toEqual([
      "every client that can reach this server can change the files here: there is no authentication " +
        "(basicAuth, permissions or readOnly changes that)",
    ]);
  });
});

describe("a plugin that stands where it cannot do what it is there for", () => {
  const storage = memoryStorage();
  const custom: Plugin = { name: "custom", handle: (_exchange, next) => next() };
  const byUser = rateLimit({ keyStrategy: "user" });
  const authorization: Plugin = { name: "authorization" };
  /** Confines those that follow to paths that only it knows. */
  const pictures = (): Plugin => ({ name: "pictures", scope: { covers: (path) => path.endsWith(".png") } });
  const problem = (plugins: readonly Plugin[]) => {
    try {
      createFileServer({ storage, plugins });
      return undefined;
    } catch (error) {
      return error instanceof ConfigError ? error.problems : error;
    }
  };

  it("keeps the server from starting: an authentication, or any other, behind a file handler", () => {
    const behind = (name: string) => [
      `plugins: ${name} stands behind a file handler, which answers everything: expected it before`,
    ];
    expect(problem([fileHandler(), auth])).toEqual(behind("basic-auth"));
    expect(problem([fileHandler(), permissions()])).toEqual(behind("permissions"));
    expect(problem([directory({ directory: "/a", plugins: [fileHandler(), custom] })])).toEqual(behind("custom"));
    const [outer, inner] = [fileHandler({ at: "/a" }), fileHandler({ at: "/a/b" })];
    expect(problem([outer, inner])).toEqual(behind("file-handler"));
    expect(problem([inner, outer, auth])).toBeUndefined();
    const observing: Plugin = { name: "observing", observe: () => {} };
    expect(problem([fileHandler(), observing])).toBeUndefined();
    expect(problem([directory({ directory: "/a", plugins: [fileHandler()] }), auth])).toBeUndefined();
  });

  it("keeps the server from starting: a limit by user without an authentication before it", () => {
    const limit = rateLimit({ keyStrategy: "user" });
    const expected = [
      "plugins: rate-limit needs to know the user: expected an authentication before it, for the same paths",
    ];
    expect(problem([limit])).toEqual(expected);
    expect(problem([limit, auth])).toEqual(expected);
    expect(problem([auth, limit])).toBeUndefined();
    expect(problem([custom, limit])).toBeUndefined();
    expect(() => createFileServer({ hosts: { "a.example": { storage, plugins: [limit] } } })).toThrow(
      "hosts.a.example.plugins: rate-limit needs to know",
    );
  });

  it.each([
    [[directory({ directory: "/a", plugins: [auth] }), byUser], undefined],
    [[directory({ directory: "/a", plugins: [auth] }), directory({ directory: "/a/b", plugins: [byUser] })], undefined],
    [
      [directory({ directory: "/a", plugins: [auth] }), directory({ directory: "/ab", plugins: [byUser] })],
      /needs to know/,
    ],
    [[directory({ directory: "/a" }), auth, directory({ directory: "/b" }), byUser], /needs to know/],
    [[directory({ directory: "/a" }), auth, directory({ directory: "/" }), byUser], undefined],
    [
      [directory({ directory: "/a", plugins: [fileHandler()] }), directory({ directory: "/a/b", plugins: [auth] })],
      /behind/,
    ],
    [
      [directory({ directory: "/a", plugins: [fileHandler()] }), directory({ directory: "/ab", plugins: [auth] })],
      undefined,
    ],
    [[fileHandler(), pictures(), auth], /behind/],
    [[pictures(), fileHandler(), auth], /behind/],
    [[auth, directory({ directory: "/a", plugins: [authorization] })], undefined],
    [[directory({ directory: "/a", plugins: [auth] }), authorization], /has no authfile/],
    [[custom, authorization], /has no authfile/],
    [
      [directory({ directory: "/a", plugins: [directory({ directory: "/b", plugins: [auth] })] })],
      /\/b is no part of \/a/,
    ],
  ])("goes by the paths that it is confined to: %#", (plugins, expected) => {
    const problems = problem(plugins);
    if (expected) expect(problems).toEqual([expect.stringMatching(expected)]);
    else expect(problems).toBeUndefined();
  });
});
