import { describe, expect, it } from "vitest";
import { treeBuilder } from "../../../src/html/document/html-document.ts";
import type { SourceElement } from "../../../src/html/document/html-nodes.ts";
import { ParseBudget } from "../../../src/html/document/parse-budget.ts";
import { elementsOf, nodesOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function element(source: string, name: string): Promise<SourceElement> {
  const found = elementsOf(await parseHtml(source)).find((each) => each.name === name);
  if (!found) throw new Error(`there is no <${name}>`);
  return found;
}

/** Start, end, and the content between them. */
async function placeOf(source: string, name: string): Promise<(number | null)[]> {
  const { startIndex, endIndex, contentStart, contentEnd } = await element(source, name);
  return [startIndex, endIndex, contentStart, contentEnd];
}

describe("the tree of an HTML document", () => {
  it("links each node to its parent and its siblings, also where error recovery moved it", async () => {
    const source =
      "<!doctype html><!--c--><p>a<b>b<p>c</b>d<table>x<tr><td>1</table><template><i>t</template><a><div></a>";
    const { root } = await parseHtml(source);
    for (const node of nodesOf(root)) {
      const siblings = node.parent?.children ?? [];
      const index = siblings.indexOf(node);
      expect(index).not.toBe(-1);
      expect([node.prev, node.next]).toEqual([siblings[index - 1] ?? null, siblings[index + 1] ?? null]);
    }
  });

  it("keeps the attributes of an element that has no place of its own", async () => {
    const copies = elementsOf(await parseHtml("<b id=x>1<p>2</b>3</p>")).filter(({ name }) => name === "b");
    expect(copies.map(({ startIndex, attribs }) => [startIndex, attribs["id"]])).toEqual([
      [null, "x"],
      [null, "x"],
    ]);
  });

  it("notes what it put under another parent than it stands in", () => {
    const builder = treeBuilder("<table>x<tr><td>1</table>", new ParseBudget());
    while (!builder.tokenizer.isDone) builder.tokenizer.advance();
    expect(builder.displaced).toMatchObject([{ offset: 7, parent: { name: "body" } }]);
    expect(builder.elements.map(({ name }) => name)).toEqual(["table", "tr", "td"]);
  });

  it.each([
    ["<p>a</p>", [0, 7, 3, 4]],
    ["<p>a<p>b", [0, 3, 3, 4]],
    ["<div><p>a</div>", [5, 8, 8, 9]],
    ["<p>a", [0, 3, 3, 4]],
    ["<p>a</P >", [0, 8, 3, 4]],
    ["<p>a</body></html>", [0, 3, 3, 4]],
  ])("knows where a paragraph stands: %s", async (source, place) => {
    expect(await placeOf(source, "p")).toEqual(place);
  });

  it("knows where an element ends whose text never ends", async () => {
    expect(await placeOf("<p>a<textarea name=q>draft", "textarea")).toEqual([4, 25, 21, 26]);
    expect(await placeOf("<script>a", "script")).toEqual([0, 8, 8, 9]);
  });

  it("knows of an element without content that it has none", async () => {
    expect(await placeOf("<br>", "br")).toEqual([0, 3, 4, -1]);
    expect(await placeOf("<svg><g/></svg>", "g")).toEqual([5, 8, 9, -1]);
    expect(await placeOf("<table><form a=b></form>", "form")).toEqual([7, 16, 17, -1]);
  });

  it("knows where content of an implied body goes", async () => {
    expect(await placeOf("<p>a</body>", "body")).toEqual([null, 10, -1, 4]);
    expect(await placeOf("<p>a", "html")).toEqual([null, 3, -1, 4]);
  });
});
