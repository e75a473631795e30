import { describe, expect, it } from "vitest";
import { buildHtmlTree, treeBuilder } from "../../../src/html/document/html-document.ts";
import { ParseBudget } from "../../../src/html/document/parse-budget.ts";
import { MicrodataError, readPage } from "../../../src/html/microdata/microdata-page.ts";
import { stepClock, turnsUntil } from "../../helpers/counted-work.ts";
import { done } from "../../helpers/done.ts";

describe("readPage", () => {
  it("looks at the elements piece by piece once the page is parsed", async () => {
    const source = "<p itemscope>".repeat(20_000);
    stepClock(5); // every look at the clock finds that others wait
    const builder = treeBuilder(source, new ParseBudget());
    const ofParsing = await turnsUntil(done(buildHtmlTree(builder)));
    expect((await turnsUntil(done(readPage(source)))) - ofParsing).toBeGreaterThan(30);
  });

  it("knows the line of each element with microdata", async () => {
    const page = await done(readPage("<p>\n<b itemprop=a>\n</b><i itemscope\nitemref=x>"));
    expect([...page.lines].map(([element, line]) => [element.name, line])).toEqual([
      ["b", 2],
      ["i", 3],
    ]);
  });

  it("knows the order of the tree where it is not that of the source", async () => {
    const page = await done(readPage("<table><tr><td id=in></td></tr><b id=out></b></table>"));
    const order = (id: string): number => [...page.order.keys()].map((each) => each.attribs["id"]).indexOf(id);
    expect(order("out")).toBeGreaterThan(0);
    expect(order("out")).toBeLessThan(order("in"));
  });

  it("tells of a tag with microdata that became no element", async () => {
    const page = await done(readPage("<td itemprop=a>\n<form><form itemscope></form><td class=x>"));
    expect(page.mistakes.map(({ line, text }) => [line, text.split(" has ")[0]])).toEqual([
      [1, "the tag <td>"],
      [2, "the tag <form>"],
    ]);
  });

  it("knows the line of a tag wherever error recovery put its element", async () => {
    const page = await done(readPage("<table>\n<div itemscope>\n<b itemprop=a><p>\n</b>x</table>\n<html\nitemscope>"));
    expect([...page.lines].map(([element, line]) => [element.name, line])).toEqual([
      ["html", 5],
      ["div", 2],
      ["b", 3],
      ["b", 3],
    ]);
  });

  it("says where it stopped", async () => {
    const error = await done(readPage(`\n${"<i>".repeat(100)}\n${"<div>".repeat(600)}`)).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(MicrodataError);
    expect(error).toMatchObject({ line: 3 });
  });
});
