import { AttributeAction, type Selector, SelectorType, type TraversalType } from "css-what";
import { HttpError } from "../http-error.ts";
import {
  functionalPseudoClasses,
  isPseudoElement,
  legacyPseudoElements,
  type PseudoArgument,
  statePseudoClasses,
  treePseudoClasses,
} from "./selector-names.ts";
import { invalidSelector, SelectorScanner } from "./selector-scanner.ts";

/** Longest selector, in characters, and the most compound selectors in it: what no person writes only costs time. */
const maxLength = 4096;
const maxCompounds = 64;

const anPlusB =
  /[ \t\r\n\f]*(?:even|odd|[+-]?\d+|[+-]?\d*n(?:[ \t\r\n\f]*[+-][ \t\r\n\f]*\d+|-\d+)?)(?=[ \t\r\n\f)]|$)/iy;

const combinators: Readonly<Record<string, TraversalType>> = {
  ">": SelectorType.Child,
  "+": SelectorType.Adjacent,
  "~": SelectorType.Sibling,
};

const attributeActions: Readonly<Record<string, AttributeAction>> = {
  "=": AttributeAction.Equals,
  "~": AttributeAction.Element,
  "|": AttributeAction.Hyphen,
  "^": AttributeAction.Start,
  $: AttributeAction.End,
  "*": AttributeAction.Any,
};

/**
 * Parses a selector list as browsers do in `querySelectorAll` (Selectors 4, CSS Syntax 3) into css-what's tree, which
 * css-select compiles. css-what itself takes what browsers refuse, refuses what they take, and tells no offsets.
 *
 * Throws 400 `INVALID_SELECTOR`; `details` names the part that is wrong and its offset.
 */
export function parseSelector(text: string): Selector[][] {
  if (text.length > maxLength)
    throw invalidSelector(`it is longer than ${maxLength} characters`, text.slice(0, 20), maxLength);
  return new SelectorParser(text).parse();
}

/** Where a selector stands: what is allowed depends on the function around it. */
interface Place {
  readonly inHas?: boolean;
  /** Whether `::before` may end it: only at the top level. */
  readonly pseudoElements?: boolean;
}

class SelectorParser {
  readonly #scanner: SelectorScanner;
  #compounds = 0;

  constructor(text: string) {
    this.#scanner = new SelectorScanner(text);
  }

