import { DocumentError } from "../document-error.ts";
import { readAnPlusB } from "./an-plus-b.ts";
import { readAttributeSelector, readTypeSelector } from "./name-selectors.ts";
import { legacyPseudoElements, mayFollow, type PseudoElementRule, pseudoElementRule } from "./pseudo-elements.ts";
import {
  functionalPseudoClasses,
  type NthPseudoClass,
  type PseudoArgument,
  plainPseudoClass,
} from "./selector-names.ts";
import { invalidSelector, SelectorReader } from "./selector-reader.ts";
import type {
  Combinator,
  ComplexSelector,
  CompoundSelector,
  LanguageRange,
  NthSelector,
  SelectorList,
  SelectorStep,
  SimpleSelector,
} from "./selector-tree.ts";

/** Longest selector, in characters, and the most compound selectors in it: what no person writes only costs time. */
export interface SelectorLimits {
  /** @default 4096 */
  readonly maxSelectorLength?: number;
  /** @default 64 */
  readonly maxCompounds?: number;
}

const combinators: Readonly<Record<string, Combinator>> = {
  ">": "child",
  "+": "next-sibling",
  "~": "subsequent-sibling",
};

const firstOfType: NthSelector = { kind: "nth", name: "nth-of-type", step: 0, offset: 1, list: null };
const lastOfType: NthSelector = { ...firstOfType, name: "nth-last-of-type" };

const placesOfType: ReadonlyMap<string, CompoundSelector> = new Map([
  ["first-of-type", [firstOfType]],
  ["last-of-type", [lastOfType]],
  ["only-of-type", [firstOfType, lastOfType]],
]);

/**
 * Parses a selector list as browsers do in `querySelectorAll` (Selectors 4, CSS Syntax 3; where browsers differ, as
 * Chromium does). Throws `INVALID_SELECTOR`; `details` names the part that is wrong and its offset.
 */
export function parseSelector(text: string, limits: SelectorLimits = {}): SelectorList {
  const { maxSelectorLength = 4096, maxCompounds = 64 } = limits;
  if (text.length > maxSelectorLength) {
    throw invalidSelector(`it is longer than ${maxSelectorLength} characters`, text.slice(0, 20), maxSelectorLength);
  }
  return new SelectorParser(new SelectorReader(text), maxCompounds).parse();
}

/** Where a selector stands: what is allowed depends on what is around it. */
interface Place {
  /** Within `:has()`, or where else `:has()` cannot stand. */
  readonly noHas?: boolean;
  /** Whether `::before` may end it. */
  readonly pseudoElements?: boolean;
  /** The pseudo-element that it says more about. */
  readonly behind?: PseudoElementRule | undefined;
}

class SelectorParser {
  readonly #reader: SelectorReader;
  readonly #maxCompounds: number;
  #compounds = 0;

  constructor(reader: SelectorReader, maxCompounds: number) {
    this.#reader = reader;
    this.#maxCompounds = maxCompounds;
  }

