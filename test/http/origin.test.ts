import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, test } from "vitest";
import { isCrossSite, serialisedOrigin } from "../../src/http/origin.ts";

const target = { protocol: "https", host: "Example.com" } as const;
const allowed = new Set(["https://partner.example", "chrome-extension://abc"]);

describe("isCrossSite", () => {
  test.each<[IncomingHttpHeaders, boolean]>([
    [{}, false],
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
    [{ origin: "https://example.com" }, false],
    [{ origin: "HTTPS://EXAMPLE.COM:443" }, false],
    [{ origin: "https://example.com:8443" }, true],
    [{ origin: "http://example.com" }, true],
    [{ origin: "https://example.com.evil.example" }, true],
    [{ origin: "https://example.com@evil.example" }, true],
    [{ origin: "https://partner.example" }, false],
    [{ origin: "chrome-extension://abc" }, false],
    [{ origin: "null" }, true],
    [{ origin: "garbage" }, true],
    [{ origin: "https://example.com, https://evil.example" }, true],
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
])("serialisedOrigin spells %s as %s", (text, expected) => {
  expect(serialisedOrigin(text)).toBe(expected);
});
