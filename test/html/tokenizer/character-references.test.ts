import { describe, expect, it } from "vitest";
import {
  normalised,
  readReference,
  referenceText,
  resolved,
} from "../../../src/html/tokenizer/character-references.ts";

describe("readReference", () => {
  it.each([
    ["&amp;x", "text", 5, "&"],
    ["&copyx", "text", 5, "©"],
    ["&copyx", "attribute", 0, ""],
    ["&copy=", "attribute", 0, ""],
    ["&copy", "attribute", 5, "©"],
    ["&notin;", "text", 7, "∉"],
    ["&notit;", "text", 4, "¬"],
    ["&#x1f600;", "text", 9, "\u{1f600}"],
    ["&#128;", "text", 6, "€"],
    ["&#0;", "text", 4, "\ufffd"],
    ["&NotEqualTilde;", "text", 15, "≂̸"],
    ["&", "text", 0, ""],
    ["& x", "text", 0, ""],
    ["&#", "text", 0, ""],
    ["&&", "text", 0, ""],
    ["&nothing;", "text", 4, "¬"],
    ["&xyzzy;", "text", 0, ""],
  ] as const)("reads %s in %s", (source, place, length, text) => {
    expect(readReference(source, 0, place)).toBe(length);
    expect(referenceText()).toBe(text);
  });
});

describe("resolved", () => {
  it("puts characters in place of references, line ends and NULs", () => {
    expect(resolved("a&lt;b&c &amp;\r\nd\re\0&", "attribute")).toBe("a<b&c &\nd\ne\ufffd&");
    expect(resolved("nothing", "text")).toBe("nothing");
  });

  it("leaves a carriage return that is written as a reference", () => {
    expect(resolved("&#13;\r", "text")).toBe("\r\n");
  });
});

it("normalises line ends and NULs", () => {
  expect(normalised("a\r\nb\rc\nd\0")).toBe("a\nb\nc\nd\ufffd");
});
