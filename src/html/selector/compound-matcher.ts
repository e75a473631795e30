import { compile, type Options } from "css-select";
import { AttributeAction, type Selector, SelectorType } from "css-what";
import { isHtmlElement, SourceElement, type TreeNode } from "../document/html-nodes.ts";
import { asciiLowerCase } from "../tokenizer/text.ts";
import {
  attributeKey,
  attributeTest,
  attributeValue,
  hasWord,
  isPlainAttribute,
  stepsToRead,
} from "./attribute-selector.ts";
import { directionOf } from "./directionality.ts";
import { languageOf, matchesLanguage } from "./language.ts";
import type { MatchContext } from "./match-context.ts";
import { pseudoClasses } from "./pseudo-classes.ts";
import type { NthPseudoClass } from "./selector-names.ts";
import type { AttributeOperator, CompoundSelector, NthSelector, SimpleSelector } from "./selector-tree.ts";
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

const attributeActions: Readonly<Record<AttributeOperator, AttributeAction>> = {
  exists: AttributeAction.Exists,
  "=": AttributeAction.Equals,
  "~=": AttributeAction.Element,
  "|=": AttributeAction.Hyphen,
  "^=": AttributeAction.Start,
  "$=": AttributeAction.End,
  "*=": AttributeAction.Any,
};

/** How each kind of simple selector that css-select does not judge as a browser does is judged. */
type GapTests = {
  readonly [Kind in SimpleSelector["kind"]]: (
    simple: Extract<SimpleSelector, { kind: Kind }>,
    context: MatchContext,
  ) => ElementTest;
};

const gapTests: GapTests = {
  // Those with a namespace: only in XML can an element have none.
  type: (selector) => (element) => element.namespace === "" && element.name === selector.name,
  universal: () => (element) => element.namespace === "",
  id: ({ value }) => {
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

/**
 * The test of a compound selector. css-select puts its parts into the order of their cost, and judges what it judges as
 * browsers do: names and attributes as written. The rest reaches it as pseudo-classes of our own.
 */
export function compoundTest(compound: CompoundSelector, context: MatchContext): ElementTest {
  const pseudos: Record<string, ElementTest> = {};
  const parts = compound.map((simple, index): Selector => {
    const plain = plainSelector(simple, context);
    if (plain) return plain;
    const name = `part-${index}`;
    pseudos[name] = gapTest(simple, context);
    return { type: SelectorType.Pseudo, name, data: null };
  });
  // `xmlMode`: names are compared as they are written. css-select writes into its options.
  const options: Options<TreeNode, SourceElement> = {
    adapter: adapterFor(context),
    xmlMode: true,
    cacheResults: false,
    pseudos,
  };
  return compile<TreeNode, SourceElement>([parts], options);
}

/** The form in which css-select takes what it judges as browsers do. */
function plainSelector(simple: SimpleSelector, { kind, isQuirks }: MatchContext): Selector | undefined {
  switch (simple.kind) {
    case "type": {
      const name = kind === "xml" ? simple.name : asciiLowerCase(simple.name);
      return simple.namespace === "any" ? { type: SelectorType.Tag, name, namespace: null } : undefined;
    }
    case "universal":
      return simple.namespace === "any" ? { type: SelectorType.Universal, namespace: null } : undefined;
    case "id":
      return isQuirks ? undefined : plainAttribute("id", "=", simple.value);
    case "attribute":
      return isPlainAttribute(simple, kind)
        ? plainAttribute(attributeKey(simple.name, kind), simple.operator, simple.value)
        : undefined;
    default:
      return undefined;
  }
}

function plainAttribute(name: string, operator: AttributeOperator, value: string): Selector {
  const action = attributeActions[operator];
  return { type: SelectorType.Attribute, name, action, value, namespace: null, ignoreCase: false };
}

function gapTest<Kind extends SimpleSelector["kind"]>(
  simple: Extract<SimpleSelector, { kind: Kind }>,
  context: MatchContext,
): ElementTest {
  return (gapTests[simple.kind as Kind] as GapTests[Kind])(simple, context);
}

function nthTest({ name, step, offset, list }: NthSelector, context: MatchContext): ElementTest {
  const isMatch = list && context.matches(list);
  const ofType = name === "nth-of-type" || name === "nth-last-of-type" ? context.typePositions : context.childPositions;
  const positions = isMatch ? new SiblingPositions((element) => (isMatch(element) ? "" : null), context.steps) : ofType;
  const count = countFrom[name];
  return (element) => isNth(positions[count](element), { step, offset });
}

/** How css-select looks at the tree; of all that it can ask, a compound selector only asks the first four. */
function adapterFor(context: MatchContext): NonNullable<Options<TreeNode, SourceElement>["adapter"]> {
  // In HTML documents browsers take `lineargradient` and `LINEARGRADIENT` for `linearGradient` as well.
  const lowersNames = context.kind === "html";
  return {
    isTag: (node) => node instanceof SourceElement,
    getName: (element) => (lowersNames && !isHtmlElement(element) ? asciiLowerCase(element.name) : element.name),
    getAttributeValue: (element, name) => attributeValue(element, name, context),
    hasAttrib: (element, name) => attributeValue(element, name, context) !== undefined,
    getChildren: (node) => ("children" in node ? node.children : []),
    getParent: ({ parent }) => parent,
    getSiblings: (node) => node.parent?.children ?? [node],
    getText: (node) => ("data" in node ? node.data : ""),
    removeSubsets: (nodes) => nodes,
  };
}
