import { elementSpan } from "../../src/html/document/element-span.ts";
import {
  CommentNode,
  DoctypeNode,
  SourceElement,
  TemplateElement,
  TextNode,
  type TreeChild,
  type TreeParent,
} from "../../src/html/document/html-nodes.ts";
import type { SourceDocument } from "../../src/html/document/source-document.ts";

/**
 * Throws where two documents differ in anything that is known of them: nodes, places, attributes; and where the nodes of the
 * first are not linked as they stand. Made for ten thousand comparisons: it makes no text unless they differ.
 */
export function requireSameTree(actual: SourceDocument, expected: SourceDocument): void {
  if (actual.source !== expected.source) throw new Error("the sources differ");
  if (actual.root.mode !== expected.root.mode) throw new Error("the document modes differ");
  if (actual.formattedFromBefore.size !== expected.formattedFromBefore.size) {
    throw new Error("not as many elements are formatted from before");
  }
  const waiting: [TreeParent, TreeParent][] = [[actual.root, expected.root]];
  for (let pair = waiting.pop(); pair; pair = waiting.pop()) {
    const [parent, like] = pair;
    const { length } = like.children;
    if (parent.children.length !== length) throw difference("number of children", parent, like);
    let previous: TreeChild | null = null;
    for (let index = 0; index < length; index += 1) {
      const node = parent.children[index] as TreeChild;
      const other = like.children[index] as TreeChild;
      if (node.parent !== parent || node.prev !== previous) throw difference("links", node, other);
      if (previous && previous.next !== node) throw difference("links", previous, other);
      if (node.startIndex !== other.startIndex || node.endIndex !== other.endIndex || !isSameNode(node, other)) {
        throw difference("node", node, other);
      }
      if (node instanceof SourceElement && other instanceof SourceElement) {
        if (actual.formattedFromBefore.has(node) !== expected.formattedFromBefore.has(other)) {
          throw difference("formatting from before", node, other);
        }
        waiting.push([node, other]);
      }
      if (node instanceof TemplateElement && other instanceof TemplateElement) {
        if (node.content.parent !== node) throw difference("links", node, other);
        waiting.push([node.content, other.content]);
      }
      previous = node;
    }
    if (previous?.next) throw difference("links", previous, like);
  }
}

function isSameNode(node: TreeChild, other: TreeChild): boolean {
  if (node.constructor !== other.constructor) return false;
  if (node instanceof SourceElement && other instanceof SourceElement) {
    return (
      node.name === other.name &&
      node.namespace === other.namespace &&
      node.contentStart === other.contentStart &&
      node.contentEnd === other.contentEnd &&
      hasSameAttributes(node, other)
    );
  }
  return dataOf(node) === dataOf(other);
}

function dataOf(node: TreeChild | TreeParent): string | undefined {
  if (node instanceof DoctypeNode) return JSON.stringify([node.name, node.publicId, node.systemId]);
  return node instanceof TextNode || node instanceof CommentNode ? node.data : undefined;
}

function hasSameAttributes({ attribs }: SourceElement, { attribs: others }: SourceElement): boolean {
  if (attribs === others) return true;
  const names = Object.keys(attribs);
  return names.length === Object.keys(others).length && names.every((name) => attribs[name] === others[name]);
}

function difference(what: string, node: TreeChild | TreeParent, other: TreeChild | TreeParent): Error {
  return new Error(`the trees differ, ${what}: ${described(node)} in place of ${described(other)}`);
}

function described(node: TreeChild | TreeParent): string {
  const place = [node.startIndex, node.endIndex];
  if (node instanceof SourceElement) return JSON.stringify([node.name, elementSpan(node), { ...node.attribs }, place]);
  return JSON.stringify([node.type, dataOf(node), place]);
}
