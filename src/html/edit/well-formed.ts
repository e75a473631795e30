import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { isHtmlElement, SourceElement, type TreeParent } from "../document/html-nodes.ts";
import { ParseBudget } from "../document/parse-budget.ts";
import { LineCounter, type Place } from "../document/source-document.ts";
import {
  hasOptionalEndTag,
  holdsText,
  isClosedBy,
  losingFirstLine,
  textContents,
  voidElements,
} from "../document/tag-rules.ts";
import { type DocumentError, invalidHtml } from "../document-error.ts";
import { noAttributes, readAttributes } from "../tokenizer/attributes.ts";
import { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Tag, TokenSink, Unfinished } from "../tokenizer/tokens.ts";

export interface FragmentTag {
  /** Lower-case. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly start: number;
  /** Offset behind the start tag. */
  readonly contentStart: number;
  readonly line: number;
  readonly column: number;
  /** Offset of the end tag; `undefined` if the element has no end tag. */
  endTag?: number;
}

/** One piece of supplied HTML, in order. An element has an end also where its end tag was left out. */
export interface FragmentStep {
  readonly kind: "start" | "end" | "text" | "comment";
  /** The element that starts or ends here. */
  readonly tag?: FragmentTag | undefined;
  /** The characters of text, with references resolved, or of a comment. */
  readonly data: string;
  /** Name of the element that it stands in, where that is in the fragment, too. */
  readonly parent?: string | undefined;
  readonly line: number;
  readonly column: number;
}

/** HTML that a client supplied, found to be well-formed. */
export interface Fragment {
  /** As supplied; end tags left out at the very end are added. */
  readonly html: string;
  /** All start tags, in order. */
  readonly tags: readonly FragmentTag[];
  /** What a tree should have of it, in order. */
  readonly steps: readonly FragmentStep[];
}

/** Tokens that are read without a look at the clock. */
const tokensAtOnce = 1024;

/** What an incomplete piece of markup at the end is, in words. */
const unfinished: Readonly<Record<Unfinished, string>> = {
  "tag name": "a tag is not complete",
  tag: "a tag or an attribute is not closed",
  comment: "a comment is not closed",
  cdata: "a CDATA section is not closed",
  doctype: "a doctype is not closed",
  "end tag name": "an end tag has no name",
};

/** Pieces of a text that are joined at once: millions of references would take long. */
const mostPieces = 4096;

/** SVG and MathML elements in which HTML stands again. */
const integrationPoints = new Set([
  "foreignobject",
  "desc",
  "title",
  "mi",
  "mo",
  "mn",
  "ms",
  "mtext",
  "annotation-xml",
]);

/** Where a fragment stands. `foreign`: SVG, MathML, where `<path/>` closes itself; `script` and others: only text. */
export type FragmentContext = "html" | "foreign" | { readonly textOf: string };

/** The context that an element makes for its content. */
export function contextIn(parent: TreeParent | null): FragmentContext {
  if (!(parent instanceof SourceElement)) return "html";
  const { name } = parent;
  if (isHtmlElement(parent)) return holdsText(name) ? { textOf: name } : "html";
  return integrationPoints.has(name.toLowerCase()) ? "html" : "foreign";
}

/**
 * Checks that HTML is a well-formed fragment: every start tag that needs an end tag has it, in order, and there is
 * nothing stray or unterminated; and that text does not end its element. Throws `INVALID_HTML` with line and column.
 */
export function* parseFragment(html: string, context: FragmentContext = "html"): SlicedWork<Fragment> {
  const check = new FragmentCheck(html, context);
  const { tokenizer } = check;
  while (!tokenizer.isDone) {
    for (let count = 0; count < tokensAtOnce && !tokenizer.isDone; count += 1) tokenizer.advance();
    yield;
  }
  const { tags, steps, missingEndTags } = check;
  return { html: html + missingEndTags, tags, steps };
}

/** A function that parses `html` for a place in a tree, once for each context. */
export function fragmentsOf(html: string): (parent: TreeParent | null) => SlicedWork<Fragment> {
  const fragments: Partial<Record<string, Fragment>> = {};
  return function* (parent) {
    const context = contextIn(parent);
    const key = typeof context === "string" ? context : `text of ${context.textOf}`;
    fragments[key] ??= yield* parseFragment(html, context);
    return fragments[key];
  };
}

interface OpenTag extends FragmentTag {
  /** In SVG or MathML, where every element needs an end tag and may close itself. */
  readonly isForeign: boolean;
}

class FragmentCheck implements TokenSink {
  readonly tags: FragmentTag[] = [];
  readonly steps: FragmentStep[] = [];
  readonly tokenizer: Tokenizer;
  missingEndTags: string = "";
  readonly #html: string;
  readonly #isForeignContext: boolean;
  /** Name of the element whose content this is, where it can hold only text. */
  readonly #textOf: string | undefined;
  readonly #lines: LineCounter;
  /** The pieces of a text, and where it begins. */
  #text: string[] = [];
  #textStart = 0;
  readonly #open: OpenTag[] = [];
  readonly #budget = new ParseBudget();
  #skipsLineFeed = false;

