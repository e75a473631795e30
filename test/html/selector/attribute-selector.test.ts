import { describe, expect, it } from "vitest";
import { select, selectInXml } from "../../elements/selecting.ts";

describe("attribute selectors", () => {
  it.each([
    ["[type=text]", "<i id=a type=TEXT><i id=b type=text>", ["a", "b"]],
    ["[type=text s]", "<i id=a type=TEXT><i id=b type=text>", ["b"]],
    ["[title=x]", "<i id=a title=X><i id=b title=x>", ["b"]],
    ["[title=x i]", "<i id=a title=X><i id=b title=x>", ["a", "b"]],
    ["[TITLE]", "<i id=a title>", ["a"]],
    ["[type=text]", "<svg><a id=a type=TEXT></a></svg>", []],
    ["[viewbox]", "<svg id=a viewBox=x>", ["a"]],
    ["[VIEWBOX]", "<svg id=a viewBox=x>", ["a"]],
    ["[href]", "<svg><a id=a xlink:href=x></a><a id=b href=x></a></svg>", ["b"]],
    ["[*|href]", "<svg><a id=a xlink:href=x></a><a id=b href=x></a></svg>", ["a", "b"]],
    ["[xlink\\:href]", "<svg><a id=a xlink:href=x></a></svg><i id=b xlink:href=x>", ["b"]],
    ["[*|lang=x]", "<i id=a lang=x xml:lang=y><svg id=b xml:lang=x>", ["a", "b"]],
    ["[title*=k i]", "<i id=a title=K><i id=b title=\u212a>", ["a"]],
    ["[title='']", "<i id=a title><i id=b title=x>", ["a"]],
    ["[title^=''], [title$=''], [title*=''], [title~='']", "<i id=a title>", []],
    ["[title~=b]", "<i id=a title='a b c'><i id=b title='ab\tb'><i title='a\u00a0b'><i title=ab><i title>", ["a", "b"]],
    ["[title~='a b']", "<i title='a b'>", []],
    ["[title|=en]", "<i id=a title=en><i id=b title=en-US><i id=c title=english>", ["a", "b"]],
    ["[__proto__], [constructor]", "<i>", []],
  ])("it selects %s of %s", async (selector, html, expected) => {
    expect(await select(`<!doctype html><body>${html}`, selector)).toEqual(expected);
  });

  it("goes by the rules of XML in XML", async () => {
    const document = '<r xmlns:l="urn:l" type="X" viewBox=""><a id="a" l:href="x" href="y"/></r>';
    const found = await Promise.all(
      ["[type=x]", "[type=X]", "[viewbox]", "[viewBox]", "[href=x]", "[*|href=x]", "[*|l]"].map((selector) =>
        selectInXml(document, selector),
      ),
    );
    expect(found).toEqual([[], ["r"], [], ["r"], [], ["a"], ["r"]]);
  });
});
