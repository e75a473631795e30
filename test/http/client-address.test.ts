import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  canonicalAddress,
  canonicalIPv6,
  clientAddress,
  clientNetwork,
  forwardedFor,
  type TrustProxy,
} from "../../src/http/client-address.ts";
import { checks } from "../helpers/effort.ts";

const reported = { "x-forwarded-for": "203.0.113.1, 203.0.113.2, 10.0.0.2" };

describe("address", () => {
  test.each<[string, TrustProxy, string]>([
    ["nothing", false, "10.0.0.1"],
    ["an empty list", [], "10.0.0.1"],
    ["everything", true, "203.0.113.1"],
    ["one hop", 1, "10.0.0.2"],
    ["more hops than there are", 9, "203.0.113.1"],
    ["a range", "10.0.0.0/8", "203.0.113.2"],
    ["a text with commas", "10.0.0.1, 10.0.0.2 ,203.0.113.2", "203.0.113.1"],
    ["an array", ["loopback", "uniquelocal"], "203.0.113.2"],
    ["a netmask", "10.0.0.0/255.0.0.0", "203.0.113.2"],
    ["others only", "loopback", "10.0.0.1"],
    ["what a function says", (address, hop) => address === "10.0.0.1" && hop === 0, "10.0.0.2"],
  ])("trusts %s", (_what, trustProxy, expected) => {
    expect(clientAddress(trustProxy, "x-forwarded-for").address("10.0.0.1", reported)).toBe(expected);
  });

  test("is the peer where nothing is reported", () => {
    const clients = clientAddress(true, "x-forwarded-for");
    expect(clients.address("10.0.0.1", {})).toBe("10.0.0.1");
    expect(clients.address("10.0.0.1", { "x-forwarded-for": "" })).toBe("10.0.0.1");
  });

  test("reads the configured header only", () => {
    const both = { "x-forwarded-for": "203.0.113.1", forwarded: 'for="[2001:db8::1]:80"' };
    expect(clientAddress(1, "x-forwarded-for").address("10.0.0.1", both)).toBe("203.0.113.1");
    expect(clientAddress(1, "forwarded").address("10.0.0.1", both)).toBe("2001:db8::1");
    expect(clientAddress(1, "forwarded").address("10.0.0.1", reported)).toBe("10.0.0.1");
  });

  test("stops at the last valid address", () => {
    const clients = clientAddress(true, "x-forwarded-for");
    const addressFor = (value: string) => clients.address("10.0.0.1", { "x-forwarded-for": value });
    expect(addressFor("203.0.113.1, garbage, 10.0.0.2")).toBe("10.0.0.2");
    expect(addressFor("203.0.113.1, unknown")).toBe("10.0.0.1");
    expect(addressFor("<script>alert(1)</script>")).toBe("10.0.0.1");
    expect(addressFor("203.0.113.1,, 10.0.0.2")).toBe("203.0.113.1");
  });

  test("spells equal addresses equally, with and without trust", () => {
    for (const trustProxy of [false, "10.0.0.0/8"]) {
      const clients = clientAddress(trustProxy, "x-forwarded-for");
      expect(clients.address("::ffff:192.0.2.1", {})).toBe("192.0.2.1");
      expect(clients.address("2001:db8::1", {})).toBe("2001:db8::1");
      expect(clients.address("", {})).toBe("");
    }
    const clients = clientAddress("10.0.0.0/8", "x-forwarded-for");
    expect(clients.address("::ffff:10.0.0.1", { "x-forwarded-for": "2001:DB8:0::1" })).toBe("2001:db8::1");
  });
});

test("trusts the peers that it was told to", () => {
  expect(clientAddress(false, "forwarded").trusts("127.0.0.1")).toBe(false);
  expect(clientAddress(1, "forwarded").trusts("192.0.2.1")).toBe(true);
  const loopback = clientAddress("loopback", "forwarded");
  const trusted = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "192.0.2.1", ""].map((peer) => loopback.trusts(peer));
  expect(trusted).toEqual([true, true, true, false, false]);
});

