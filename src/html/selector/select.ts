import { LRUCache } from "lru-cache";
import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { RootNode, SourceElement } from "../document/html-nodes.ts";
import type { DocumentKind, SourceDocument } from "../document/source-document.ts";
import { DocumentError } from "../document-error.ts";
import { type ElementIndex, elementIndex } from "./element-index.ts";
import { type ElementList, type FormState, type MatchContext, where } from "./match-context.ts";
import { parseSelector, type SelectorLimits } from "./selector-parser.ts";
import type { ComplexSelector, CompoundSelector, SelectorList } from "./selector-tree.ts";
import { passing, without } from "./simple-selectors.ts";
import { EvaluationSteps, parentElement, stepsBackward, stepsForward, type TreeStep } from "./tree-steps.ts";

type SelectableDocument = Pick<SourceDocument, "root" | "source" | "kind">;

export interface SelectionLimits {
  /** The most work that it may be: nodes visited, and characters compared, 64 of them as one step. @default 20000000 */
  readonly maxSelectionSteps?: number;
  /** The most elements that may match. @default 10000 */
  readonly maxMatches?: number;
  /** Steps that several evaluations may take together, as one piece of work. @default those of this one */
  readonly work?: { steps: number };
}

/** Pages ask for the same selectors again and again; the number bounds what strangers can fill the memory with. */
const compiled = new LRUCache<string, SelectorList>({ max: 500 });

/** Prepares a selector. Throws `INVALID_SELECTOR` for what a browser's `querySelectorAll` throws on. */
export function compileSelector(selector: string, limits: SelectorLimits = {}): SelectorList {
  const key = `${limits.maxSelectorLength} ${limits.maxCompounds} ${selector}`;
  const known = compiled.get(key);
  if (known) return known;
  const parsed = parseSelector(selector, limits);
  compiled.set(key, parsed);
  return parsed;
}

/** Selectors that a tree remembers, and the most elements of each: a small part of the memory of a page. */
const mostSelectors = 8;
const mostElements = 256;

/** What was found within a number of steps. */
interface Found {
  readonly elements: readonly SourceElement[];
  readonly maxSelectionSteps: number;
}

/** What selectors have found. A tree does not change, and is asked again; an edit asks twice before it writes. */
const foundIn = new WeakMap<RootNode, Map<SelectorList, Found>>();

/** The elements of `document.querySelectorAll()`. Throws `SELECTOR_TOO_COSTLY` and `TOO_MANY_MATCHES` beyond limits. */
export function* selection(
  document: SelectableDocument,
  selector: SelectorList,
  limits: SelectionLimits = {},
): SlicedWork<readonly SourceElement[]> {
  const { maxSelectionSteps = 20_000_000, maxMatches = 10_000, work = { steps: 0 } } = limits;
  const known = foundIn.get(document.root)?.get(selector);
  const isKnown = known?.maxSelectionSteps === maxSelectionSteps;
  const found = isKnown ? known.elements : yield* evaluated(document, selector, maxSelectionSteps, work);
  if (found.length > maxMatches) {
    const details = `The selector matches ${found.length} elements; ${maxMatches} are allowed.`;
    throw new DocumentError("TOO_MANY_MATCHES", details);
  }
  return found;
}

/** Makes the lists from which a selection begins, unless they are there. */
export function* indexing({ root }: SelectableDocument, selector: SelectorList): SlicedWork<void> {
  const index = yield* elementIndex(root);
  for (const [first] of selector) if (first) yield* index.candidatesFor(first.compound);
}

function* evaluated(
  document: SelectableDocument,
  selector: SelectorList,
  maxSelectionSteps: number,
  work: { steps: number },
): SlicedWork<readonly SourceElement[]> {
  const { root } = document;
  const index = yield* elementIndex(root);
  const steps = new EvaluationSteps(maxSelectionSteps - work.steps);
  const elements = yield* new Evaluation(document, index, steps).select(selector);
  work.steps += steps.taken;
  if (elements.length > mostElements) return elements;
  const remembered = foundIn.get(root) ?? new Map<SelectorList, Found>();
  if (remembered.size === mostSelectors) remembered.clear();
  remembered.set(selector, { elements, maxSelectionSteps });
  foundIn.set(root, remembered);
  return elements;
}

/** Asking that many what they lie in costs less than walking through a page. */
const fewCandidates = 64;

/**
 * One evaluation of a selector over a document. It goes from left to right: the elements that the first compound
 * matches, from these one step along the combinator, of what is there those that the next compound matches, and so on.
 * Each step visits an element once, so that the work is linear in document and selector; matching element by element,
 * from right to left, takes exponential time for `a a a a ... b` in a deep document.
 */
class Evaluation implements MatchContext {
  readonly root: RootNode;
  readonly source: string;
  readonly kind: DocumentKind;
  readonly isQuirks: boolean;
  readonly index: ElementIndex;
  readonly steps: EvaluationSteps;
  forms?: FormState;

