import { Comment, Document, Element, hasChildren, isDocument, isTag, ProcessingInstruction, Text } from "domhandler";
import {
  existsOne,
  findAll,
  getAttributeValue,
  getChildren,
  getElementsByTagName,
  getInnerHTML,
  getParent,
  getSiblings,
  hasAttrib,
  innerText,
  nextElementSibling,
  prevElementSibling,
  removeSubsets,
  textContent,
  uniqueSort,
} from "domutils";
import { describe, expect, it } from "vitest";
import { DoctypeNode, type RootNode, TemplateElement } from "../../../src/html/document/html-nodes.ts";
import { elementsIn, nodesOf, realPages } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const page =
  '<!doctype html PUBLIC "p" "s"><!--c--><title>t</title><p id=a class="x y">one <b>two</b><script>3</script></p><p>four';

async function tree(source: string): Promise<RootNode> {
  return (await parseHtml(source)).root;
}

describe("the nodes of a tree", () => {
  it("are those of domhandler", async () => {
    const root = await tree(page);
    expect(root).toBeInstanceOf(Document);
    const kinds = [Comment, Element, ProcessingInstruction, Text];
    for (const node of nodesOf(root)) expect(kinds.some((kind) => node instanceof kind)).toBe(true);
    expect(isDocument(root) && hasChildren(root)).toBe(true);
    expect(nodesOf(root).filter(isTag)).toEqual(elementsIn(root));
  });

  it("answer in the names of the DOM", async () => {
    const root = await tree(page);
    const [html, head, , body, p, b] = elementsIn(root).filter(({ name }) => name !== "script");
    expect([root.nodeType, html?.nodeType, p?.firstChild?.nodeType]).toEqual([9, 1, 3]);
    expect([p?.tagName, p?.firstChild, p?.childNodes]).toEqual(["p", p?.children[0], p?.children]);
    expect([head?.nextSibling, body?.previousSibling, b?.parentNode]).toEqual([body, head, p]);
    expect([html?.parentNode, html?.previousSibling, p?.lastChild]).toEqual([root, root.children[1], p?.children[2]]);
    expect(p?.attributes.map(({ name, value }) => [name, value])).toEqual([
      ["id", "a"],
      ["class", "x y"],
    ]);
    expect(elementsIn(root).map(({ type }) => type)).toContain("script");
  });

  it("say of a doctype what it was written as", async () => {
    const [doctype] = (await tree(page)).children;
    expect(doctype).toBeInstanceOf(DoctypeNode);
    expect(doctype).toMatchObject({
      type: "directive",
      name: "!doctype",
      data: '!DOCTYPE html PUBLIC "p" "s"',
      "x-name": "html",
      "x-publicId": "p",
      "x-systemId": "s",
    });
  });

  it("keep the content of a template in a document of its own", async () => {
    const [template] = getElementsByTagName("template", (await tree("<template><i>t</i></template>")).children);
    expect(template).toBeInstanceOf(TemplateElement);
    expect(textContent(template as TemplateElement)).toBe("");
    expect(template instanceof TemplateElement && textContent(template.content)).toBe("t");
    expect(template instanceof TemplateElement && template.content.parentNode).toBe(template);
  });

  it("can be copied", async () => {
    const [, , , , p] = elementsIn(await tree(page));
    expect(p && getInnerHTML(p.cloneNode(true))).toBe("one <b>two</b><script>3</script>");
  });
});

describe("domutils", () => {
  it("reads a tree", async () => {
    const root = await tree(page);
    const [first, second] = getElementsByTagName("p", root.children);
    const [b] = getElementsByTagName("b", root.children);
    if (!(first && second && b)) throw new Error("there are two paragraphs");
    expect(getAttributeValue(first, "class")).toBe("x y");
    expect([hasAttrib(first, "id"), hasAttrib(second, "id"), hasAttrib(first, "constructor")]).toEqual([
      true,
      false,
      false,
    ]);
    expect([textContent(first), innerText(first)]).toEqual(["one two3", "one two"]);
    expect([getParent(b), getChildren(first)[1], getSiblings(b)]).toEqual([first, b, first.children]);
    expect([nextElementSibling(first), prevElementSibling(second)]).toEqual([second, first]);
    expect(getInnerHTML(first)).toBe("one <b>two</b><script>3</script>");
    expect(existsOne(({ name }) => name === "b", root.children)).toBe(true);
    expect(uniqueSort([second, b, first, b])).toEqual([first, b, second]);
    expect(removeSubsets([first, b, second])).toEqual([first, second]);
  });

  it("finds the elements of real pages in their order", async () => {
    for (const { name, bytes } of realPages().filter((_, index) => index % 32 === 0)) {
      const { root } = await parseHtml(bytes);
      const found = findAll(() => true, root.children);
      expect(found.length, name).toBeGreaterThan(0);
      expect(
        found.every((element, index) => element === elementsIn(root)[index]),
        name,
      ).toBe(true);
    }
  });
});