describe("the network of a client", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
  ])("is, for %s, %s", (address, expected) => {
    expect(clientNetwork(address)).toBe(expected);
  });

  it("is the same for two IPv6 addresses just when their first 64 bits are", () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    const addressOf = (parts: readonly number[]): string =>
      canonicalAddress(parts.map((part) => part.toString(16)).join(":")) ?? "";
    fc.assert(
      fc.property(groups, groups, fc.integer({ min: 0, max: 8 }), (one, other, shared) => {
        const like = [...one.slice(0, shared), ...other.slice(shared)];
        const [a, b] = [addressOf(one), addressOf(like)];
        fc.pre(a.includes(":") && b.includes(":"));
        const isSame = one.slice(0, 4).join() === like.slice(0, 4).join();
        expect(clientNetwork(a) === clientNetwork(b)).toBe(isSame);
      }),
      checks({ seed: 5, numRuns: 2000 }),
    );
  });
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:201", "192.0.2.1"],
  ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["fe80::1%eth0", "fe80::1"],
  ["::ffff:1", "::ffff:1"],
  ["", undefined],
  ["010.0.0.1", undefined],
  ["192.0.2.256", undefined],
  ["192.0.2.1:80", undefined],
  ["[::1]", undefined],
  ["::ffff:999.0.0.1", undefined],
])("spells %j as %j", (text, expected) => {
  expect(canonicalAddress(text)).toBe(expected);
});

test("keeps a mapped address IPv6 where one is asked for, and refuses zones", () => {
  expect(canonicalIPv6("::ffff:192.0.2.1")).toBe("::ffff:c000:201");
  expect(canonicalIPv6("fe80::1%eth0")).toBeUndefined();
  expect(canonicalIPv6("192.0.2.1")).toBeUndefined();
});

describe("the addresses that proxies report", () => {
  test.each([
    ["", []],
    [",, ,", []],
    ["192.0.2.1", ["192.0.2.1"]],
    ["192.0.2.1, 192.0.2.2,192.0.2.3", ["192.0.2.3", "192.0.2.2", "192.0.2.1"]],
    ["192.0.2.1:4711", ["192.0.2.1"]],
    ["2001:DB8::1", ["2001:db8::1"]],
    ["[2001:db8::1]:4711", ["2001:db8::1"]],
    ["::ffff:192.0.2.1", ["192.0.2.1"]],
    ["<script>, 192.0.2.1", ["192.0.2.1", undefined]],
    ['", 192.0.2.1', ["192.0.2.1", undefined]],
    ["[192.0.2.1]", ["192.0.2.1"]],
  ])("reads X-Forwarded-For: %s", (value, addresses) => {
    expect([...forwardedFor("x-forwarded-for", value)]).toEqual(addresses);
  });

  test.each([
    ["for=192.0.2.43", ["192.0.2.43"]],
    ["For=192.0.2.43", ["192.0.2.43"]],
    ['for="192.0.2.43:47011"', ["192.0.2.43"]],
    ['for="[2001:db8:cafe::17]:4711"', ["2001:db8:cafe::17"]],
    ['for="[2001:db8:cafe::17]"', ["2001:db8:cafe::17"]],
    ['for="192.0.2.43:_port"', ["192.0.2.43"]],
    ["for=192.0.2.60;proto=http;by=203.0.113.43", ["192.0.2.60"]],
    ["proto=http ; for=192.0.2.60;", ["192.0.2.60"]],
    ["for=192.0.2.43, for=198.51.100.17", ["198.51.100.17", "192.0.2.43"]],
    ['for=192.0.2.43;host="a;for=6.6.6.6"', [undefined]],
    ['for=192.0.2.43;host="a,for=6.6.6.6"', [undefined, undefined]],
    ['for=192.0.2.43;host="a,for=6.6.6.6;b=\\""', [undefined, undefined]],
    ["for=unknown", [undefined]],
    ['for="_hidden"', [undefined]],
    ["for", [undefined]],
    ["192.0.2.1", [undefined]],
    ["for=192.0.2.1;for=192.0.2.2", [undefined]],
    ["for=192.0.2.1 garbage", [undefined]],
    ["for = 192.0.2.1", [undefined]],
  ])("reads Forwarded: %s", (value, addresses) => {
    expect([...forwardedFor("forwarded", value)]).toEqual(addresses);
  });

  test.each(['for="', 'for="a', 'x="\\', '"', 'for=6.6.6.6;host="', 'for="6.6.6.6'])(
    "reads what the proxy appended after the client's %s",
    (forged) => {
      const [nearest] = forwardedFor("forwarded", `${forged}, for=192.0.2.1;proto=https`);
      expect(nearest).toBe("192.0.2.1");
      const [quoted] = forwardedFor("forwarded", `${forged}, for="[2001:db8::1]:80";host="a"`);
      expect(quoted).toBe("2001:db8::1");
    },
  );
});
