import { elementSpan } from "../../src/html/document/element-span.ts";
import {
  CommentNode,
  DoctypeNode,
  SourceElement,
  TextNode,
  type TreeNode,
} from "../../src/html/document/html-nodes.ts";
import type { SourceDocument } from "../../src/html/document/source-document.ts";
import { TreeWalk } from "../../src/html/document/tree-walk.ts";

/** All that is known of a document, a line for each node. */
export function shapeOf(document: SourceDocument): string {
  let shape = document.root.mode ?? "";
  const walk = new TreeWalk(document.root);
  while (walk.advance()) shape += `\n${walk.isAtEnd ? "end" : JSON.stringify(shapeOfNode(walk.node, document))}`;
  return shape;
}

function shapeOfNode(node: TreeNode, document: SourceDocument): unknown {
  const place = [node.startIndex, node.endIndex, node.prev?.startIndex, node.next?.startIndex, node.parent?.startIndex];
  if (node instanceof SourceElement) {
    const isFormatted = document.formattedFromBefore.has(node);
    return [node.name, node.namespace, elementSpan(node), { ...node.attribs }, isFormatted, node.contentEnd, ...place];
  }
  if (node instanceof TextNode || node instanceof CommentNode) return [node.type, node.data, ...place];
  return node instanceof DoctypeNode ? ["doctype", node.name, node.publicId, node.systemId, ...place] : "root";
}
