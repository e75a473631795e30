import type { SourceElement } from "../document/html-nodes.ts";

/** Of elements in document order, those that lie in no other one of them. */
export function outermost(elements: readonly SourceElement[]): SourceElement[] {
  const all = new Set<unknown>(elements);
  const inside = new Map<unknown, boolean>();
  return elements.filter((element) => !hasAncestorIn(element, all, inside));
}

/** Each ancestor is looked at once, however many elements share it. */
function hasAncestorIn(element: SourceElement, all: ReadonlySet<unknown>, inside: Map<unknown, boolean>): boolean {
  const path: unknown[] = [];
  let isInside = false;
  for (let parent = element.parent; parent; parent = parent.parent) {
    const known = all.has(parent) || inside.get(parent);
    if (known !== undefined) {
      isInside = known;
      break;
    }
    path.push(parent);
  }
  for (const ancestor of path) inside.set(ancestor, isInside);
  return isInside;
}
