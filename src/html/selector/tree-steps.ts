import { nextNode } from "../document/html-document.ts";
import { SourceElement, type TreeChild, type TreeNode } from "../document/html-nodes.ts";
import type { EvaluationClock } from "./evaluation-clock.ts";
import type { Combinator } from "./selector-tree.ts";

/** Called with each element that a step leads to; `false` when it has been there, and so has all that lies behind it. */
export type Visit = (element: SourceElement) => boolean;

/** Leads from an element to others. */
export type TreeStep = (from: SourceElement, visit: Visit, clock: EvaluationClock) => void;

/** From what a combinator's left side matches to where its right side can be. */
export const stepsForward: Readonly<Record<Combinator, TreeStep>> = {
  descendant(from, visit, clock) {
    let node = nextNode(from, from);
    while (node) {
      clock.spend();
      const isNew = !(node instanceof SourceElement) || visit(node);
      node = isNew ? nextNode(node, from) : nextBehind(node, from);
    }
  },
  child(from, visit, clock) {
    for (const child of from.children) {
      clock.spend();
      if (child instanceof SourceElement) visit(child);
    }
  },
  "next-sibling"(from, visit, clock) {
    const sibling = nextElement(from, clock);
    if (sibling) visit(sibling);
  },
  "subsequent-sibling"(from, visit, clock) {
    let sibling = nextElement(from, clock);
    while (sibling && visit(sibling)) sibling = nextElement(sibling, clock);
  },
};

/** From what a combinator's right side matches to where its left side can be. */
export const stepsBackward: Readonly<Record<Combinator, TreeStep>> = {
  descendant(from, visit, clock) {
    let ancestor = parentElement(from);
    while (ancestor && visit(ancestor)) {
      clock.spend();
      ancestor = parentElement(ancestor);
    }
  },
  child(from, visit) {
    const parent = parentElement(from);
    if (parent) visit(parent);
  },
  "next-sibling"(from, visit, clock) {
    const sibling = previousElement(from, clock);
    if (sibling) visit(sibling);
  },
  "subsequent-sibling"(from, visit, clock) {
    let sibling = previousElement(from, clock);
    while (sibling && visit(sibling)) sibling = previousElement(sibling, clock);
  },
};

export function parentElement({ parent }: TreeNode): SourceElement | null {
  return parent instanceof SourceElement ? parent : null;
}

export function previousElement({ prev }: TreeNode, clock: EvaluationClock): SourceElement | null {
  let node = prev;
  while (node && !(node instanceof SourceElement)) {
    clock.spend();
    node = node.prev;
  }
  return node;
}

export function nextElement({ next }: TreeNode, clock: EvaluationClock): SourceElement | null {
  let node = next;
  while (node && !(node instanceof SourceElement)) {
    clock.spend();
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
