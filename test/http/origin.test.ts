import { expect, test } from "vitest";
import { serialisedOrigin } from "../../src/http/origin.ts";

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
