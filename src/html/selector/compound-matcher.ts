import { isHtmlElement, type SourceElement } from "../document/html-nodes.ts";
import { asciiLowerCase } from "../tokenizer/text.ts";
import { attributeTest, attributeValue, hasWord, stepsToRead } from "./attribute-selector.ts";
import { directionOf } from "./directionality.ts";
import { languageOf, matchesLanguage } from "./language.ts";
import type { MatchContext } from "./match-context.ts";
import { pseudoClasses } from "./pseudo-classes.ts";
import type { NthPseudoClass } from "./selector-names.ts";
import type { CompoundSelector, NthSelector, SimpleSelector } from "./selector-tree.ts";
import { isNth, SiblingPositions } from "./sibling-positions.ts";

/** Whether an element matches a part of a selector. */
export type ElementTest = (element: SourceElement) => boolean;

/** Where the nth pseudo-classes begin to count. */
const countFrom: Readonly<Record<NthPseudoClass, "fromStart" | "fromEnd">> = {
  "nth-child": "fromStart",
  "nth-last-child": "fromEnd",
  "nth-of-type": "fromStart",
  "nth-last-of-type": "fromEnd",
};

/** How each kind of simple selector is judged. */
type SimpleTests = {
  readonly [Kind in SimpleSelector["kind"]]: (
    simple: Extract<SimpleSelector, { kind: Kind }>,
    context: MatchContext,
  ) => ElementTest;
};

const simpleTests: SimpleTests = {
  type({ name, namespace }, { kind }) {
    // Only in XML can an element have no namespace.
    if (namespace === "none") return (element) => element.namespace === "" && element.name === name;
    if (kind === "xml") return (element) => element.name === name;
    // In HTML documents browsers take `lineargradient` and `LINEARGRADIENT` for `linearGradient` as well.
    const lowerName = asciiLowerCase(name);
    return (element) => (isHtmlElement(element) ? element.name : asciiLowerCase(element.name)) === lowerName;
  },
  universal({ namespace }) {
    return namespace === "any" ? () => true : (element) => element.namespace === "";
  },
  id: ({ value }, context) => {
    if (!context.isQuirks) return (element) => attributeValue(element, "id", context) === value;
    const lowerId = asciiLowerCase(value);
    return ({ attribs: { id } }) => id?.length === lowerId.length && asciiLowerCase(id) === lowerId;
  },
  class: ({ value }, { isQuirks, steps }) => {
    const wanted = isQuirks ? asciiLowerCase(value) : value;
    return ({ attribs }) => {
      const classes = attribs["class"];
      if (classes === undefined) return false;
      steps.spend(stepsToRead(classes));
      return hasWord(isQuirks ? asciiLowerCase(classes) : classes, wanted);
    };
  },
  attribute: attributeTest,
  "pseudo-class": ({ name }, context) => {
    const test = pseudoClasses[name];
    return (element) => test(element, context);
  },
  nothing: () => () => false,
  is: ({ list }, context) => context.matches(list),
  not: ({ list }, context) => {
    const isMatch = context.matches(list);
    return (element) => !isMatch(element);
  },
  has: ({ list }, context) => context.contains(list),
  nth: nthTest,
  lang:
    ({ ranges }, context) =>
    (element) => {
      const language = languageOf(element, context);
      context.steps.spend(stepsToRead(language) * (1 + ranges.length));
      return matchesLanguage(language, ranges);
    },
  dir:
    ({ direction }, context) =>
    (element) =>
      directionOf(element, context) === direction,
};

/** What costs more to judge than a look at the element itself. */
const costly: ReadonlySet<SimpleSelector["kind"]> = new Set(["pseudo-class", "is", "not", "has", "nth", "lang", "dir"]);

/** The test of a compound selector, which asks first what costs little. */
export function compoundTest(compound: CompoundSelector, context: MatchContext): ElementTest {
  const ordered = compound.toSorted((a, b) => Number(costly.has(a.kind)) - Number(costly.has(b.kind)));
  const tests = ordered.map((simple) => simpleTest(simple, context));
  const [only] = tests;
  return only && tests.length === 1 ? only : (element) => tests.every((test) => test(element));
}

function simpleTest<Kind extends SimpleSelector["kind"]>(
  simple: Extract<SimpleSelector, { kind: Kind }>,
  context: MatchContext,
): ElementTest {
  return (simpleTests[simple.kind as Kind] as SimpleTests[Kind])(simple, context);
}

function nthTest({ name, step, offset, list }: NthSelector, context: MatchContext): ElementTest {
  const isMatch = list && context.matches(list);
  const ofType = name === "nth-of-type" || name === "nth-last-of-type" ? context.typePositions : context.childPositions;
  const positions = isMatch ? new SiblingPositions((element) => (isMatch(element) ? "" : null), context.steps) : ofType;
  const count = countFrom[name];
  return (element) => isNth(positions[count](element), { step, offset });
}
