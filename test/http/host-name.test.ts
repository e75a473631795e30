import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, test } from "vitest";
import { isCrossSite, isLocalName, parseHost, serialisedOrigin } from "../../src/http/host-name.ts";
import { endless } from "../helpers/counted-work.ts";

test.each([
  [undefined, ""],
  ["", ""],
  ["example.com", "example.com"],
  ["Example.COM", "example.com"],
  ["example.com:8080", "example.com"],
  ["example.com:", "example.com"],
  ["example.com.", "example.com"],
  ["example.com.:80", "example.com"],
  ["localhost", "localhost"],
  ["my_service:65535", "my_service"],
  ["xn--bcher-kva.example", "xn--bcher-kva.example"],
  ["127.0.0.1:80", "127.0.0.1"],
  ["[::1]", "[::1]"],
  ["[::1]:8080", "[::1]"],
  ["[2001:DB8:0:0::0001]:80", "[2001:db8::1]"],
  ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
])("reads %s as %j", (value, host) => {
  expect(parseHost(value)).toBe(host);
});

test.each([
  " ",
  "example.com ",
  "a b",
  "a,b",
  "a, b",
  "a/b",
  "a\\b",
  "a?b",
  "a#b",
  "a%2eb",
  "user@host",
  "user:pass@host",
  "http://host",
  "host:80:80",
  "host:-1",
  "host:65536",
  "host:999999",
  "host:8o",
  ":80",
  ".",
  "..",
  "a..b",
  ".a",
  "a..",
  "::1",
  "[::1",
  "::1]",
  "[]",
  "[::1]x",
  "[::g]",
  "[127.0.0.1]",
  "[fe80::1%eth0]",
  "[v1.a]",
  "b\xfccher.example",
  "a\0",
  "*",
  "../../etc",
  "a".repeat(254),
])("refuses %j", (value) => {
  expect(() => parseHost(value)).toThrow(expect.objectContaining({ status: 400, code: "INVALID_HOST" }));
});

test("takes no longer for a hostile value than for its length", () => {
  expect(() => parseHost(`${endless("a.")}!`)).toThrow();
  expect(() => parseHost(`[${endless(":")}`)).toThrow();
});

test.each([
  ["", true],
  ["127.0.0.1", true],
  ["192.0.2.1", true],
  ["[2001:db8::1]", true],
  ["localhost", true],
  ["a.b.localhost", true],
  ["example.com", false],
  ["localhost.example.com", false],
  ["mylocalhost", false],
  ["127.0.0.1.example.com", false],
  ["999.0.0.1", false],
])("knows whether %j may be a registered name: %s", (name, isLocal) => {
  expect(isLocalName(name)).toBe(isLocal);
});

const target = { protocol: "https", host: "Example.com" } as const;
const allowed = new Set(["https://partner.example", "chrome-extension://abc"]);

describe("isCrossSite", () => {
  test.each<[IncomingHttpHeaders, boolean]>([
    [{}, false],
    [{ "sec-fetch-site": "same-origin" }, false],
    [{ "sec-fetch-site": "same-origin", origin: "https://example.com" }, false],
    [{ "sec-fetch-site": "none" }, false],
    [{ "sec-fetch-site": "cross-site" }, true],
    [{ "sec-fetch-site": "cross-site", origin: "https://evil.example" }, true],
    [{ "sec-fetch-site": "cross-site", origin: "https://partner.example" }, false],
    [{ "sec-fetch-site": "cross-site", origin: "https://example.com" }, true],
    [{ "sec-fetch-site": "same-site", origin: "https://users.example.com" }, true],
    [{ "sec-fetch-site": "same-site", origin: "https://example.com" }, false],
    [{ "sec-fetch-site": "same-site", origin: "https://partner.example" }, false],
    [{ "sec-fetch-site": "same-site" }, true],
    [{ "sec-fetch-site": "nonsense", origin: "https://evil.example" }, true],
    [{ origin: "https://example.com" }, false],
    [{ origin: "HTTPS://EXAMPLE.COM:443" }, false],
    [{ origin: "https://example.com:8443" }, true],
    [{ origin: "http://example.com" }, true],
    [{ origin: "https://example.com.evil.example" }, true],
    [{ origin: "https://evil-example.com" }, true],
    [{ origin: "https://example.com@evil.example" }, true],
    [{ origin: "https://partner.example" }, false],
    [{ origin: "https://partner.example:444" }, true],
    [{ origin: "http://partner.example" }, true],
    [{ origin: "chrome-extension://abc" }, false],
    [{ origin: "chrome-extension://abd" }, true],
    [{ origin: "null" }, true],
    [{ origin: "" }, true],
    [{ origin: "garbage" }, true],
    [{ origin: "https://example.com, https://evil.example" }, true],
    [{ origin: "file://" }, true],
  ])("judges %j", (headers, expected) => {
    expect(isCrossSite(headers, target, allowed)).toBe(expected);
  });

  test("compares ports, and takes the default port for none", () => {
    const at = (host: string, origin: string) => isCrossSite({ origin }, { protocol: "http", host }, new Set());
    expect(at("localhost:3000", "http://localhost:3000")).toBe(false);
    expect(at("localhost:3000", "http://localhost:8080")).toBe(true);
    expect(at("localhost:80", "http://localhost")).toBe(false);
    expect(at("[::1]:3000", "http://[::1]:3000")).toBe(false);
    expect(at("", "http://localhost")).toBe(true);
    expect(at("a b", "http://a b")).toBe(true);
  });

  test("takes a page of https for its own where TLS may end at a proxy", () => {
    const plain = { protocol: "http", host: "example.com" } as const;
    expect(isCrossSite({ origin: "https://example.com" }, plain, new Set())).toBe(false);
    expect(isCrossSite({ origin: "https://evil.example" }, plain, new Set())).toBe(true);
  });

  test("never exempts null", () => {
    expect(isCrossSite({ origin: "null" }, target, new Set(["null"]))).toBe(true);
  });
});

test.each([
  ["https://Example.com:443/", "https://example.com"],
  ["http://example.com:443", "http://example.com:443"],
  ["https://b\u00fccher.example", "https://xn--bcher-kva.example"],
  ["moz-extension://ABC/", "moz-extension://abc"],
  ["https://example.com/path", undefined],
  ["https://user@example.com", undefined],
  ["example.com", undefined],
  ["null", undefined],
  ["*", undefined],
  ["", undefined],
])("serialisedOrigin spells %s as %s", (text, expected) => {
  expect(serialisedOrigin(text)).toBe(expected);
});
