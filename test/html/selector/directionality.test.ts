import { describe, expect, it } from "vitest";
import { select } from "../../elements/selecting.ts";

describe(":dir()", () => {
  it.each([
    ["<p id=a dir=rtl><i id=b></i>", ["a", "b"]],
    ["<p id=a dir=RTL><i dir=ltr></i>", ["a"]],
    ["<p dir=foo>", []],
    ["<p id=a dir=auto>123 שלום", ["a"]],
    ["<p dir=auto>abc שלום", []],
    ["<p dir=auto>123", []],
    ["<p dir=auto><i dir=ltr>שלום</i>abc", []],
    ["<p id=a dir=auto><bdi>abc</bdi><script>abc</script>عربي", ["a", "script"]],
    ["<bdi id=a>שלום</bdi>", ["a"]],
    ["<p id=a dir=rtl><bdi>abc</bdi>", ["a"]],
    ["<p id=a dir=rtl><input type=tel>", ["a"]],
    ["<input id=a dir=auto value=שלום>", ["a"]],
    ["<input dir=auto type=number value=שלום>", []],
    ["<p id=a dir=auto>𐤀", ["a"]],
    ["<p id=a dir=rtl><svg id=b dir=ltr></svg>", ["a", "b"]],
  ])("it finds what goes from right to left in %s", async (html, expected) => {
    expect(await select(html, ":dir(rtl)")).toEqual(expected);
  });

  it("takes from left to right for the rule, and knows no third direction", async () => {
    expect(await select("<p id=a>", "p:dir(ltr)")).toEqual(["a"]);
    expect(await select("<p id=a dir=foo>", ":dir(foo)")).toEqual([]);
  });
});
