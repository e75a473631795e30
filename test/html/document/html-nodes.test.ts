import { describe, expect, it } from "vitest";
import {
  appendChild,
  detachChild,
  insertChildBefore,
  SourceElement,
  type TreeChild,
  textContent,
} from "../../../src/html/document/html-nodes.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

function element(name: string): SourceElement {
  return new SourceElement(name, "", {});
}

describe("the links of nodes", () => {
  it("are those of the children, whatever is put in or taken out", () => {
    const [parent, a, b, c] = ["parent", "a", "b", "c"].map(element) as [SourceElement, ...SourceElement[]];
    const namesOf = ({ children }: SourceElement): string[] => {
      for (const [index, node] of children.entries()) {
        const neighbours = [children[index - 1] ?? null, children[index + 1] ?? null];
        expect([node.parent, node.prev, node.next]).toEqual([parent, ...neighbours]);
      }
      return children.map((node) => (node as SourceElement).name);
    };
    for (const node of [a, c]) appendChild(parent, node as TreeChild);
    insertChildBefore(c as TreeChild, b as TreeChild);
    expect(namesOf(parent)).toEqual(["a", "b", "c"]);
    for (const [node, names] of [
      [b, ["a", "c"]],
      [c, ["a"]],
      [a, []],
    ] as const) {
      detachChild(node as TreeChild);
      expect(namesOf(parent)).toEqual(names);
      expect([node?.parent, node?.prev, node?.next]).toEqual([null, null, null]);
    }
  });
});

describe("textContent", () => {
  it("is the text of all that an element contains, but of comments and templates", async () => {
    const [, , , p] = elementsOf(await parseHtml("<p>one <b>two</b><script>3</script><!--c--><template>t</template>4"));
    expect(p && textContent(p)).toBe("one two34");
  });
});
