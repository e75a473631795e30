import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { isHtmlElement, SourceElement, type TreeParent } from "../document/html-nodes.ts";
import { asciiLowerCase } from "../tokenizer/text.ts";
import { attributeTest, attributeValue, hasWord, stepsToRead } from "./attribute-selector.ts";
import { inDirection } from "./directionality.ts";
import { formState } from "./form-state.ts";
import { inLanguages } from "./language.ts";
import { type ElementList, type MatchContext, where } from "./match-context.ts";
import { formPseudoClasses, pseudoClasses } from "./pseudo-classes.ts";
import type { AnPlusB, CompoundSelector, NthSelector, SimpleSelector } from "./selector-tree.ts";

type SimpleOf<Kind extends SimpleSelector["kind"]> = SimpleSelector & { readonly kind: Kind };

/** Those of some elements that match a simple selector, in the same order. */
type Filter<Simple> = (elements: ElementList, simple: Simple, context: MatchContext) => SlicedWork<ElementList>;

const filters: { readonly [Kind in SimpleSelector["kind"]]: Filter<SimpleOf<Kind>> } = {
  type: byTest(({ name, namespace }, { kind }) => {
    // Only in XML can an element have no namespace.
    if (namespace === "none") return (element) => element.namespace === "" && element.name === name;
    if (kind === "xml") return (element) => element.name === name;
    // In HTML documents browsers take `lineargradient` and `LINEARGRADIENT` for `linearGradient` as well.
    const lowerName = asciiLowerCase(name);
    return (element) => (isHtmlElement(element) ? element.name : asciiLowerCase(element.name)) === lowerName;
  }),
  universal: byTest(({ namespace }) => (namespace === "any" ? () => true : (element) => element.namespace === "")),
  id: byTest(({ value }, context) => {
    if (!context.isQuirks) return (element) => attributeValue(element, "id", context) === value;
    const lowerId = asciiLowerCase(value);
    return ({ attribs: { id } }) => id?.length === lowerId.length && asciiLowerCase(id) === lowerId;
  }),
  class: byTest(({ value }, { isQuirks, steps }) => {
    const wanted = isQuirks ? asciiLowerCase(value) : value;
    return ({ attribs }) => {
      const classes = attribs["class"];
      if (classes === undefined) return false;
      steps.spend(stepsToRead(classes));
      return hasWord(isQuirks ? asciiLowerCase(classes) : classes, wanted);
    };
  }),
  attribute: byTest(attributeTest),
  *"pseudo-class"(elements, { name }, context) {
    const { steps } = context;
    if (name in pseudoClasses) {
      const test = pseudoClasses[name as keyof typeof pseudoClasses];
      return yield* where(elements, (element) => test(element, context), steps);
    }
    const test = formPseudoClasses[name as keyof typeof formPseudoClasses];
    const forms = yield* formState(context);
    return yield* where(elements, (element) => test(element, forms), steps);
  },
  nothing: byTest(() => () => false),
  is: (elements, { list }, context) => context.among(elements, list),
  *not(elements, { list }, context) {
    return without(elements, yield* context.among(elements, list));
  },
  *has(elements, { list }, context) {
    const found = yield* context.leadingTo(list);
    return yield* where(elements, (element) => found.has(element), context.steps);
  },
  nth: atPositions,
  lang: (elements, { ranges }, context) => inLanguages(elements, ranges, context),
  dir: (elements, { direction }, context) => inDirection(elements, direction, context),
};

/** What costs more to judge than a look at the element itself. */
const costly: ReadonlySet<SimpleSelector["kind"]> = new Set(["pseudo-class", "is", "not", "has", "nth", "lang", "dir"]);

/** Those of some elements that match a compound selector. What costs little is asked first. */
export function* passing(
  elements: ElementList,
  compound: CompoundSelector,
  context: MatchContext,
): SlicedWork<ElementList> {
  let found = elements;
  for (const simple of compound.toSorted((a, b) => Number(costly.has(a.kind)) - Number(costly.has(b.kind)))) {
    if (found.length > 0) found = yield* (filters[simple.kind] as Filter<SimpleSelector>)(found, simple, context);
  }
  return found;
}

/** A list without some of its elements, which have the same order. */
export function without(elements: ElementList, others: ElementList): ElementList {
  let next = 0;
  return elements.filter((element) => {
    if (element !== others[next]) return true;
    next += 1;
    return false;
  });
}

function byTest<Simple>(
  testOf: (simple: Simple, context: MatchContext) => (element: SourceElement) => boolean,
): Filter<Simple> {
  return (elements, simple, context) => where(elements, testOf(simple, context), context.steps);
}

/** Counts all siblings of the elements once, so that `:nth-child()` takes linear time over 20,000 of them. */
function* atPositions(elements: ElementList, nth: NthSelector, context: MatchContext): SlicedWork<ElementList> {
  const { name, list } = nth;
  const siblings = yield* siblingsOf(elements, context);
  const counted = list ? yield* context.among(siblings, list) : siblings;
  const isOfType = name === "nth-of-type" || name === "nth-last-of-type";
  const isFromEnd = name === "nth-last-child" || name === "nth-last-of-type";
  const positions = new Map<SourceElement, number>();
  let parent: TreeParent | null = null;
  let counts = new Map<string, number>();
  for (const sibling of isFromEnd ? counted.toReversed() : counted) {
    context.steps.keep();
    if (context.steps.isSliceOver()) yield;
    if (sibling.parent !== parent) counts = new Map();
    parent = sibling.parent;
    const key = isOfType ? `${sibling.namespace} ${sibling.name}` : "";
    const position = (counts.get(key) ?? 0) + 1;
    counts.set(key, position);
    positions.set(sibling, position);
  }
  return yield* where(elements, (element) => isNth(positions.get(element) ?? 0, nth), context.steps);
}

/** Elements and all of their siblings, the children of one parent together. */
function* siblingsOf(elements: ElementList, { steps }: MatchContext): SlicedWork<ElementList> {
  const siblings: SourceElement[] = [];
  for (const parent of new Set(elements.map((element) => element.parent))) {
    for (const child of parent?.children ?? []) {
      steps.spend();
      if (steps.isSliceOver()) yield;
      if (child instanceof SourceElement) siblings.push(child);
    }
  }
  return siblings;
}

/** Whether a position is one of `step * n + offset`, n from 0. */
function isNth(position: number, { step, offset }: AnPlusB): boolean {
  if (position === 0) return false;
  const distance = position - offset;
  return step === 0 ? distance === 0 : distance % step === 0 && distance / step >= 0;
}