  parse(): SelectorList {
    const list = this.#list({ pseudoElements: true }, "complex");
    if (this.#reader.token.kind !== "end") throw this.#reader.unexpected();
    return list;
  }

  #list(place: Place, kind: "complex" | "relative"): SelectorList {
    const list: ComplexSelector[] = [];
    do {
      list.push(this.#complex(place, kind));
    } while (this.#reader.take(","));
    return list;
  }

  /** In `:is()` and `:where()` what does not parse is dropped, the rest stays (Selectors 4, §19.1). */
  #forgivingList(place: Place): SelectorList {
    const list: ComplexSelector[] = [];
    do {
      const { position } = this.#reader;
      try {
        list.push(this.#complex(place, "complex"));
      } catch (error) {
        // The limit holds for what is dropped as well.
        if (!(error instanceof DocumentError) || this.#compounds > this.#maxCompounds) throw error;
        this.#reader.skipListItem(position);
      }
    } while (this.#reader.take(","));
    return list;
  }

  #complex(place: Place, kind: "complex" | "relative"): ComplexSelector {
    const steps: SelectorStep[] = [];
    this.#reader.skipSpace();
    let combinator = kind === "relative" ? (this.#combinator() ?? "descendant") : null;
    for (;;) {
      this.#reader.skipSpace();
      const { compound, pseudoElement } = this.#compound(place);
      steps.push({ combinator, compound });
      const hadSpace = this.#reader.skipSpace();
      if (this.#reader.atListItemEnd()) return steps;
      if (pseudoElement) throw this.#reader.unexpected("nothing can follow a pseudo-element");
      combinator = this.#combinator() ?? (hadSpace ? "descendant" : null);
      if (!combinator) throw this.#reader.unexpected();
    }
  }

  #combinator(): Combinator | null {
    const { kind, value } = this.#reader.token;
    const combinator = kind === "delim" ? combinators[value] : undefined;
    if (!combinator) return null;
    this.#reader.next();
    return combinator;
  }

  #compound(place: Place): { compound: CompoundSelector; pseudoElement: PseudoElementRule | undefined } {
    const { start } = this.#reader.token;
    this.#compounds += 1;
    if (this.#compounds > this.#maxCompounds) {
      throw this.#reader.invalid(`it has more than ${this.#maxCompounds} compound selectors`, start);
    }
    const compound: SimpleSelector[] = [];
    const type = place.behind ? undefined : readTypeSelector(this.#reader);
    if (type) compound.push(type);
    let { behind } = place;
    for (;;) {
      const read = this.#simple(behind === place.behind ? place : { ...place, behind });
      if (!read) break;
      compound.push(read.simple);
      behind = read.pseudoElement ?? behind;
    }
    if (compound.length === 0) throw this.#reader.unexpected("a selector is missing");
    return { compound, pseudoElement: place.behind ? undefined : behind };
  }

  #simple(place: Place): { simple: SimpleSelector; pseudoElement?: PseudoElementRule } | undefined {
    const { kind, value, start } = this.#reader.token;
    if (kind === "delim" && value === ":") {
      this.#reader.next();
      return this.#reader.take(":") ? this.#pseudoElement(place, start) : this.#pseudo(place, start);
    }
    const isSimple = kind === "hash" || (kind === "delim" && ".[&".includes(value));
    if (isSimple && place.behind) throw this.#reader.unexpected("it cannot stand behind a pseudo-element");
    if (kind === "hash") {
      this.#reader.next();
      return { simple: { kind: "id", value } };
    }
    if (kind !== "delim") {
      if (kind === "other" && value.startsWith("#")) throw this.#reader.unexpected("an id does not begin like a name");
      return undefined;
    }
    if (this.#reader.take(".")) return { simple: { kind: "class", value: this.#requireName("a class name", start) } };
    if (this.#reader.take("[")) return { simple: readAttributeSelector(this.#reader, start) };
    // Outside of nested rules `&` is the scoping root (CSS Nesting 1, §4).
    if (this.#reader.take("&")) return { simple: { kind: "pseudo-class", name: "scope" } };
    if (value === "#") throw this.#reader.unexpected("an id is missing");
    return undefined;
  }

  #pseudoElement(place: Place, start: number): { simple: SimpleSelector; pseudoElement: PseudoElementRule } {
    const { name, isFunction } = this.#pseudoName("pseudo-element", start);
    const rule = pseudoElementRule(isFunction ? `${name}()` : name);
    if (!rule) throw this.#reader.invalid("the pseudo-element is unknown", start);
    if (isFunction) this.#pseudoElementArgument(rule, start);
    return this.#asPseudoElement(name, rule, place, start);
  }

  #asPseudoElement(
    name: string,
    rule: PseudoElementRule,
    { pseudoElements, behind }: Place,
    start: number,
  ): { simple: SimpleSelector; pseudoElement: PseudoElementRule } {
    const isOfTree = name === "part" || name === "slotted";
    const mayFollow = !behind || (behind.pseudoElements === "any" ? !isOfTree : behind.pseudoElements.has(name));
    if (!pseudoElements || !mayFollow) throw this.#reader.invalid("a pseudo-element cannot stand here", start);
    return { simple: { kind: "nothing" }, pseudoElement: rule };
  }

  #pseudoElementArgument({ argument }: PseudoElementRule, start: number): void {
    this.#reader.skipSpace();
    if (argument === "compound" || argument === "compounds") this.#compoundList(argument, { noHas: true });
    else if (!argument?.test(this.#reader.textToClose())) {
      throw this.#reader.invalid("the argument is not one that the pseudo-element takes", start);
    }
    this.#reader.close(")", start);
  }

  #pseudo(place: Place, start: number): { simple: SimpleSelector; pseudoElement?: PseudoElementRule } {
    const { name, isFunction } = this.#pseudoName("pseudo-class", start);
    const legacy = !isFunction && legacyPseudoElements.has(name) ? pseudoElementRule(name) : undefined;
    if (legacy) return this.#asPseudoElement(name, legacy, place, start);
    const simple = isFunction ? this.#functional(name, place, start) : this.#plain(name, start);
    if (place.behind && !mayFollow(place.behind, name)) {
      throw this.#reader.invalid("it cannot stand behind this pseudo-element", start);
    }
    return { simple };
  }

  #pseudoName(what: string, start: number): { name: string; isFunction: boolean } {
    const { value, kind } = this.#reader.token;
    if (kind !== "ident" && kind !== "function") throw this.#reader.invalid(`the name of a ${what} is missing`, start);
    this.#reader.next();
    return { name: value.toLowerCase(), isFunction: kind === "function" };
  }

  #plain(name: string, start: number): SimpleSelector {
    const ofType = placesOfType.get(name);
    if (ofType) return { kind: "is", list: [[{ combinator: null, compound: ofType }]] };
    const known = plainPseudoClass(name);
    if (known) return known === "state" ? { kind: "nothing" } : { kind: "pseudo-class", name: known };
    const isFunction = functionalPseudoClasses.has(name);
    throw this.#reader.invalid(isFunction ? "its argument is missing" : "the pseudo-class is unknown", start);
  }

  #functional(name: string, place: Place, start: number): SimpleSelector {
    const argument = functionalPseudoClasses.get(name);
    if (!argument) {
      this.#reader.textToClose();
      const known = placesOfType.has(name) || plainPseudoClass(name) || legacyPseudoElements.has(name);
      throw this.#reader.invalid(known ? "it takes no argument" : "the pseudo-class is unknown", start);
    }
    const simple = this.#argument(argument, name, place, start);
    this.#reader.skipSpace();
    this.#reader.close(")", start);
    return simple;
  }

