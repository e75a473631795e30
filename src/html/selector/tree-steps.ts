import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { nextNode, SourceElement, type TreeChild, type TreeNode } from "../document/html-nodes.ts";
import { DocumentError } from "../document-error.ts";
import type { Combinator } from "./selector-tree.ts";

/** Called with each element a step leads to; `false` if it, and so everything behind it, was visited before. */
type Visit = (element: SourceElement) => boolean;

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

/** A fraction of a millisecond of work. */
const stepsInSlice = 5000;
/** About 10 ms. Tests of one element cannot be interrupted; only documents made to be slow have such elements. */
const maxStepsAtOnce = 1_000_000;

/** What is known of an element until the end of the evaluation takes memory: some 80 bytes. */
const stepsToKeep = 10;

/**
 * Counts the work of an evaluation: nodes visited, characters compared (64 of them as one step, or 4), memory taken.
 * The count depends on selector and document only, so that a selector is too costly on all machines alike.
 */
export class EvaluationSteps {
  readonly #max: number;
  #left: number;
  #sliceEnd: number;

  constructor(max: number) {
    this.#max = max;
    this.#left = max;
    this.#sliceEnd = max - stepsInSlice;
  }

  get taken(): number {
    return this.#max - this.#left;
  }

  /** Takes steps. Throws `SELECTOR_TOO_COSTLY` when no steps are left. */
  spend(steps: number = 1): void {
    this.#left -= steps;
    if (this.#left >= 0 && this.#sliceEnd - this.#left < maxStepsAtOnce) return;
    const details = `The selector takes more than ${this.#max} steps on this document; make it simpler, or begin it with an id.`;
    throw new DocumentError("SELECTOR_TOO_COSTLY", details);
  }

  /** Takes the steps of keeping something in mind about an element. */
  keep(): void {
    this.spend(stepsToKeep);
  }

  /** Whether it is time to `yield`. Having said so, begins a new slice. */
  isSliceOver(): boolean {
    if (this.#left > this.#sliceEnd) return false;
    this.#sliceEnd = this.#left - stepsInSlice;
    return true;
  }
}
