import { describe, expect, it } from "vitest";
import { SourceElement, type TreeNode } from "../../../src/html/document/html-nodes.ts";
import { contentOf, TreeWalk } from "../../../src/html/document/tree-walk.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

function label({ node, isAtEnd }: TreeWalk): string {
  if (node instanceof SourceElement) return isAtEnd ? `/${node.name}` : node.name;
  return "data" in node ? node.data : node.type;
}

async function bodyOf(page: string): Promise<SourceElement> {
  const body = elementsOf(await parseHtml(page))[2];
  if (!body) throw new Error("no body");
  return body;
}

function walked(root: TreeNode, skipped?: string): string[] {
  const walk = new TreeWalk(root);
  const labels: string[] = [];
  let isInside = walk.advance();
  while (isInside) {
    labels.push(label(walk));
    isInside = label(walk) === skipped ? walk.skip() : walk.advance();
  }
  return labels;
}

describe("TreeWalk", () => {
  it("comes to every node below the root, and to each element at its end", async () => {
    expect(walked(await bodyOf("<p>a<b></b><!--c--></p>d"))).toEqual(["p", "a", "b", "/b", "c", "/p", "d"]);
  });

  it("goes through the content of templates", async () => {
    const body = await bodyOf("<p></p><template><i>x</i></template>y");
    expect(walked(body)).toEqual(["p", "/p", "template", "i", "x", "/i", "/template", "y"]);
    expect(body.children.flatMap(contentOf)).toHaveLength(1);
  });

  it("skips the content of a node", async () => {
    expect(walked(await bodyOf("<p>a<b>x</b></p><i>d</i>"), "p")).toEqual(["p", "i", "d", "/i"]);
    expect(walked(await bodyOf("<div><p>a</p></div>"), "p")).toEqual(["div", "p", "/div"]);
  });

  it("sees nothing below an element without content", async () => {
    expect(walked(await bodyOf(""))).toEqual([]);
  });
});
