import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { networkOf } from "../../src/http/client-network.ts";
import { checks } from "../helpers/effort.ts";

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