  constructor(html: string, context: FragmentContext) {
    this.#html = html;
    this.#isForeignContext = context === "foreign";
    this.#textOf = typeof context === "string" ? undefined : context.textOf;
    this.#lines = new LineCounter(html);
    this.tokenizer = new Tokenizer(html, this);
    if (this.#textOf) this.tokenizer.enter(textContents[this.#textOf] ?? "rawtext", this.#textOf);
  }

  get allowsCdata(): boolean {
    return this.#holdsForeign();
  }

  /** What no document may hold is not read to its end first. */
  checkTag(attributes: number, nameLength: number): void {
    this.#budget.checkTag(attributes, nameLength);
  }

  text(start: number, end: number): void {
    this.characters(this.#html.slice(start, end), start);
  }

  characters(data: string, start: number): void {
    if (this.#text.length === 0) this.#textStart = start;
    if (this.#text.push(data) > mostPieces) this.#text = [this.#text.join("")];
  }

  nul(offset: number): void {
    this.characters("\ufffd", offset);
  }

  startTag({ name: { name }, start, end, attributeCount, isSelfClosing }: Tag): void {
    this.#endText();
    const isForeign = name === "svg" || name === "math" || this.#holdsForeign();
    if (!isForeign) this.#closeImplied(name);
    const place = this.#lines.at(start);
    this.#budget.addElement(attributeCount);
    const attributes = attributeCount === 0 ? noAttributes : readAttributes(this.#html, start);
    const tag: OpenTag = { name, attributes, start, contentStart: end, ...place, isForeign };
    this.tags.push(tag);
    this.#step("start", "", place, tag);
    this.#skipsLineFeed = !isForeign && losingFirstLine.has(name);
    if (isForeign ? isSelfClosing : voidElements.has(name)) {
      this.#step("end", "", place, tag);
      return;
    }
    this.#open.push(tag);
    const content = isForeign ? undefined : textContents[name];
    if (content) this.tokenizer.enter(content, name);
  }

  endTag({ name: { name }, start }: Tag): void {
    this.#endText();
    this.#skipsLineFeed = false;
    const place = this.#lines.at(start);
    this.#refuseEndOfText(place);
    const depth = this.#open.findLastIndex((tag) => tag.name === name);
    if (depth < 0) throw invalidHtml(`</${name}> closes nothing`, place.line, place.column);
    for (let top = this.#open.at(-1); top && this.#open.length > depth + 1; top = this.#open.at(-1)) {
      if (needsEndTag(top)) throw unclosedTag(top, `before </${name}>`);
      this.#close(place);
    }
    const tag = this.#open.at(-1);
    if (tag) tag.endTag = start;
    this.#close(place);
  }

  comment(data: string, start: number): void {
    this.#endText();
    this.#skipsLineFeed = false;
    this.#step("comment", data, this.#lines.at(start));
  }

  doctype(_doctype: unknown, start: number): void {
    const { line, column } = this.#lines.at(start);
    throw invalidHtml("a doctype cannot stand in an element", line, column);
  }

  unfinished(what: Unfinished, start: number): void {
    this.#endText();
    const place = this.#lines.at(start);
    this.#refuseEndOfText(place);
    throw invalidHtml(unfinished[what], place.line, place.column);
  }

  end(): void {
    this.#endText();
    const names: string[] = [];
    for (let top = this.#open.at(-1); top; top = this.#open.at(-1)) {
      if (needsEndTag(top)) throw unclosedTag(top, "at the end");
      names.push(`</${top.name}>`);
      this.#close(atBeginning);
    }
    this.missingEndTags = names.join("");
  }

  #endText(): void {
    if (this.#text.length === 0) return;
    const data = this.#text.splice(0).join("");
    const text = this.#skipsLineFeed && data.startsWith("\n") ? data.slice(1) : data;
    this.#skipsLineFeed = false;
    if (text !== "") this.#step("text", text, this.#lines.at(this.#textStart));
  }

  #step(kind: FragmentStep["kind"], data: string, { line, column }: Place, tag?: FragmentTag): void {
    if (!tag) this.#budget.addNode();
    this.steps.push({ kind, data, tag, parent: this.#open.at(-1)?.name, line, column });
  }

  /** The innermost open element is over. */
  #close(place: Place): void {
    const tag = this.#open.pop();
    if (tag) this.#step("end", "", place, tag);
  }

  #refuseEndOfText({ line, column }: Place): void {
    if (this.#textOf) throw invalidHtml(`it would end the <${this.#textOf}> early`, line, column);
  }

  #holdsForeign(): boolean {
    const parent = this.#open.at(-1);
    if (!parent) return this.#isForeignContext;
    return parent.isForeign && !integrationPoints.has(parent.name);
  }

  #closeImplied(startTag: string): void {
    let top = this.#open.at(-1);
    while (top && !top.isForeign && isClosedBy(top.name, startTag)) {
      this.#close(atBeginning);
      top = this.#open.at(-1);
    }
  }
}

/** Where an end is that is not written. */
const atBeginning: Place = { line: 1, column: 1 };

function needsEndTag(tag: OpenTag): boolean {
  return tag.isForeign || !hasOptionalEndTag(tag.name);
}

function unclosedTag({ name, line, column }: FragmentTag, where: string): DocumentError {
  return invalidHtml(`<${name}> is not closed ${where}`, line, column);
}
