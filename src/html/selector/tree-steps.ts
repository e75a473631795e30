import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { nextNode } from "../document/html-document.ts";
import { SourceElement, type TreeChild, type TreeNode } from "../document/html-nodes.ts";
import type { EvaluationSteps } from "./evaluation-steps.ts";
import type { Combinator } from "./selector-tree.ts";

/** Called with each element that a step leads to; `false` when it has been there, and so has all that lies behind it. */
export type Visit = (element: SourceElement) => boolean;

/** Leads from elements to others. */
export type TreeStep = (from: readonly SourceElement[], visit: Visit, steps: EvaluationSteps) => SlicedWork<void>;

/** From what a combinator's left side matches to where its right side can be. */
export const stepsForward: Readonly<Record<Combinator, TreeStep>> = {
  *descendant(from, visit, steps) {
    for (const element of from) {
      let node = nextNode(element, element);
      while (node) {
        steps.spend();
        if (steps.isSliceOver()) yield;
        const isNew = !(node instanceof SourceElement) || visit(node);
        node = isNew ? nextNode(node, element) : nextBehind(node, element);
      }
    }
  },
  *child(from, visit, steps) {
    for (const { children } of from) {
      for (const child of children) {
        steps.spend();
        if (steps.isSliceOver()) yield;
        if (child instanceof SourceElement) visit(child);
      }
    }
  },
  "next-sibling": (from, visit, steps) => toOthers(from, visit, steps, nextElement, "first"),
  "subsequent-sibling": (from, visit, steps) => toOthers(from, visit, steps, nextElement, "all"),
};

/** From what a combinator's right side matches to where its left side can be. */
export const stepsBackward: Readonly<Record<Combinator, TreeStep>> = {
  descendant: (from, visit, steps) => toOthers(from, visit, steps, parentElement, "all"),
  child: (from, visit, steps) => toOthers(from, visit, steps, parentElement, "first"),
  "next-sibling": (from, visit, steps) => toOthers(from, visit, steps, previousElement, "first"),
  "subsequent-sibling": (from, visit, steps) => toOthers(from, visit, steps, previousElement, "all"),
};

/** Visits the first element in a direction, or all up to one where it has been. */
function* toOthers(
  from: readonly SourceElement[],
  visit: Visit,
  steps: EvaluationSteps,
  next: (node: TreeNode, steps: EvaluationSteps) => SourceElement | null,
  reach: "first" | "all",
): SlicedWork<void> {
  for (const element of from) {
    let other = next(element, steps);
    while (other && visit(other) && reach === "all") {
      if (steps.isSliceOver()) yield;
      other = next(other, steps);
    }
    if (steps.isSliceOver()) yield;
  }
}

export function parentElement({ parent }: TreeNode): SourceElement | null {
  return parent instanceof SourceElement ? parent : null;
}

export function previousElement({ prev }: TreeNode, steps: EvaluationSteps): SourceElement | null {
  let node = prev;
  while (node && !(node instanceof SourceElement)) {
    steps.spend();
    node = node.prev;
  }
  return node;
}

export function nextElement({ next }: TreeNode, steps: EvaluationSteps): SourceElement | null {
  let node = next;
  while (node && !(node instanceof SourceElement)) {
    steps.spend();
    node = node.next;
  }
  return node;
}

/** The next node in document order that lies below `root` but not below `element`. */
export function nextBehind(element: TreeNode, root: SourceElement): TreeChild | null {
  let current: TreeNode | null = element;
  while (current && current !== root) {
    if (current.next) return current.next;
    current = current.parent;
  }
  return null;
}
