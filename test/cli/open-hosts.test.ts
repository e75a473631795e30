import { describe, expect, it } from "vitest";
import { isLoopback, openHosts, openHostWarnings } from "../../src/cli/open-hosts.ts";
import type { FileServerConfig } from "../../src/config.ts";
import { accessLog } from "../../src/plugins/access-log.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { directory } from "../../src/plugins/directory.ts";
import { healthCheck } from "../../src/plugins/health-check.ts";
import { metrics } from "../../src/plugins/metrics.ts";
import { rateLimit } from "../../src/plugins/rate-limit.ts";
import type { Right } from "../../src/server/access.ts";
import type { Plugin } from "../../src/server/plugin.ts";

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

  it("are not those that take no method that writes", () => {
    const hosts: FileServerConfig["hosts"] = {
      a: { root: "a", readOnly: true },
      b: { root: "b", methods: ["GET", "OPTIONS"] },
      c: { root: "c", methods: ["GET", "PUT"] },
    };
    expect([...openHosts({ hosts, methods: ["GET"] })]).toEqual([["there is no authentication", ["c"]]]);
    expect([...openHosts({ hosts, readOnly: true })]).toEqual([]);
  });

  it("are warned of by name, with who can reach them", () => {
    const warnings = (address: string, config: FileServerConfig) => openHostWarnings(config, address);
    expect(warnings("0.0.0.0", { root: "." })).toEqual([
      "every client that can reach 0.0.0.0 can change the files here: there is no authentication",
    ]);
    expect(warnings("127.0.0.1", { hosts: { a: { root: "a" }, b: { root: "b" } } })).toEqual([
      "every program on this computer can change the files of a, b: there is no authentication",
    ]);
    expect(warnings("0.0.0.0", { root: ".", plugins: [auth] })).toEqual([]);
  });
});

describe("a loopback address", () => {
  it.each(["127.0.0.1", "127.9.8.7", "localhost", "::1", "::ffff:127.0.0.1"])("is %s", (address) => {
    expect(isLoopback(address)).toBe(true);
  });

  it.each(["0.0.0.0", "::", "192.168.0.1", "127.0.0.1.example", "localhost.example", "1270.0.1.1"])(
    "is not %s",
    (address) => {
      expect(isLoopback(address)).toBe(false);
    },
  );
});
