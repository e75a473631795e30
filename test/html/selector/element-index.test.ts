import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import { elementIndex } from "../../../src/html/selector/element-index.ts";
import { parseSelector } from "../../../src/html/selector/selector-parser.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

describe("elementIndex", () => {
  it("has the elements in document order, and is made once", async () => {
    const document = await parseHtml("<p id=a><b></b><svg><linearGradient id=A /></svg><p>");
    const index = atOnce(elementIndex(document.root));
    expect(index.all).toEqual(elementsOf(document));
    expect(atOnce(elementIndex(document.root))).toBe(index);
  });

  it("finds by id, class and name in any case, each element once", async () => {
    const page = '<p id=a class="x  Y x"><b class="\ty"></b><svg><linearGradient id=A /></svg><p class>';
    const index = atOnce(elementIndex((await parseHtml(page)).root));
    const names = (feature: "id" | "class" | "type", value: string): string[] =>
      atOnce(index.with(feature, value)).map(({ name }) => name);
    expect(names("id", "a")).toEqual(["p", "linearGradient"]);
    expect(names("type", "lineargradient")).toEqual(["linearGradient"]);
    expect(names("class", "x")).toEqual(["p"]);
    expect(names("class", "y")).toEqual(["p", "b"]);
    expect(names("class", "z")).toEqual([]);
  });

  it("finds few elements among which all are that match a compound selector", async () => {
    const page = `<p id=a class=x>${"<b class=x></b>".repeat(20)}${"<i></i>".repeat(20)}<p>`;
    const index = atOnce(elementIndex((await parseHtml(page)).root));
    const found = ["p", "P.x", "p#a", "#a:is(p)", "#none", "p:hover", ".x", "b.x", "*", ":is(.x)"].map((selector) => {
      const [[{ compound } = { compound: [] }] = []] = parseSelector(selector);
      return [selector, atOnce(index.candidatesFor(compound)).length];
    });
    expect(found).toEqual([
      ["p", 2],
      ["P.x", 2],
      ["p#a", 1],
      ["#a:is(p)", 1],
      ["#none", 0],
      ["p:hover", 0],
      [".x", 21],
      ["b.x", 20],
      ["*", 45],
      [":is(.x)", 45],
    ]);
  });
});