  parse(): Selector[][] {
    const selectors = this.#list({ pseudoElements: true }, "complex");
    if (this.#scanner.position < this.#scanner.text.length) throw this.#scanner.unexpected();
    return selectors;
  }

  #list(place: Place, kind: "complex" | "relative"): Selector[][] {
    const selectors: Selector[][] = [];
    do {
      selectors.push(this.#complex(place, kind));
    } while (this.#scanner.take(","));
    return selectors;
  }

  /** In `:is()` and `:where()` what does not parse is dropped, the rest stays (Selectors 4, §19.1). */
  #forgivingList(place: Place): Selector[][] {
    const selectors: Selector[][] = [];
    do {
      const start = this.#scanner.position;
      try {
        const selector = this.#complex(place, "complex");
        if (this.#scanner.atListItemEnd()) selectors.push(selector);
        else this.#scanner.skipListItem(start);
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
        this.#scanner.skipListItem(start);
      }
    } while (this.#scanner.take(","));
    return selectors;
  }

  #complex(place: Place, kind: "complex" | "relative"): Selector[] {
    const selectors: Selector[] = [];
    this.#scanner.skipBlank();
    if (kind === "relative") {
      const first = this.#combinator();
      if (first) selectors.push({ type: first });
      this.#scanner.skipBlank();
    }
    for (;;) {
      const compound = this.#compound(place);
      selectors.push(...compound);
      const hadBlank = this.#scanner.skipBlank();
      if (this.#scanner.atListItemEnd()) return selectors;
      if (compound.some(({ type }) => type === SelectorType.PseudoElement)) throw this.#scanner.unexpected();
      const combinator = this.#combinator() ?? (hadBlank ? SelectorType.Descendant : undefined);
      if (!combinator) throw this.#scanner.unexpected();
      selectors.push({ type: combinator });
      this.#scanner.skipBlank();
    }
  }

  #combinator(): TraversalType | undefined {
    const combinator = combinators[this.#scanner.peek()];
    if (combinator) this.#scanner.position += 1;
    return combinator;
  }

  #compound(place: Place): Selector[] {
    const start = this.#scanner.position;
    this.#compounds += 1;
    if (this.#compounds > maxCompounds) {
      throw invalidSelector(`it has more than ${maxCompounds} compound selectors`, this.#scanner.partAt(start), start);
    }
    const selectors: Selector[] = [];
    const type = this.#typeSelector();
    if (type) selectors.push(type);
    for (;;) {
      const afterPseudoElement = selectors.at(-1)?.type === SelectorType.PseudoElement;
      if (afterPseudoElement && /[.#[]/.test(this.#scanner.peek())) throw this.#scanner.unexpected();
      const simple = this.#simple(place);
      if (!simple) break;
      // `::before:hover` stays what it is: a pseudo-element.
      if (!afterPseudoElement) selectors.push(simple);
    }
    if (selectors.length === 0) throw this.#scanner.unexpected("a selector is missing");
    return selectors;
  }

  #typeSelector(): Selector | undefined {
    const start = this.#scanner.position;
    const name = this.#nameOrStar();
    if (
      this.#scanner.peek() !== "|" ||
      this.#scanner.text[this.#scanner.position + 1] === "|" ||
      this.#scanner.text[this.#scanner.position + 1] === "="
    ) {
      if (name === undefined) return undefined;
      return typeSelector(name, null);
    }
    this.#scanner.position += 1;
    const local = this.#nameOrStar();
    if (local === undefined) throw this.#scanner.unexpected("a tag name is missing");
    if (name !== undefined && name !== "*") {
      throw invalidSelector(
        "the namespace prefix is not declared",
        this.#scanner.text.slice(start, this.#scanner.position),
        start,
      );
    }
    return typeSelector(local, name === undefined ? "" : null);
  }

  #nameOrStar(): string | undefined {
    return this.#scanner.take("*") ? "*" : this.#scanner.identifier();
  }

  #simple(place: Place): Selector | undefined {
    const start = this.#scanner.position;
    switch (this.#scanner.peek()) {
      case "#":
        return attributeSelector("id", AttributeAction.Equals, this.#nameAfter(1, "an id"), "quirks");
      case ".":
        return attributeSelector("class", AttributeAction.Element, this.#nameAfter(1, "a class name"), "quirks");
      case "[":
        this.#scanner.position += 1;
        return this.#attribute(start);
      case ":":
        return this.#scanner.text[start + 1] === ":"
          ? this.#pseudoElement(place, start)
          : this.#pseudoClass(place, start);
      default:
        return undefined;
    }
  }

  #attribute(start: number): Selector {
    this.#scanner.skipBlank();
    const name = this.#attributeName(start);
    this.#scanner.skipBlank();
    const operator = this.#scanner.peek();
    const action = attributeActions[operator];
    if (!action) {
      this.#scanner.close("]", start);
      return attributeSelector(name, AttributeAction.Exists, "", null);
    }
    this.#scanner.position += 1;
    if (operator !== "=" && !this.#scanner.take("=")) throw this.#scanner.unexpected();
    this.#scanner.skipBlank();
    const value = this.#scanner.string() ?? this.#scanner.identifier();
    if (value === undefined) throw this.#scanner.unexpected("a value is missing; put it in quotes unless it is a name");
    this.#scanner.skipBlank();
    const flagStart = this.#scanner.position;
    const flag = this.#scanner.identifier()?.toLowerCase();
    if (flag !== undefined && flag !== "i" && flag !== "s") {
      throw invalidSelector("the flag is unknown", this.#scanner.partAt(flagStart), flagStart);
    }
    this.#scanner.skipBlank();
    this.#scanner.close("]", start);
    return attributeSelector(name, action, value, flag === undefined ? null : flag === "i");
  }

  #attributeName(start: number): string {
    const prefix = this.#nameOrStar();
    const isPrefix = this.#scanner.peek() === "|" && this.#scanner.text[this.#scanner.position + 1] !== "=";
    if (!isPrefix) {
      if (prefix === undefined || prefix === "*") throw this.#scanner.unexpected("an attribute name is missing");
      return prefix;
    }
    this.#scanner.position += 1;
    const name = this.#scanner.identifier();
    if (name === undefined) throw this.#scanner.unexpected("an attribute name is missing");
    if (prefix !== undefined && prefix !== "*") {
      throw invalidSelector("the namespace prefix is not declared", this.#scanner.partAt(start), start);
    }
    return name;
  }

  #pseudoElement(place: Place, start: number): Selector {
    const name = this.#nameAfter(2, "a pseudo-element").toLowerCase();
    if (!isPseudoElement(name))
      throw invalidSelector("the pseudo-element is unknown", this.#scanner.partAt(start), start);
    if (this.#scanner.take("(")) {
      this.#scanner.skipBalanced(")");
      this.#scanner.close(")", start);
    }
    return this.#asPseudoElement(name, place, start);
  }

  #asPseudoElement(name: string, place: Place, start: number): Selector {
    if (!place.pseudoElements)
      throw invalidSelector("a pseudo-element cannot stand here", this.#scanner.partAt(start), start);
    return { type: SelectorType.PseudoElement, name, data: null };
  }

  #pseudoClass(place: Place, start: number): Selector {
    const name = this.#nameAfter(1, "a pseudo-class").toLowerCase();
    if (this.#scanner.take("(")) {
      const argument = functionalPseudoClasses.get(name);
      if (!argument)
        throw invalidSelector("the pseudo-class is unknown, or takes no argument", this.#scanner.partAt(start), start);
      const data = this.#argument(argument, name, place, start);
      this.#scanner.skipBlank();
      this.#scanner.close(")", start);
      return { type: SelectorType.Pseudo, name, data };
    }
    if (legacyPseudoElements.has(name)) return this.#asPseudoElement(name, place, start);
    if (treePseudoClasses.has(name) || (statePseudoClasses.has(name) && !isFunctionOnly(name))) {
      return { type: SelectorType.Pseudo, name, data: null };
    }
    const reason = functionalPseudoClasses.has(name) ? "its argument is missing" : "the pseudo-class is unknown";
    throw invalidSelector(reason, this.#scanner.partAt(start), start);
  }

  #argument(argument: PseudoArgument, name: string, place: Place, start: number): Selector[][] | string | null {
    switch (argument) {
      case "forgiving-list":
        return this.#forgivingList({ ...place, pseudoElements: false });
      case "list":
        return this.#list({ ...place, pseudoElements: false }, "complex");
      case "relative-list":
        if (place.inHas) throw invalidSelector(":has() cannot stand in :has()", this.#scanner.partAt(start), start);
        return this.#list({ inHas: true, pseudoElements: false }, "relative");
      case "compound":
        this.#scanner.skipBlank();
        this.#compound({ ...place, pseudoElements: false });
        return null;
      case "nth":
      case "nth-of":
        return this.#nth(argument, place);
      case "languages":
        return this.#names((scanner) => scanner.string() ?? scanner.identifier(), "a language");
      case "direction":
      case "name":
        return this.#names((scanner) => scanner.identifier(), `the argument of :${name}()`);
    }
  }

  #nth(argument: "nth" | "nth-of", place: Place): string {
    const start = this.#scanner.position;
    anPlusB.lastIndex = start;
    if (!anPlusB.test(this.#scanner.text)) throw this.#scanner.unexpected("a number, even, odd or An+B is expected");
    this.#scanner.position = anPlusB.lastIndex;
    this.#scanner.skipBlank();
    const of = this.#scanner.position;
    if (argument === "nth-of" && this.#scanner.identifier()?.toLowerCase() === "of") {
      this.#list({ ...place, pseudoElements: false }, "complex");
    } else {
      this.#scanner.position = of;
    }
    return this.#scanner.text.slice(start, this.#scanner.position).trim();
  }

  #names(read: (scanner: SelectorScanner) => string | undefined, what: string): string {
    const names: string[] = [];
    do {
      this.#scanner.skipBlank();
      const name = read(this.#scanner);
      if (name === undefined) throw this.#scanner.unexpected(`${what} is missing`);
      names.push(name);
      this.#scanner.skipBlank();
    } while (this.#scanner.take(","));
    return names.join(",");
  }

  #nameAfter(length: number, what: string): string {
    const start = this.#scanner.position;
    this.#scanner.position += length;
    const name = this.#scanner.identifier();
    if (name === undefined)
      throw invalidSelector(`${what} is missing, or does not begin like a name`, this.#scanner.partAt(start), start);
    return name;
  }
}

function typeSelector(name: string, namespace: "" | null): Selector {
  if (namespace === "")
    return { type: SelectorType.Pseudo, name: "not", data: [[{ type: SelectorType.Universal, namespace: null }]] };
  return name === "*"
    ? { type: SelectorType.Universal, namespace: null }
    : { type: SelectorType.Tag, name, namespace: null };
}

function attributeSelector(
  name: string,
  action: AttributeAction,
  value: string,
  ignoreCase: "quirks" | boolean | null,
): Selector {
  return { type: SelectorType.Attribute, name, action, value, namespace: null, ignoreCase };
}

function isFunctionOnly(name: string): boolean {
  return name === "state" || name === "host-context";
}
