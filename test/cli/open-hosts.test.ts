import { describe, expect, it } from "vitest";
import { isLoopback, openHostWarnings } from "../../src/cli/open-hosts.ts";
import type { FileServerConfig } from "../../src/config.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";

describe("hosts to which anonymous clients may write", () => {
  it("are warned of by name, with who can reach them", () => {
    const warnings = (address: string, config: FileServerConfig) => openHostWarnings(config, address);
    expect(warnings("0.0.0.0", { root: "." })).toEqual([
      "every client that can reach 0.0.0.0 can change the files here: there is no authentication (--read-only or --users FILE changes that, and basic-auth in a page)",
    ]);
    expect(warnings("127.0.0.1", { hosts: { a: { root: "a" }, b: { root: "b" } } })).toEqual([
      "every program on this computer can change the files of a, b: there is no authentication (--read-only or --users FILE changes that, and basic-auth in a page)",
    ]);
    expect(warnings("0.0.0.0", { root: ".", plugins: [basicAuth({ users: async () => false })] })).toEqual([]);
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
