import { stringify } from "css-what";
import { describe, expect, it } from "vitest";
import { parseSelector } from "../../src/elements/selector-parser.ts";

const valid = [
  "*",
  "p",
  "P",
  "#a",
  ".a.b",
  "a#b.c",
  "[a]",
  "[a=b]",
  "[ a = 'b c' i ]",
  '[a~="x"]',
  "[a|=x]",
  "[a^=x s]",
  "[*|a]",
  "[|a]",
  "*|p",
  "a b",
  "a>b",
  "a > b",
  "a+b~c",
  "a, b",
  "a/**/b",
  "/* x */ a",
  ":root",
  "p:first-child",
  "p:not(.a, #b)",
  ":is(a, b) :where(c)",
  ":is()",
  ":is(:foo, a)",
  "a:has(> b, + c)",
  ":nth-child( 2n + 1 )",
  ":nth-child(even of .a, .b)",
  ":nth-last-of-type(-n+3)",
  ":lang(en, 'de-CH')",
  ":dir(rtl)",
  "a:hover",
  "p::before",
  "p:before",
  "::slotted(span)",
  "p::part(x)",
  "::-webkit-anything",
  "#\\31 a",
  ".\\:x",
  "[a=b",
  ":not(a",
  '[a="b',
  "é",
  "#ä-ö",
  "--x",
  "-x",
  "\\2d",
  ":HOVER",
];

const invalid: readonly (readonly [string, number])[] = [
  ["", 0],
  ["a,", 2],
  ["a,,b", 2],
  [",a", 0],
  ["a >", 3],
  ["> a", 0],
  ["a > > b", 4],
  ["#1a", 0],
  ["#", 0],
  [".1", 0],
  ["a..b", 1],
  ["1a", 0],
  ["[1a]", 1],
  ["[a=1]", 3],
  ["[a=b c]", 5],
  ["[a==b]", 3],
  ["[a!=b]", 2],
  ["[]", 1],
  ["p)", 1],
  ["p]", 1],
  ["a&b", 1],
  ["a{", 1],
  [":", 0],
  ["::", 0],
  [":foo", 0],
  ["p:contains(a)", 1],
  ["p:eq(0)", 1],
  ["p:first", 1],
  [":input", 0],
  [":matches(a)", 0],
  ["p:nth-child()", 12],
  ["p:nth-child(x)", 12],
  ["p:nth-child", 1],
  ["p:not()", 6],
  ["p:not(:foo)", 6],
  ["p:hover(x)", 1],
  [":not(::before)", 5],
  ["p::foo", 1],
  ["::before p", 9],
  ["ns|p", 0],
  ["[ns|a]", 0],
  [":has(a:has(b))", 6],
  [":has()", 5],
  ["a<b", 1],
  ["a || b", 2],
  ["a:lang()", 7],
  ["p:dir()", 6],
  ["a::before.b", 9],
];

describe("parseSelector", () => {
  it.each(valid)("takes what a browser takes: %s", (selector) => {
    expect(parseSelector(selector).length).toBeGreaterThan(0);
  });

  it.each(invalid)("refuses what a browser refuses: %s, at offset %i", (selector, offset) => {
    const error = expect.objectContaining({
      status: 400,
      code: "INVALID_SELECTOR",
      message: expect.stringContaining(`at offset ${offset},`),
    });
    expect(() => parseSelector(selector)).toThrow(error);
  });

  it("names the part that is wrong", () => {
    expect(() => parseSelector("ul > li:contains(x) a")).toThrow('":contains(x)": the pseudo-class is unknown');
  });

  it("undoes escapes", () => {
    const [[id] = []] = parseSelector("#\\31 a\\:\\e9  b");
    expect(id).toMatchObject({ name: "id", value: "1a:é" });
  });

  it("keeps the order and kind of everything", () => {
    expect(stringify(parseSelector("a > b.c#d[e='f' i] ~ g:not(h), i"))).toBe('a > b.c#d[e="f" i] ~ g:not(h), i');
  });

  it("drops what it cannot read from a forgiving list only", () => {
    expect(stringify(parseSelector("a:is(b, :foo(x, [y), c)"))).toBe("a:is(b)");
    expect(stringify(parseSelector("a:is(b, :foo(x, y), c)"))).toBe("a:is(b, c)");
  });

  it("bounds length and number of compound selectors", () => {
    expect(() => parseSelector("a".repeat(4097))).toThrow("longer than 4096");
    expect(parseSelector(Array(64).fill("a").join(" "))).toHaveLength(1);
    expect(() => parseSelector(Array(65).fill("a").join(" "))).toThrow("more than 64");
  });
});
