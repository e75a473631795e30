import { describe, expect, it } from "vitest";
import { tokenize } from "../../../src/html/selector/selector-tokens.ts";

function kinds(text: string): string {
  return tokenize(text)
    .slice(0, -1)
    .map(({ kind, value }) => `${kind} ${value}`)
    .join(", ");
}

describe("tokenize", () => {
  it.each([
    ["a", "ident a"],
    ["--x", "ident --x"],
    ["-1", "number -1"],
    ["1.5e3", "number 1.5e3"],
    [".5", "number .5"],
    [".a", "delim ., ident a"],
    ["2n-1", "dimension 2n-1"],
    ["50%", "other 50"],
    ["#a", "hash a"],
    ["#1", "other 1"],
    ["#\\31", "hash 1"],
    ["not(", "function not"],
    ["url(a b)", "other url"],
    ["url( 'a')", "function url, space  , string a, delim )"],
    ["@a", "other @a"],
    ["<!--a-->", "other <!--, ident a--, delim >"],
    ["-->", "other -->"],
    ["a|=b", "ident a, delim |=, ident b"],
    ["a||b", "ident a, delim ||, ident b"],
    ["a/* x */b", "ident a, ident b"],
    ["a /**/ b", "ident a, space  , ident b"],
    ["a/*", "ident a"],
    ["'a\\'b'", "string a'b"],
    ['"a', "string a"],
    ['"a\\', "string a"],
    ["'a\\\nb'", "string ab"],
    ["'a\nb", "other 'a, space \n, ident b"],
    ["\\31 a", "ident 1a"],
    ["\\000031a", "ident 1a"],
    ["a\\", "ident a\ufffd"],
    ["\\0", "ident \ufffd"],
    ["\\d800", "ident \ufffd"],
    ["\\110000", "ident \ufffd"],
    ["\0", "ident \ufffd"],
    ["\\\n", "delim \\, space \n"],
    ["é😀", "ident é😀"],
    ["&", "delim &"],
  ])("it reads %j as %j", (text, expected) => {
    expect(kinds(text)).toBe(expected);
  });

  it("says where each token stands, and ends with the end", () => {
    const places = tokenize("a /* x */ .b").map(({ kind, start, end }) => [kind, start, end]);
    expect(places).toEqual([
      ["ident", 0, 1],
      ["space", 1, 2],
      ["delim", 10, 11],
      ["ident", 11, 12],
      ["end", 12, 12],
    ]);
  });
});
