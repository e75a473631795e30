import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, test } from "vitest";
import { utf8Header } from "../../src/http/header-text.ts";
import { checks } from "../helpers/effort.ts";

const asSent = (text: string) => Buffer.from(text, "utf8").toString("latin1");

test("reads back any text that was sent as UTF-8", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(utf8Header(asSent(text))).toBe(text);
    }),
    checks({ seed: 1, numRuns: 100 }),
  );
});

test("keeps a byte order mark", () => {
  expect(utf8Header("\xef\xbb\xbfa")).toBe("\ufeffa");
});

test.each([
  ["latin1", "na\xefve"],
  ["a lone continuation byte", "\x80"],
  ["a cut sequence", "a\xc3"],
  ["an overlong slash", "\xc0\xaf"],
  ["a surrogate", "\xed\xa0\x80"],
  ["beyond Unicode", "\xf4\x90\x80\x80"],
  ["characters that are not bytes", "\u012f"],
])("gives undefined for %s", (_what, value) => {
  expect(utf8Header(value)).toBeUndefined();
});
