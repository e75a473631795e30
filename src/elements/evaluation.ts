import type { DocumentKind } from "./attribute-selector.ts";
import { compoundTest, type ElementTest } from "./compound-matcher.ts";
import { candidatesFor, elementIndex } from "./element-index.ts";
import type { EvaluationClock } from "./evaluation-clock.ts";
import type { RootNode, SourceElement } from "./html-nodes.ts";
import type { ElementMemory, MatchContext } from "./match-context.ts";
import type { ComplexSelector, CompoundSelector, SelectorList } from "./selector-tree.ts";
import { SiblingPositions } from "./sibling-positions.ts";
import { stepsBackward, stepsForward, type TreeStep } from "./tree-steps.ts";

/**
 * One evaluation of a selector over a document. It goes from left to right: the elements that the first compound matches,
 * from these one step along the combinator, of what is there those that the next compound matches, and so on. Each step
 * visits an element once, so that the time is linear in document and selector; matching element by element, from right
 * to left, takes exponential time for `a a a a ... b` in a deep document.
 */
export class Evaluation implements MatchContext {
  readonly root: RootNode;
  readonly kind: DocumentKind;
  readonly isQuirks: boolean;
  readonly clock: EvaluationClock;
  readonly childPositions: SiblingPositions;
  readonly typePositions: SiblingPositions;
  readonly memory: ElementMemory = { languages: new Map(), directions: new Map() };

  constructor(root: RootNode, kind: DocumentKind, clock: EvaluationClock) {
    this.root = root;
    this.kind = kind;
    this.isQuirks = root.mode === "quirks";
    this.clock = clock;
    this.childPositions = new SiblingPositions(() => "", clock);
    this.typePositions = new SiblingPositions(({ namespace, name }) => `${namespace} ${name}`, clock);
  }

  /** The elements that a list selects, in no order. */
  select(list: SelectorList): Set<SourceElement> {
    const [first, ...others] = list.map((selector) => this.#selectComplex(selector));
    for (const found of others) for (const element of found) first?.add(element);
    return first ?? new Set();
  }

  matches(list: SelectorList): ElementTest {
    const tests = list.map((selector) => this.#complexTest(selector));
    return (element) => tests.some((test) => test(element));
  }

  contains(list: SelectorList): ElementTest {
    const anchors = list.map((selector) => lazily(() => this.#anchors(selector)));
    return (element) => anchors.some((found) => found().has(element));
  }

  #complexTest(selector: ComplexSelector): ElementTest {
    const [first, ...others] = selector;
    if (first && others.length === 0) return compoundTest(first.compound, this);
    const found = lazily(() => this.#selectComplex(selector));
    return (element) => found().has(element);
  }

  #selectComplex([first, ...others]: ComplexSelector): Set<SourceElement> {
    if (!first) return new Set();
    let found = this.#everywhere(first.compound);
    for (const { combinator, compound } of others) {
      if (found.size === 0) break;
      found = this.#reached(found, stepsForward[combinator ?? "descendant"], compoundTest(compound, this));
    }
    return found;
  }

  /** The elements from which a relative selector leads to something; found from its end to its beginning. */
  #anchors(selector: ComplexSelector): Set<SourceElement> {
    const steps = [...selector].reverse();
    let found: Set<SourceElement> | undefined;
    let step: TreeStep = stepsBackward.descendant;
    for (const { combinator, compound } of steps) {
      found = found ? this.#reached(found, step, compoundTest(compound, this)) : this.#everywhere(compound);
      step = stepsBackward[combinator ?? "descendant"];
    }
    return this.#reached(found ?? new Set(), step, () => true);
  }

  #everywhere(compound: CompoundSelector): Set<SourceElement> {
    const test = compoundTest(compound, this);
    const found = new Set<SourceElement>();
    for (const element of candidatesFor(compound, elementIndex(this.root, this.clock))) {
      this.clock.spend();
      if (test(element)) found.add(element);
    }
    return found;
  }

  #reached(from: ReadonlySet<SourceElement>, step: TreeStep, test: ElementTest): Set<SourceElement> {
    const visited = new Set<SourceElement>();
    const found = new Set<SourceElement>();
    const visit = (element: SourceElement): boolean => {
      if (visited.has(element)) return false;
      visited.add(element);
      this.clock.spend();
      if (test(element)) found.add(element);
      return true;
    };
    for (const element of from) step(element, visit, this.clock);
    return found;
  }
}

function lazily<Value extends object>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
