import { Parser } from "parse5";
import { describe, expect, it } from "vitest";
import {
  CommentNode,
  DoctypeNode,
  SourceElement,
  TemplateElement,
  TextNode,
} from "../../../src/html/document/html-nodes.ts";
import { HtmlTreeAdapter, type HtmlTreeTypes } from "../../../src/html/document/html-tree.ts";
import { elementsIn, elementsOf, nodesOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function element(source: string, name: string): Promise<SourceElement> {
  const found = elementsOf(await parseHtml(source)).find((each) => each.name === name);
  if (!found) throw new Error(`there is no <${name}>`);
  return found;
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

  it("has nodes of five kinds", async () => {
    const { root } = await parseHtml('<!doctype html PUBLIC "p" "s"><!--c--><p>t');
    const [doctype, comment] = root.children;
    expect(doctype instanceof DoctypeNode && [doctype["x-name"], doctype["x-publicId"], doctype["x-systemId"]]).toEqual(
      ["html", "p", "s"],
    );
    expect(comment instanceof CommentNode && comment.data).toBe("c");
    expect(
      nodesOf(root)
        .filter((node) => node instanceof TextNode)
        .map(({ data }) => data),
    ).toEqual(["t"]);
  });

  it("keeps the content of a template apart", async () => {
    const template = await element("<template><i>t</i></template>", "template");
    expect(template.children).toEqual([]);
    expect(template instanceof TemplateElement && elementsIn(template.content).map(({ name }) => name)).toEqual(["i"]);
  });

  it("takes the first of two attributes, and names of SVG as they should be", async () => {
    expect({ ...(await element("<a b=1 B=2 c>", "a")).attribs }).toEqual({ b: "1", c: "" });
    expect({ ...(await element("<svg viewbox=1 xlink:href=2>", "svg")).attribs }).toEqual({
      viewBox: "1",
      "xlink:href": "2",
    });
    expect({ ...(await element("<body a=1><body a=2 b=3>", "body")).attribs }).toEqual({ a: "1", b: "3" });
  });

  it("notes what the parser put under another parent than it stands in", () => {
    const source = "<table>x<tr><td>1</table>";
    const tree = new HtmlTreeAdapter(source);
    Parser.parse<HtmlTreeTypes>(source, { treeAdapter: tree, sourceCodeLocationInfo: true });
    expect(
      tree.displaced.map(({ offset, parent }) => [offset, parent instanceof SourceElement && parent.name]),
    ).toEqual([[7, "body"]]);
  });
});
