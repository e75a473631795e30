import { QuoteType } from "htmlparser2";
import { Attributes, noAttributes } from "../tokenizer/attributes.ts";
import { type NamespaceScope, qualifiedName, XmlProblem } from "./xml-names.ts";

interface Attribute {
  readonly name: string;
  /** Where the value begins; `end` is where it ends. */
  readonly start: number;
  readonly end: number;
}

const blank = /^[ \t\r\n]*$/;
const equalsQuote = /^[ \t\r\n]*=[ \t\r\n]*["']$/;

/** A start tag as the tokenizer comes upon its parts, all of whose offsets are those of the source. */
export class XmlStartTag {
  readonly name: string;
  readonly start: number;
  readonly #source: string;
  readonly #attributes: Attribute[] = [];
  #position: number;
  #attributeName = "";
  #attributeStart = -1;
  #valueStart = -1;

  /** `end` is where the name ends. */
  constructor(source: string, start: number, end: number) {
    this.#source = source;
    this.start = start;
    this.name = source.slice(start + 1, end);
    this.#position = end;
  }

  get attributeCount(): number {
    return this.#attributes.length;
  }

  beginAttribute(start: number, end: number): void {
    if (start === this.#position || !this.#isBlankUntil(start)) throw this.#broken(start);
    this.#attributeName = this.#source.slice(start, end);
    this.#attributeStart = start;
    this.#valueStart = -1;
    this.#position = end;
  }

  addValue(start: number): void {
    if (this.#valueStart === -1) this.#valueStart = start;
  }

  /** `end` is behind the closing quote. */
  endAttribute(quote: QuoteType, end: number): void {
    const name = this.#attributeName;
    if (quote === QuoteType.NoValue) throw new XmlProblem(`the attribute ${name} has no value`, this.#attributeStart);
    const isQuoted =
      quote !== QuoteType.Unquoted && equalsQuote.test(this.#source.slice(this.#position, this.#valueStart));
    if (!isQuoted) throw new XmlProblem(`the value of the attribute ${name} is not in quotes`, this.#attributeStart);
    this.#attributes.push({ name, start: this.#valueStart, end: end - 1 });
    this.#position = end;
  }

  /** `index` is that of `>` or `/>`. */
  end(index: number): void {
    if (!this.#isBlankUntil(index)) throw this.#broken(this.#position);
  }

  /** The attributes; `resolve` makes text of what stands in the source between two offsets. */
  readAttributes(resolve: (start: number, end: number) => string): Record<string, string> {
    if (this.#attributes.length === 0) return noAttributes;
    const attribs = new Attributes();
    for (const { name, start, end } of this.#attributes) {
      if (!qualifiedName(name)) throw new XmlProblem(`${name.slice(0, 40)} is no name of an attribute`, start);
      if (attribs[name] !== undefined) throw new XmlProblem(`the attribute ${name} is there twice`, start);
      const tag = this.#source.slice(start, end).indexOf("<");
      if (tag >= 0) throw new XmlProblem("a < in an attribute must be written as &lt;", start + tag);
      attribs[name] = resolve(start, end);
    }
    return attribs;
  }

  /** Prefixes must be declared, and two attributes must not be one under two prefixes. */
  checkPrefixes(scope: NamespaceScope): void {
    let seen: Set<string> | undefined;
    for (const { name, start } of this.#attributes) {
      const qualified = name.includes(":") ? qualifiedName(name) : undefined;
      if (!qualified || qualified.prefix === "xmlns") continue;
      const namespace = scope.find(qualified.prefix);
      if (namespace === undefined) throw new XmlProblem(`the prefix ${qualified.prefix} is not declared`, start);
      seen ??= new Set();
      const key = `${qualified.local} ${namespace}`;
      if (seen.has(key)) throw new XmlProblem(`the attribute ${name} is there twice`, start);
      seen.add(key);
    }
  }

  #isBlankUntil(offset: number): boolean {
    return offset === this.#position || blank.test(this.#source.slice(this.#position, offset));
  }

  #broken(offset: number): XmlProblem {
    return new XmlProblem("a tag is broken", offset);
  }
}
