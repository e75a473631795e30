import { expect, test } from "vitest";
import { preferredType } from "../../src/http/negotiation.ts";

const offered = ["application/json", "text/html"] as const;
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

test.each([
  [undefined, "application/json"],
  ["", "application/json"],
  ["*/*", "application/json"],
  ["image/png", "application/json"],
  ["garbage", "application/json"],
  [";;,,=", "application/json"],
  ['text/html;q="', "text/html"],
  ["text/html;q=x", "application/json"],
  [browser, "text/html"],
  ["text/html", "text/html"],
  ["TEXT/HTML", "text/html"],
  ["text/*", "text/html"],
  ["application/json, text/plain, */*", "application/json"],
  ["text/html;q=0.5, application/json;q=0.4", "text/html"],
  ["*/*, application/json;q=0", "text/html"],
  ["text/html, */*", "text/html"],
  ["*/*;q=0.1, text/html;q=0.2", "text/html"],
])("answers Accept: %s with %s", (accept, expected) => {
  expect(preferredType(accept, offered)).toBe(expected);
});

test("takes the first offer for what a client only calls the same", () => {
  expect(preferredType("text/*", ["text/html", "text/plain"])).toBe("text/html");
  expect(preferredType("text/*", ["text/plain", "text/html"])).toBe("text/plain");
});

test("does not read a field longer than any client has reason to send", () => {
  expect(preferredType(`${"a/b;".repeat(20_000)},text/html`, offered)).toBe("application/json");
});