  #argument(argument: PseudoArgument, name: string, place: Place, start: number): SimpleSelector {
    const inner: Place = { ...place, pseudoElements: false };
    switch (argument) {
      case "forgiving-list":
        return { kind: "is", list: this.#forgivingList(inner) };
      case "list":
        return { kind: "not", list: this.#list(inner, "complex") };
      case "relative-list":
        if (place.noHas) throw this.#reader.invalid(":has() cannot stand here", start);
        return { kind: "has", list: this.#list({ noHas: true }, "relative") };
      case "compound":
      case "compounds": {
        const list = this.#compoundList(argument, { noHas: true });
        return name === "-webkit-any" ? { kind: "is", list } : { kind: "nothing" };
      }
      case "nth":
      case "nth-of":
        return this.#nth(name as NthPseudoClass, argument, place);
      case "languages":
        return { kind: "lang", ranges: this.#names("a language", () => this.#languageRange()) };
      case "direction":
      case "name": {
        this.#reader.skipSpace();
        const value = this.#requireName(`the argument of :${name}()`, this.#reader.token.start).toLowerCase();
        if (argument === "name") return { kind: "nothing" };
        return { kind: "dir", direction: value === "ltr" || value === "rtl" ? value : "unknown" };
      }
      case "names":
        this.#names(`the argument of :${name}()`, () => this.#reader.name());
        return { kind: "nothing" };
    }
  }

  #compoundList(argument: "compound" | "compounds", place: Place): SelectorList {
    const list: ComplexSelector[] = [];
    do {
      this.#reader.skipSpace();
      list.push([{ combinator: null, compound: this.#compound(place).compound }]);
      this.#reader.skipSpace();
    } while (argument === "compounds" && this.#reader.take(","));
    return list;
  }

  #nth(name: NthPseudoClass, argument: "nth" | "nth-of", place: Place): SimpleSelector {
    this.#reader.skipSpace();
    const { position } = this.#reader;
    const read = readAnPlusB(this.#reader);
    if (!read) {
      this.#reader.position = position;
      throw this.#reader.unexpected("a number, even, odd or An+B is expected");
    }
    const { step, offset } = read;
    this.#reader.skipSpace();
    const hasList = argument === "nth-of" && this.#reader.token.kind === "ident" && this.#reader.token.value === "of";
    if (!hasList) return { kind: "nth", name, step, offset, list: null };
    this.#reader.next();
    return { kind: "nth", name, step, offset, list: this.#list(place, "complex") };
  }

  #languageRange(): LanguageRange | undefined {
    const string = this.#reader.string();
    if (string !== undefined) return { range: string, hasWildcards: string.includes("*") };
    const range = this.#reader.name();
    return range === undefined ? undefined : { range, hasWildcards: false };
  }

  #names<Name>(what: string, read: () => Name | undefined): Name[] {
    const names: Name[] = [];
    do {
      this.#reader.skipSpace();
      const name = read();
      if (name === undefined) throw this.#reader.unexpected(`${what} is missing`);
      names.push(name);
      this.#reader.skipSpace();
    } while (this.#reader.take(","));
    return names;
  }

  #requireName(what: string, start: number): string {
    const name = this.#reader.name();
    if (name === undefined) throw this.#reader.invalid(`${what} is missing, or does not begin like a name`, start);
    return name;
  }
}
