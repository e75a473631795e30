import type { ChildNode } from "domhandler";
import type { SourceElement } from "./html-tree.ts";

/** The sibling before an element, or before its implied parent, where that begins with it. */
export function previousOf(element: SourceElement): ChildNode | null {
  let current: ChildNode = element;
  while (!current.prev && current.parent && isImplied(current.parent)) current = current.parent as ChildNode;
  return current.prev;
}

/** The sibling after an element, or after its implied parent, where that ends with it. */
export function nextOf(element: SourceElement): ChildNode | null {
  let current: ChildNode = element;
  while (!current.next && current.parent && isImplied(current.parent)) current = current.parent as ChildNode;
  return current.next;
}

function isImplied(node: { startIndex: number | null; type: string }): boolean {
  return node.startIndex === null && node.type !== "root";
}
