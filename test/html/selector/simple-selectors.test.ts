import { describe, expect, it } from "vitest";
import { select, selectInXml } from "../../elements/selecting.ts";

describe("compound selectors", () => {
  it.each([
    ["P.x#a", "<p id=a class='y x'><p class=x>", ["a"]],
    ["lineargradient, FOREIGNOBJECT", "<svg><linearGradient id=a /><foreignObject id=b>", ["a", "b"]],
    ["*|p, |p", "<p id=a>", ["a"]],
    [".a", "<p id=a class='a b'><p id=b class='A'><p class='a\u00a0b'>", ["a"]],
    ["li:nth-child(2 of .x)", "<li class=x><li><li class=x id=a>", ["a"]],
    ["li:nth-last-child(-n+2)", "<ul><li><li id=a><li id=b>", ["a", "b"]],
    ["i:nth-of-type(even)", "<i></i><b></b><i id=a></i>", ["a"]],
    ["i:nth-child(n of :not(b, u))", "<i id=a></i><b></b>", ["a"]],
    ["p:is(.a, #b):not(.c)", "<p id=a class=a><p id=b class=c>", ["a"]],
    ["[id]:is(:foo, :bar())", "<p id=a>", []],
  ])("it matches %s in %s", async (selector, html, expected) => {
    expect(await select(`<!doctype html>${html}`, selector)).toEqual(expected);
  });

  it("compares ids and classes in any case in quirks mode", async () => {
    expect(await select("<p id=A class=B>", "#a.b")).toEqual(["A"]);
    expect(await select("<!doctype html><p id=A class=B>", "#a.b")).toEqual([]);
  });

  it("compares names as they are written in XML", async () => {
    const document = '<r xmlns:s="urn:s"><Item id="a"/><item id="b"/><s:item id="c" class="X"/></r>';
    expect(await selectInXml(document, "item")).toEqual(["b", "c"]);
    expect(await selectInXml(document, "Item")).toEqual(["a"]);
    expect(await selectInXml(document, "|item, |*#a")).toEqual(["a", "b"]);
    expect(await selectInXml(document, ".x")).toEqual([]);
  });
});
