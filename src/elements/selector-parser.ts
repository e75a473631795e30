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

/** Longest selector, in characters, and the most compound selectors in it: what no person writes only costs time. */
const maxLength = 4096;
const maxCompounds = 64;

const blank = /(?:[ \t\r\n\f]|\/\*[^]*?\*\/)*/y;
// CSS Syntax 3, §4.3.11: an identifier; an escape is a hexadecimal number and one blank, or any other character.
const escape = String.raw`\\(?:[\da-f]{1,6}(?:\r\n|[ \t\r\n\f])?|[^\r\n\f\da-f])`;
const identifier = new RegExp(
  String.raw`(?:--|-?(?:[a-z_\x80-\uffff]|${escape}))(?:[\w\x80-\uffff-]|${escape})*`,
  "iy",
);
const quoted = /"(?:[^"\\\r\n\f]|\\[^])*(?:"|$)|'(?:[^'\\\r\n\f]|\\[^])*(?:'|$)/y;
const anPlusB =
  /[ \t\r\n\f]*(?:even|odd|[+-]?\d+|[+-]?\d*n(?:[ \t\r\n\f]*[+-][ \t\r\n\f]*\d+|-\d+)?)(?=[ \t\r\n\f)]|$)/iy;
const escapes = /\\(?:([\da-f]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|[^]))/gi;

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
  if (text.length > maxLength) throw invalid(`it is longer than ${maxLength} characters`, text.slice(0, 20), maxLength);
  return new SelectorParser(text).parse();
}

/** Where a selector stands: what is allowed depends on the function around it. */
interface Place {
  readonly inHas?: boolean;
  /** Whether `::before` may end it: only at the top level. */
  readonly pseudoElements?: boolean;
}

class SelectorParser {
  readonly #text: string;
  #position = 0;
  #compounds = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Selector[][] {
    const selectors = this.#list({ pseudoElements: true }, "complex");
    if (this.#position < this.#text.length) throw this.#unexpected();
    return selectors;
  }

