import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clientKey, networkOf } from "../../../src/plugins/rate-limit/client-key.ts";
import type { Exchange } from "../../../src/server/exchange.ts";
import { checks } from "../../helpers/effort.ts";

/** What a key is made of; nothing else of an exchange is looked at. */
function asked(of: Partial<Exchange>): Exchange {
  return { address: "192.0.2.1", host: "example.com", user: undefined, metadata: new Map(), ...of } as Exchange;
}

describe("the network of an address", () => {
  it.each([
    ["192.0.2.1", 64, "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", 64, "2001:db8:1:2::/64"],
    ["2001:db8::1", 64, "2001:db8:0:0::/64"],
    ["2001:db8:1:2ff:3:4:5:6", 56, "2001:db8:1:200::/56"],
    ["2001:db8:1:2ff:3:4:5:6", 49, "2001:db8:1:0::/49"],
    ["2001:db8:1:2ff:3:4:5:6", 48, "2001:db8:1::/48"],
    ["ffff::", 1, "8000::/1"],
    ["::1", 64, "0:0:0:0::/64"],
    ["::", 128, "0:0:0:0:0:0:0:0/128"],
    ["1::8", 128, "1:0:0:0:0:0:0:8/128"],
    ["2001:db8::9", 127, "2001:db8:0:0:0:0:0:8/127"],
  ])("is, for %s and %i bits, %s", (address, prefix, expected) => {
    expect(networkOf(address, prefix)).toBe(expected);
  });

  it("is the same for two IPv6 addresses just when their first bits are", () => {
    const address = fc.ipV6().filter((text) => !text.includes("."));
    const bits = (text: string): string => {
      const [start = "", end = ""] = text.split("::");
      const groups = (part: string) => part.split(":").filter(Boolean);
      const zeros = Array(8 - groups(start).length - groups(end).length).fill("0");
      const all = text.includes("::") ? [...groups(start), ...zeros, ...groups(end)] : groups(text);
      return all.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, "0")).join("");
    };
    fc.assert(
      fc.property(address, address, fc.integer({ min: 1, max: 128 }), (a, b, prefix) => {
        const isSame = bits(a).slice(0, prefix) === bits(b).slice(0, prefix);
        expect(networkOf(a, prefix) === networkOf(b, prefix)).toBe(isSame);
      }),
      checks({ seed: 5, numRuns: 2000 }),
    );
  });
});

describe("a client's key", () => {
  it("is the address, for the strategy ip", () => {
    const keyOf = clientKey("ip", 64);
    expect(keyOf(asked({ user: { name: "ada" } as never }))).toBe("ip:192.0.2.1");
    expect(keyOf(asked({ address: "2001:db8::1" }))).toBe("ip:2001:db8:0:0::/64");
  });

  it("is the addressed host, for the strategy host", () => {
    expect(clientKey("host", 64)(asked({ host: "docs.example" }))).toBe("host:docs.example");
  });

  it("is the user, for the strategy user, and the address for who is nobody", () => {
    const keyOf = clientKey("user", 64);
    expect(keyOf(asked({ user: { name: "ada" } as never }))).toBe("user:ada");
    expect(keyOf(asked({}))).toBe("ip:192.0.2.1");
  });

  it("is the metadata authenticated_user, where a plugin set only that", () => {
    const keyOf = clientKey("user", 64);
    expect(keyOf(asked({ metadata: new Map([["authenticated_user", "ada"]]) }))).toBe("user:ada");
    expect(keyOf(asked({ metadata: new Map([["authenticated_user", 7]]) }))).toBe("ip:192.0.2.1");
    const both = { user: { name: "ada" } as never, metadata: new Map([["authenticated_user", "bob"]]) };
    expect(keyOf(asked(both))).toBe("user:ada");
  });

  it("never is another client's, whatever a user is called", () => {
    const keyOf = clientKey("user", 64);
    const stranger = keyOf(asked({}));
    for (const name of ["192.0.2.1", "ip:192.0.2.1", "host:example.com", ""]) {
      expect(keyOf(asked({ user: { name } as never }))).toBe(`user:${name}`);
      expect(keyOf(asked({ user: { name } as never }))).not.toBe(stranger);
    }
  });

  it("is what a function says, as it says it", () => {
    expect(clientKey(({ host }) => `tenant ${host}`, 64)(asked({}))).toBe("tenant example.com");
    expect(clientKey(() => "", 64)(asked({}))).toBe("");
    expect(clientKey(() => undefined, 64)(asked({}))).toBeUndefined();
  });

  it.each([[null], [7], [Promise.resolve("a")]])("is an error where a function says %o", (key) => {
    const keyOf = clientKey(() => key as never, 64);
    expect(() => keyOf(asked({}))).toThrow(/^rateLimit: the function keyStrategy returned .*: expected a string or/);
  });
});
