import { SourceElement, type TreeChild, type TreeParent } from "../document/html-nodes.ts";

/** The sibling before an element, or before its implied parent, where that begins with it. */
export function previousOf(element: SourceElement): TreeChild | null {
  let current = element;
  while (!current.prev && isImplied(current.parent)) current = current.parent;
  return current.prev;
}

/** The sibling after an element, or after its implied parent, where that ends with it. */
export function nextOf(element: SourceElement): TreeChild | null {
  let current = element;
  while (!current.next && isImplied(current.parent)) current = current.parent;
  return current.next;
}

function isImplied(parent: TreeParent | null): parent is SourceElement {
  return parent instanceof SourceElement && parent.startIndex === null;
}