  #list(place: Place, kind: "complex" | "relative"): Selector[][] {
    const selectors: Selector[][] = [];
    do {
      selectors.push(this.#complex(place, kind));
    } while (this.#take(","));
    return selectors;
  }

  /** In `:is()` and `:where()` what does not parse is dropped, the rest stays (Selectors 4, §19.1). */
  #forgivingList(place: Place): Selector[][] {
    const selectors: Selector[][] = [];
    do {
      const start = this.#position;
      try {
        const selector = this.#complex(place, "complex");
        if (this.#atListItemEnd()) selectors.push(selector);
        else this.#skipListItem(start);
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
        this.#skipListItem(start);
      }
    } while (this.#take(","));
    return selectors;
  }

  #complex(place: Place, kind: "complex" | "relative"): Selector[] {
    const selectors: Selector[] = [];
    this.#skipBlank();
    if (kind === "relative") {
      const first = this.#combinator();
      if (first) selectors.push({ type: first });
      this.#skipBlank();
    }
    for (;;) {
      const compound = this.#compound(place);
      selectors.push(...compound);
      const hadBlank = this.#skipBlank();
      if (this.#atListItemEnd()) return selectors;
      if (compound.some(({ type }) => type === SelectorType.PseudoElement)) throw this.#unexpected();
      const combinator = this.#combinator() ?? (hadBlank ? SelectorType.Descendant : undefined);
      if (!combinator) throw this.#unexpected();
      selectors.push({ type: combinator });
      this.#skipBlank();
    }
  }

  #combinator(): TraversalType | undefined {
    const combinator = combinators[this.#peek()];
    if (combinator) this.#position += 1;
    return combinator;
  }

  #compound(place: Place): Selector[] {
    const start = this.#position;
    this.#compounds += 1;
    if (this.#compounds > maxCompounds) {
      throw invalid(`it has more than ${maxCompounds} compound selectors`, this.#partAt(start), start);
    }
    const selectors: Selector[] = [];
    const type = this.#typeSelector();
    if (type) selectors.push(type);
    for (let simple = this.#simple(place); simple; simple = this.#simple(place)) {
      const afterPseudoElement = selectors.at(-1)?.type === SelectorType.PseudoElement;
      if (afterPseudoElement && simple.type !== SelectorType.Pseudo) throw this.#unexpected();
      // `::before:hover` stays what it is: a pseudo-element.
      if (!afterPseudoElement) selectors.push(simple);
    }
    if (selectors.length === 0) throw this.#unexpected("a selector is missing");
    return selectors;
  }

  #typeSelector(): Selector | undefined {
    const start = this.#position;
    const name = this.#nameOrStar();
    if (this.#peek() !== "|" || this.#text[this.#position + 1] === "|" || this.#text[this.#position + 1] === "=") {
      if (name === undefined) return undefined;
      return typeSelector(name, null);
    }
    this.#position += 1;
    const local = this.#nameOrStar();
    if (local === undefined) throw this.#unexpected("a tag name is missing");
    if (name !== undefined && name !== "*") {
      throw invalid("the namespace prefix is not declared", this.#text.slice(start, this.#position), start);
    }
    return typeSelector(local, name === undefined ? "" : null);
  }

  #nameOrStar(): string | undefined {
    return this.#take("*") ? "*" : this.#identifier();
  }

  #simple(place: Place): Selector | undefined {
    const start = this.#position;
    switch (this.#peek()) {
      case "#":
        return attributeSelector("id", AttributeAction.Equals, this.#nameAfter(1, "an id"), "quirks");
      case ".":
        return attributeSelector("class", AttributeAction.Element, this.#nameAfter(1, "a class name"), "quirks");
      case "[":
        this.#position += 1;
        return this.#attribute(start);
      case ":":
        return this.#text[start + 1] === ":" ? this.#pseudoElement(place, start) : this.#pseudoClass(place, start);
      default:
        return undefined;
    }
  }

  #attribute(start: number): Selector {
    this.#skipBlank();
    const name = this.#attributeName(start);
    this.#skipBlank();
    const operator = this.#peek();
    const action = attributeActions[operator];
    if (!action) {
      this.#close("]", start);
      return attributeSelector(name, AttributeAction.Exists, "", null);
    }
    this.#position += 1;
    if (operator !== "=" && !this.#take("=")) throw this.#unexpected();
    this.#skipBlank();
    const value = this.#string() ?? this.#identifier();
    if (value === undefined) throw this.#unexpected("a value is missing; put it in quotes unless it is a name");
    this.#skipBlank();
    const flagStart = this.#position;
    const flag = this.#identifier()?.toLowerCase();
    if (flag !== undefined && flag !== "i" && flag !== "s") {
      throw invalid("the flag is unknown", this.#partAt(flagStart), flagStart);
    }
    this.#skipBlank();
    this.#close("]", start);
    return attributeSelector(name, action, value, flag === undefined ? null : flag === "i");
  }

  #attributeName(start: number): string {
    const prefix = this.#nameOrStar();
    const isPrefix = this.#peek() === "|" && this.#text[this.#position + 1] !== "=";
    if (!isPrefix) {
      if (prefix === undefined || prefix === "*") throw this.#unexpected("an attribute name is missing");
      return prefix;
    }
    this.#position += 1;
    const name = this.#identifier();
    if (name === undefined) throw this.#unexpected("an attribute name is missing");
    if (prefix !== undefined && prefix !== "*") {
      throw invalid("the namespace prefix is not declared", this.#partAt(start), start);
    }
    return name;
  }

  #pseudoElement(place: Place, start: number): Selector {
    const name = this.#nameAfter(2, "a pseudo-element").toLowerCase();
    if (!isPseudoElement(name)) throw invalid("the pseudo-element is unknown", this.#partAt(start), start);
    if (this.#take("(")) {
      this.#skipBalanced(")");
      this.#close(")", start);
    }
    return this.#asPseudoElement(name, place, start);
  }

  #asPseudoElement(name: string, place: Place, start: number): Selector {
    if (!place.pseudoElements) throw invalid("a pseudo-element cannot stand here", this.#partAt(start), start);
    return { type: SelectorType.PseudoElement, name, data: null };
  }

  #pseudoClass(place: Place, start: number): Selector {
    const name = this.#nameAfter(1, "a pseudo-class").toLowerCase();
    if (this.#take("(")) {
      const argument = functionalPseudoClasses.get(name);
      if (!argument) throw invalid("the pseudo-class is unknown, or takes no argument", this.#partAt(start), start);
      const data = this.#argument(argument, name, place, start);
      this.#skipBlank();
      this.#close(")", start);
      return { type: SelectorType.Pseudo, name, data };
    }
    if (legacyPseudoElements.has(name)) return this.#asPseudoElement(name, place, start);
    if (treePseudoClasses.has(name) || (statePseudoClasses.has(name) && !isFunctionOnly(name))) {
      return { type: SelectorType.Pseudo, name, data: null };
    }
    const reason = functionalPseudoClasses.has(name) ? "its argument is missing" : "the pseudo-class is unknown";
    throw invalid(reason, this.#partAt(start), start);
  }

  #argument(argument: PseudoArgument, name: string, place: Place, start: number): Selector[][] | string | null {
    switch (argument) {
      case "forgiving-list":
        return this.#forgivingList({ ...place, pseudoElements: false });
      case "list":
        return this.#list({ ...place, pseudoElements: false }, "complex");
      case "relative-list":
        if (place.inHas) throw invalid(":has() cannot stand in :has()", this.#partAt(start), start);
        return this.#list({ inHas: true, pseudoElements: false }, "relative");
      case "compound":
        this.#skipBlank();
        this.#compound({ ...place, pseudoElements: false });
        return null;
      case "nth":
      case "nth-of":
        return this.#nth(argument, place);
      case "languages":
        return this.#names((parser) => parser.#string() ?? parser.#identifier(), "a language");
      case "direction":
      case "name":
        return this.#names((parser) => parser.#identifier(), `the argument of :${name}()`);
    }
  }

  #nth(argument: "nth" | "nth-of", place: Place): string {
    const start = this.#position;
    anPlusB.lastIndex = start;
    if (!anPlusB.test(this.#text)) throw this.#unexpected("a number, even, odd or An+B is expected");
    this.#position = anPlusB.lastIndex;
    this.#skipBlank();
    const of = this.#position;
    if (argument === "nth-of" && this.#identifier()?.toLowerCase() === "of") {
      this.#list({ ...place, pseudoElements: false }, "complex");
    } else {
      this.#position = of;
    }
    return this.#text.slice(start, this.#position).trim();
  }

  #names(read: (parser: this) => string | undefined, what: string): string {
    const names: string[] = [];
    do {
      this.#skipBlank();
      const name = read(this);
      if (name === undefined) throw this.#unexpected(`${what} is missing`);
      names.push(name);
      this.#skipBlank();
    } while (this.#take(","));
    return names.join(",");
  }

  #nameAfter(length: number, what: string): string {
    const start = this.#position;
    this.#position += length;
    const name = this.#identifier();
    if (name === undefined)
      throw invalid(`${what} is missing, or does not begin like a name`, this.#partAt(start), start);
    return name;
  }

  #identifier(): string | undefined {
    const name = this.#match(identifier);
    return name === undefined ? undefined : unescape(name);
  }

  #string(): string | undefined {
    const string = this.#match(quoted);
    if (string === undefined) return undefined;
    const isClosed = string.length > 1 && string.at(-1) === string[0];
    return unescape(string.slice(1, isClosed ? -1 : undefined));
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#text)?.[0];
    if (match === undefined) return undefined;
    this.#position += match.length;
    return match;
  }

  #skipBlank(): boolean {
    return (this.#match(blank) ?? "") !== "";
  }

  #peek(): string {
    return this.#text[this.#position] ?? "";
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#position += 1;
    return true;
  }

  /** The end of the text closes every bracket (CSS Syntax 3, §5.4). */
  #close(bracket: ")" | "]", start: number): void {
    if (this.#take(bracket) || this.#position >= this.#text.length) return;
    throw invalid(
      `"${bracket}" is expected before "${this.#partAt(this.#position)}"`,
      this.#partAt(start),
      this.#position,
    );
  }

  #atListItemEnd(): boolean {
    const next = this.#peek();
    return next === "" || next === "," || next === ")";
  }

  #skipListItem(start: number): void {
    this.#position = start;
    this.#skipBalanced(",)");
  }

