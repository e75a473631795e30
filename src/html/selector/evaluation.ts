import type { RootNode, SourceElement } from "../document/html-nodes.ts";
import type { DocumentKind } from "./attribute-selector.ts";
import { compoundTest, type ElementTest } from "./compound-matcher.ts";
import { candidatesFor, elementIndex } from "./element-index.ts";
import type { EvaluationClock } from "./evaluation-clock.ts";
import type { ElementMemory, MatchContext } from "./match-context.ts";
import type { ComplexSelector, CompoundSelector, SelectorList } from "./selector-tree.ts";
import { SiblingPositions } from "./sibling-positions.ts";
import { stepsBackward, stepsForward, type TreeStep } from "./tree-steps.ts";

/** A tree that selectors can be evaluated over. */
export interface SelectableDocument {
  readonly root: RootNode;
  readonly source: string;
  /** Whether it is XML, where names have case and HTML's own rules do not hold. */
  readonly isXml: boolean;
}

/**
 * One evaluation of a selector over a document. It goes from left to right: the elements that the first compound matches,
 * from these one step along the combinator, of what is there those that the next compound matches, and so on. Each step
 * visits an element once, so that the time is linear in document and selector; matching element by element, from right
 * to left, takes exponential time for `a a a a ... b` in a deep document.
 */
export class Evaluation implements MatchContext {
  readonly root: RootNode;
  readonly source: string;
  readonly kind: DocumentKind;
  readonly isQuirks: boolean;
  readonly clock: EvaluationClock;
  readonly childPositions: SiblingPositions;
  readonly typePositions: SiblingPositions;
  readonly memory: ElementMemory = { languages: new Map(), directions: new Map() };

  constructor({ root, source, isXml }: SelectableDocument, clock: EvaluationClock) {
    this.root = root;
    this.source = source;
    this.kind = isXml ? "xml" : "html";
    this.isQuirks = root["x-mode"] === "quirks";
    this.clock = clock;
    this.childPositions = new SiblingPositions(() => "", clock);
    this.typePositions = new SiblingPositions(({ namespace, name }) => `${namespace} ${name}`, clock);
  }

  /** The elements that a list selects, in document order. */
  select(list: SelectorList): readonly SourceElement[] {
    const [only, ...others] = list;
    // One compound: found in this order.
    if (only?.length === 1 && others.length === 0) return this.#selectComplex(only);
    const found = new Set<SourceElement>();
    for (const selector of list) for (const element of this.#selectComplex(selector)) found.add(element);
    return found.size < 2 ? [...found] : this.#everywhere((element) => found.has(element));
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
    const found = lazily(() => new Set(this.#selectComplex(selector)));
    return (element) => found().has(element);
  }

  #selectComplex([first, ...others]: ComplexSelector): readonly SourceElement[] {
    if (!first) return [];
    let found = this.#everywhere(compoundTest(first.compound, this), first.compound);
    for (const { combinator, compound } of others) {
      if (found.length === 0) break;
      found = this.#reached(found, stepsForward[combinator ?? "descendant"], compoundTest(compound, this));
    }
    return found;
  }

  /** The elements from which a relative selector leads to something; found from its end to its beginning. */
  #anchors(selector: ComplexSelector): ReadonlySet<SourceElement> {
    let found: readonly SourceElement[] | undefined;
    let step: TreeStep = stepsBackward.descendant;
    for (const { combinator, compound } of [...selector].reverse()) {
      const test = compoundTest(compound, this);
      found = found ? this.#reached(found, step, test) : this.#everywhere(test, compound);
      step = stepsBackward[combinator ?? "descendant"];
    }
    return new Set(this.#reached(found ?? [], step, () => true));
  }

  /** The elements of the document that pass a test; all that do are among the candidates for a compound. */
  #everywhere(test: ElementTest, compound: CompoundSelector = []): readonly SourceElement[] {
    const found: SourceElement[] = [];
    for (const element of candidatesFor(compound, elementIndex(this.root, this.clock))) {
      this.clock.spend();
      if (test(element)) found.push(element);
    }
    return found;
  }

  #reached(from: readonly SourceElement[], step: TreeStep, test: ElementTest): readonly SourceElement[] {
    const visited = new Set<SourceElement>();
    const found: SourceElement[] = [];
    const visit = (element: SourceElement): boolean => {
      if (visited.has(element)) return false;
      visited.add(element);
      this.clock.spend();
      if (test(element)) found.push(element);
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