  constructor({ root, source, kind }: SelectableDocument, index: ElementIndex, steps: EvaluationSteps) {
    this.root = root;
    this.source = source;
    this.kind = kind;
    this.isQuirks = root.mode === "quirks";
    this.index = index;
    this.steps = steps;
  }

  /** The elements that a list selects, in document order. */
  *select(list: SelectorList): SlicedWork<ElementList> {
    const [only, ...others] = list;
    if (only && others.length === 0 && isFoundInOrder(only)) return yield* this.#selectComplex(only);
    const found = new Set<SourceElement>();
    for (const selector of list) for (const element of yield* this.#selectComplex(selector)) found.add(element);
    return found.size < 2 ? [...found] : yield* where(this.index.all, (element) => found.has(element), this.steps);
  }

  *among(elements: ElementList, list: SelectorList): SlicedWork<ElementList> {
    const [only] = list;
    if (only && list.length === 1) return yield* this.#matching(elements, only);
    let left = elements;
    for (const selector of list) if (left.length > 0) left = without(left, yield* this.#matching(left, selector));
    return without(elements, left);
  }

  *leadingTo(list: SelectorList): SlicedWork<ReadonlySet<SourceElement>> {
    const found = new Set<SourceElement>();
    for (const selector of list) yield* this.#keep(yield* this.#anchors(selector), found);
    return found;
  }

  /** Those of some elements that match a selector, in the same order. */
  *#matching(elements: ElementList, selector: ComplexSelector): SlicedWork<ElementList> {
    const [first, ...others] = selector;
    if (first && others.length === 0) return yield* passing(elements, first.compound, this);
    const found = new Set<SourceElement>();
    yield* this.#keep(yield* this.#selectComplex(selector), found);
    return yield* where(elements, (element) => found.has(element), this.steps);
  }

  *#keep(elements: ElementList, set: Set<SourceElement>): SlicedWork<void> {
    for (const element of elements) {
      this.steps.keep();
      if (this.steps.isSliceOver()) yield;
      set.add(element);
    }
  }

  *#selectComplex([first, ...others]: ComplexSelector): SlicedWork<ElementList> {
    if (!first) return [];
    let found = yield* this.#everywhere(first.compound);
    for (const { combinator, compound } of others) {
      if (found.length === 0) break;
      const reached =
        combinator === "descendant"
          ? yield* this.#below(found, compound)
          : yield* this.#reached(found, stepsForward[combinator ?? "descendant"]);
      found = yield* passing(reached, compound, this);
    }
    return found;
  }

  /** The elements from which a relative selector leads to something; found from its end to its beginning. */
  *#anchors(selector: ComplexSelector): SlicedWork<ElementList> {
    let found: ElementList | undefined;
    let step: TreeStep = stepsBackward.descendant;
    for (const { combinator, compound } of selector.toReversed()) {
      found = found
        ? yield* passing(yield* this.#reached(found, step), compound, this)
        : yield* this.#everywhere(compound);
      step = stepsBackward[combinator ?? "descendant"];
    }
    return yield* this.#reached(found ?? [], step);
  }

  *#everywhere(compound: CompoundSelector): SlicedWork<ElementList> {
    return yield* passing(yield* this.index.candidatesFor(compound), compound, this);
  }

  /** What lies in elements, as far as a compound selector can match it; if few can, looks from those upwards. */
  *#below(from: ElementList, compound: CompoundSelector): SlicedWork<ElementList> {
    const candidates = yield* this.index.candidatesFor(compound);
    const isFew = candidates.length <= Math.max(fewCandidates, 4 * from.length);
    return isFew ? yield* this.#inside(candidates, from) : yield* this.#reached(from, stepsForward.descendant);
  }

  *#inside(candidates: ElementList, from: ElementList): SlicedWork<ElementList> {
    const { steps } = this;
    const holders = new Set(from);
    const others = new Set<SourceElement>();
    const found: SourceElement[] = [];
    for (const candidate of candidates) {
      const passed: SourceElement[] = [];
      let ancestor = parentElement(candidate);
      while (ancestor && !holders.has(ancestor) && !others.has(ancestor)) {
        steps.spend();
        passed.push(ancestor);
        ancestor = parentElement(ancestor);
      }
      const isInside = ancestor !== null && holders.has(ancestor);
      for (const element of passed) (isInside ? holders : others).add(element);
      if (isInside) found.push(candidate);
      if (steps.isSliceOver()) yield;
    }
    return found;
  }

  *#reached(from: ElementList, step: TreeStep): SlicedWork<ElementList> {
    const reached = new Set<SourceElement>();
    const visit = (element: SourceElement): boolean => {
      if (reached.has(element)) return false;
      reached.add(element);
      this.steps.spend();
      return true;
    };
    yield* step(from, visit, this.steps);
    return [...reached];
  }
}

/** One compound is looked for in document order, and what lies in its elements is walked in that order. */
function isFoundInOrder(selector: ComplexSelector): boolean {
  return selector.every(({ combinator }) => combinator === null || combinator === "descendant");
}
