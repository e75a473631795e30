import { describe, expect, it } from "vitest";
import {
  attributeOf,
  MicrodataError,
  nodesBelow,
  type Page,
  parsePage,
} from "../../../src/html/microdata/parse-page.ts";

function parse(html: string): { page: Page; pieces: number } {
  const parsing = parsePage(html);
  let pieces = 0;
  let step = parsing.next();
  for (; !step.done; step = parsing.next()) pieces += 1;
  return { page: step.value, pieces };
}

describe("parsePage", () => {
  it("knows the line of each element with microdata", () => {
    const { page } = parse("<p>\n<b itemprop=a>\n</b><i itemscope\nitemref=x>");
    expect([...page.lines].map(([element, line]) => [element.tagName, line])).toEqual([
      ["b", 2],
      ["i", 3],
    ]);
  });

  it("knows the order of the tree where it is not that of the source", () => {
    const { page } = parse("<table><tr><td id=in></td></tr><b id=out></b></table>");
    const order = (id: string): number => [...page.order.keys()].map((each) => attributeOf(each, "id")).indexOf(id);
    expect(order("out")).toBeGreaterThan(0);
    expect(order("out")).toBeLessThan(order("in"));
  });

  it("parses in pieces what it parses in one", () => {
    const row = "<tr itemscope><td itemprop=a title='\u{1f600}'>x &amp; y\r\n</td></tr>";
    const { page, pieces } = parse(`<table>${row.repeat(2000)}</table>`);
    expect(pieces).toBeGreaterThan(5);
    expect(page.mistakes).toEqual([]);
    const cells = [...page.lines].filter(([element]) => element.tagName === "td");
    expect(cells.map(([, line]) => line)).toEqual(Array.from({ length: 2000 }, (_, i) => i + 1));
    expect(new Set(cells.map(([element]) => element.attrs.at(-1)?.value))).toEqual(new Set(["\u{1f600}"]));
  });

  it("tells of a tag with microdata that became no element", () => {
    const { page } = parse("<td itemprop=a>\n<form><form itemscope></form><td class=x>");
    expect(page.mistakes.map(({ line, text }) => [line, text.split(" has ")[0]])).toEqual([
      [1, "the tag <td>"],
      [2, "the tag <form>"],
    ]);
  });

  it("says where it stopped", () => {
    const deep = `\n${"<i>".repeat(100)}\n${"<div>".repeat(600)}`;
    expect(() => parse(deep)).toThrow(expect.objectContaining({ line: 3 }));
    expect(() => parse(deep)).toThrow(MicrodataError);
  });
});

it("walks over all nodes in tree order, but not into templates", () => {
  const { page } = parse("<div id=a>1<b>2</b><!--3--><template>4</template>5</div>");
  const root = page.ids.get("a");
  const names = root ? [...nodesBelow(root)].map((node) => node.nodeName) : [];
  expect(names).toEqual(["#text", "b", "#text", "#comment", "template", "#text"]);
});
