import { describe, expect, it } from "vitest";
import { TimeSlice } from "../../../src/event-loop/sliced-work.ts";
import { TreeCopier } from "../../../src/html/document/copy-tree.ts";
import { SourceElement, TextNode } from "../../../src/html/document/html-nodes.ts";
import { serialise } from "../../../src/html/document/serialise.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function elementIn(page: string, name: string): Promise<SourceElement> {
  const found = elementsOf(await parseHtml(page)).find((each) => each.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

describe("TreeCopier", () => {
  it("copies an element with all below it to where it stands in another source", async () => {
    const page = "<div id=a>1<b>2 &amp; 3</b><!--c--><template><i>x</i></template></div>";
    const source = `<p>${page}`;
    const div = await elementIn(page, "div");
    const copier = new TreeCopier(source, new Set([div]), new Map());
    const copy = copier.copy(div, 3);
    await copier.finish(new TimeSlice());
    expect(serialise({ source }, copy)).toBe(
      '<div id="a">1<b>2 &amp; 3</b><!--c--><template><i>x</i></template></div>',
    );
    expect([copy.startIndex, copy.endIndex]).toEqual([3, source.length - 1]);
    expect(copier.twins.get(div)).toBe(copy);
    expect(copier.elements.map(({ name, startIndex }) => [name, startIndex])).toEqual([
      ["div", 3],
      ["b", 14],
      ["template", 38],
      ["i", 48],
    ]);
  });

  it("leaves the old nodes as they are", async () => {
    const div = await elementIn("<div>a<b>c</b></div>", "div");
    const copier = new TreeCopier("xx<div>a<b>c</b></div>", new Set(), new Map());
    const copy = copier.copy(div, 2);
    await copier.finish(new TimeSlice());
    const [text] = div.children;
    expect([text?.parent === div, text?.startIndex, div.startIndex]).toEqual([true, 5, 0]);
    expect(copy instanceof SourceElement && copy.children.every((child) => child.parent === copy)).toBe(true);
  });

  it("gives an element its place back that the old tree took from it", async () => {
    const source = "<table>x<tr><td>1</table>";
    const document = await parseHtml(source);
    const table = elementsOf(document).find(({ name }) => name === "table") as SourceElement;
    expect(table.startIndex).toBeNull();
    const copier = new TreeCopier(source, new Set(), document.parse?.lost ?? new Map());
    expect(copier.copyOpen(table)).toMatchObject({ startIndex: 0, contentStart: 7, contentEnd: -1, children: [] });
  });

  it("keeps a text that is not written so in the source", async () => {
    const p = await elementIn("<p>a&lt;b</p>", "p");
    const copier = new TreeCopier("<p>a&lt;b</p>", new Set(), new Map());
    const [text] = p.children;
    const copy = text && copier.copy(text, 0);
    expect(copy instanceof TextNode && copy.data).toBe("a<b");
  });
});
