import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { documentKind, parseRange, selectorCandidates, utf8Header } from "../../src/http/selector-range.ts";
import { endless } from "../helpers/counted-work.ts";
import { checks } from "../helpers/effort.ts";

const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

describe("parseRange", () => {
  test("tells the absence of the field", () => {
    expect(parseRange(undefined, 0)).toEqual({ unit: "none" });
  });

  test.each([
    ["selector=p", "p"],
    ["SeLeCtOr=p", "p"],
    ["selector= \t#a > b", "#a > b"],
    ["selector=a, b", "a, b"],
    ['selector=[a="b=c"]', '[a="b=c"]'],
    [latin1("selector=#größe"), "#größe"],
    [latin1("selector=voilà"), "voilà"],
    [latin1("selector=p\u00a0"), "p\u00a0"],
    ["selector=bytes=0-1", "bytes=0-1"],
  ])("reads %j", (value, selector) => {
    expect(parseRange(value, 1)).toEqual({ unit: "selector", selector });
  });

  test.each(["selector=", "selector=  \t", "selector=\xff", "selector=gr\xf6\xdfe"])("refuses %j", (value) => {
    expect(() => parseRange(value, 1)).toThrow(expect.objectContaining({ status: 400, code: "INVALID_SELECTOR" }));
  });

  test.each(["bytes=0-1", "Bytes=nonsense"])("leaves %s to the byte ranges", (value) => {
    expect(parseRange(value, 1)).toEqual({ unit: "bytes", value });
  });

  test.each(["", "lines=1-2", "selector", "selector =p", " selector=p", "selectors=p", "p", "=p", "bytes 0-1"])(
    "does not know %j",
    (value) => {
      expect(parseRange(value, 1)).toEqual({ unit: "other" });
    },
  );

  test.each(["selector=a, selector=b", "bytes=0-1, selector=b", "SELECTOR=a, bytes=0-1", "x,selector="])(
    "refuses %s, sent as two fields",
    (value) => {
      expect(() => parseRange(value, 2)).toThrow(expect.objectContaining({ status: 400, code: "INVALID_RANGE" }));
    },
  );

  test("does not know two fields without a selector", () => {
    expect(parseRange("bytes=0-1, bytes=4-5", 2)).toEqual({ unit: "other" });
  });

  test("takes no longer for a hostile value than for its length", () => {
    expect(parseRange(`selector=a${endless(" ")}b`, 1)).toHaveProperty("unit", "selector");
    expect(parseRange(`,${endless(" \t")}`.repeat(2), 2)).toEqual({ unit: "other" });
  });
});

describe("selectorCandidates", () => {
  test.each([
    ["#a > b", ["#a > b"]],
    ["%23a%20%3E%20b", ["%23a%20%3E%20b", "#a > b"]],
    ['[href="%20"]', ['[href="%20"]', '[href=" "]']],
    ["gr%C3%B6%C3%9Fe", ["gr%C3%B6%C3%9Fe", "größe"]],
    ["größe%20a", ["größe%20a", "größe a"]],
    ["100%", ["100%"]],
    ["%FF", ["%FF"]],
  ])("reads %s", (selector, candidates) => {
    expect(selectorCandidates(selector)).toEqual(candidates);
  });
});

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
  ["characters that are not bytes", "\u012f"],
])("gives undefined for %s", (_what, value) => {
  expect(utf8Header(value)).toBeUndefined();
});

test.each([
  ["/a.html", "html"],
  ["/a.xhtml", "xml"],
  ["/a.xml", "xml"],
  ["/a.Svg", "xml"],
  ["/a.txt", undefined],
  ["/.html", undefined],
  ["/a.html/", undefined],
])("documentKind of %s is %s", (path, kind) => {
  expect(documentKind(path)).toBe(kind);
});
