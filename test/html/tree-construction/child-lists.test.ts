import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import { RootNode, TextNode, type TreeChild } from "../../../src/html/document/html-nodes.ts";
import { ChildLists } from "../../../src/html/tree-construction/child-lists.ts";
import { stepClock, turnsUntil } from "../../helpers/counted-work.ts";
import { done } from "../../helpers/done.ts";

const lists = new ChildLists();

function openRoot(...texts: readonly string[]) {
  const root = new RootNode();
  lists.open(root);
  const nodes = texts.map((text) => new TextNode(text));
  for (const node of nodes) lists.append(root, node);
  return { root, nodes };
}

/** The children, by the array and by the links between them. */
function childrenOf(root: RootNode): string[] {
  lists.close(root);
  const texts = root.children.map((node) => ("data" in node ? node.data : ""));
  const linked: string[] = [];
  for (let node: TreeChild | null = root.children[0] ?? null; node; node = node.next) {
    expect([node.parent, node.prev]).toEqual([root, root.children[linked.length - 1] ?? null]);
    linked.push("data" in node ? node.data : "");
  }
  expect(linked).toEqual(texts);
  return texts;
}

describe("ChildLists", () => {
  it.each([[[]], [["a"]], [["a", "b"]], [["a", "b", "c"]], [["a", "b", "c", "d", "e"]]])("keeps %j", (texts) => {
    expect(childrenOf(openRoot(...texts).root)).toEqual(texts);
  });

  it("inserts and removes anywhere", () => {
    const { root, nodes } = openRoot("a", "b", "c");
    const [a, b, c] = nodes;
    if (!(a && b && c)) throw new Error("there are three nodes");
    lists.insertBefore(b, new TextNode("x"));
    lists.insertBefore(a, new TextNode("y"));
    lists.detach(c);
    lists.detach(c);
    expect(lists.last(root)).toBe(b);
    expect([childrenOf(root), c.parent, c.prev]).toEqual([["y", "a", "x", "b"], null, null]);
  });

  it("comes back to a parent that was closed", () => {
    const { root, nodes } = openRoot("a", "b");
    lists.close(root);
    expect(lists.last(root)).toBe(nodes[1]);
    lists.append(root, new TextNode("c"));
    lists.closeReopened();
    expect(root.children).toHaveLength(3);
    expect(childrenOf(root)).toEqual(["a", "b", "c"]);
  });

  it("moves all children to another parent", () => {
    const { root } = openRoot("a", "b");
    const { root: other } = openRoot();
    lists.moveAll(root, other);
    expect([childrenOf(root), childrenOf(other)]).toEqual([[], ["a", "b"]]);
  });

  it("makes the array of very many children while others have their turn", async () => {
    const { root, nodes } = openRoot(...Array.from({ length: 50_000 }, String));
    lists.close(root);
    stepClock();
    expect(await turnsUntil(done(lists.settle()))).toBeGreaterThan(2);
    expect(root.children).toEqual(nodes);
  });

  it("tells of very many children that change after their parent was closed", async () => {
    const revised: unknown[] = [];
    const own = new ChildLists((node) => revised.push(node));
    const root = new RootNode();
    own.open(root);
    for (let count = 0; count < 5000; count += 1) own.append(root, new TextNode(""));
    own.close(root);
    expect(revised).toEqual([]);
    own.append(root, new TextNode("late"));
    expect(revised).toEqual([root]);
    own.closeReopened();
    atOnce(own.settle());
    expect(root.children).toHaveLength(5001);
  });
});
