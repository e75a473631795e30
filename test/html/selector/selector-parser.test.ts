import { describe, expect, it } from "vitest";
import { DocumentError } from "../../../src/html/document-error.ts";
import { parseSelector } from "../../../src/html/selector/selector-parser.ts";
import { acceptedSelectors, beyondChromium, refusedSelectors } from "../../elements/selector-lists.ts";

/** By the offset at which something is wrong. */
const invalid: Readonly<Record<number, readonly string[]>> = {
  0: ["", ",a", "> a", "#1a", "#", ".1", "1a", ":", "::", ":foo", ":input", ":matches(a)", "ns|p"],
  1: [
    ...["a..b", "[1a]", "[]", "p)", "p]", "a{", "p:contains(a)", "p:eq(0)", "p:first", "p:nth-child"],
    ...["p:hover(x)", "p::foo", "[ns|a]", "a<b"],
  ],
  2: ["a,", "a,,b", "[a!=b]", "a&b", "a || b"],
  3: ["a >", "[a=1]", "[a==b]"],
  4: ["a > > b"],
  5: ["[a=b c]", ":not(::before)", ":has()"],
  6: ["p:not()", "p:not(:foo)", ":has(a:has(b))", "p:dir()"],
  7: ["a:lang()"],
  9: ["::before p", "a::before.b"],
  12: ["p:nth-child()", "p:nth-child(x)"],
};

describe("parseSelector", () => {
  it(`takes what a browser takes: ${acceptedSelectors.length} forms`, () => {
    expect(acceptedSelectors.filter((selector) => !isTaken(selector))).toEqual([]);
  });

  it(`refuses what a browser refuses: ${refusedSelectors.length} forms`, () => {
    expect(refusedSelectors.filter(isTaken)).toEqual([]);
  });

  it("takes what the standard has and not all browsers take", () => {
    expect(beyondChromium.filter((selector) => !isTaken(selector))).toEqual([]);
  });

  it.each(Object.entries(invalid))("it says that the offset %s is wrong", (offset, selectors) => {
    const error = expect.objectContaining({
      code: "INVALID_SELECTOR",
      message: expect.stringContaining(`at offset ${offset},`),
    });
    for (const selector of selectors) expect(() => parseSelector(selector), selector).toThrow(error);
  });

  it("names the part that is wrong", () => {
    expect(() => parseSelector("ul > li:contains(x) a")).toThrow('":contains(x)": the pseudo-class is unknown');
  });

  it("undoes escapes", () => {
    expect(parseSelector("#\\31 a\\:\\e9  b")[0]?.[0]?.compound).toEqual([{ kind: "id", value: "1a:é" }]);
  });

  it("keeps the order and kind of everything", () => {
    const type = (name: string) => ({ kind: "type", name, namespace: "any" });
    expect(parseSelector("a > b.c#d ~ g:not(h), i:hover")).toEqual([
      [
        { combinator: null, compound: [type("a")] },
        { combinator: "child", compound: [type("b"), { kind: "class", value: "c" }, { kind: "id", value: "d" }] },
        {
          combinator: "subsequent-sibling",
          compound: [type("g"), { kind: "not", list: [[{ combinator: null, compound: [type("h")] }]] }],
        },
      ],
      [{ combinator: null, compound: [type("i"), { kind: "nothing" }] }],
    ]);
  });

  it("gives a relative selector the combinator that it begins with", () => {
    const [[{ compound } = { compound: [] }] = []] = parseSelector(":has(a, + b)");
    const [has] = compound;
    const first = has?.kind === "has" ? has.list.map(([step]) => step?.combinator) : [];
    expect(first).toEqual(["descendant", "next-sibling"]);
  });

  it.each([
    ["a:is(b, :foo(x, [y), c)", 1],
    ["a:is(b, :foo(x, y), c)", 2],
    ["a:is(:has(:has(b)), c d, ::before, > e)", 1],
    [":is(a:nth-child(1 of ::before))", 0],
    [":is()", 0],
  ])("it drops what it cannot read from the list of %s", (selector, kept) => {
    const [[{ compound } = { compound: [] }] = []] = parseSelector(selector);
    const is = compound.at(-1);
    expect(is?.kind === "is" && is.list.length).toBe(kept);
  });

  it("bounds length and number of compound selectors, also in what it would drop", () => {
    expect(() => parseSelector("a".repeat(4097))).toThrow("longer than 4096");
    expect(parseSelector(Array(64).fill("a").join(" "))).toHaveLength(1);
    expect(() => parseSelector(Array(65).fill("a").join(" "))).toThrow("more than 64");
    expect(() => parseSelector(`:is(${Array(65).fill("a").join(",")})`)).toThrow("more than 64");
    expect(() => parseSelector(":is(".repeat(1000))).toThrow("more than 64");
  });

  it("takes other limits", () => {
    expect(() => parseSelector("aa", { maxSelectorLength: 1 })).toThrow("longer than 1");
    expect(() => parseSelector("a a", { maxCompounds: 1 })).toThrow("more than 1");
  });
});

function isTaken(selector: string): boolean {
  try {
    return parseSelector(selector).length > 0;
  } catch (error) {
    if (error instanceof DocumentError && error.code === "INVALID_SELECTOR") return false;
    throw error;
  }
}