  /** Moves to the first of `ends` that stands outside of brackets and strings. */
  #skipBalanced(ends: string): void {
    const closers: string[] = [];
    while (this.#position < this.#text.length) {
      const character = this.#peek();
      if (closers.length === 0 && ends.includes(character)) return;
      if (this.#match(quoted) !== undefined) continue;
      if (character === "\\") this.#position += 1;
      else if (character === "(") closers.push(")");
      else if (character === "[") closers.push("]");
      else if (character === closers.at(-1)) closers.pop();
      this.#position += 1;
    }
  }

  #unexpected(reason?: string): HttpError {
    const offset = Math.min(this.#position, this.#text.length);
    if (offset === this.#text.length) return invalid(reason ?? "it ends too early", this.#text.slice(-20), offset);
    return invalid(reason ?? "this is not expected here", this.#partAt(offset), offset);
  }

  #partAt(offset: number): string {
    const rest = this.#text.slice(offset, Math.max(this.#position, offset + 1) + 20);
    const [part = ""] = /^(?:[^\s,>+~]\S{0,40}|[^]?)/.exec(rest) ?? [];
    return part;
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

function unescape(text: string): string {
  return text.replace(escapes, (_, hexadecimal: string | undefined, character: string | undefined) => {
    if (hexadecimal === undefined) return /[\r\n\f]/.test(character ?? "") ? "" : (character ?? "");
    const point = Number.parseInt(hexadecimal, 16);
    const isScalar = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return isScalar ? String.fromCodePoint(point) : "\ufffd";
  });
}

function invalid(reason: string, part: string, offset: number): HttpError {
  return new HttpError(400, "INVALID_SELECTOR", `The selector is not valid at offset ${offset}, "${part}": ${reason}.`);
}
