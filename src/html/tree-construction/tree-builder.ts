import { hasEndTag } from "../document/element-span.ts";
import { htmlNamespace } from "../document/html-names.ts";
import type { SourceElement, TagObserver } from "../document/html-nodes.ts";
import type { ParseBudget } from "../document/parse-budget.ts";
import { readAttributes } from "../tokenizer/attributes.ts";
import type { Doctype } from "../tokenizer/doctype.ts";
import { Tokenizer } from "../tokenizer/tokenizer.ts";
import { type ContentModel, type Tag, type TagName, type TokenSink, tagCount } from "../tokenizer/tokens.ts";
import type { ModeName } from "./parser-state.ts";
import { isHtmlIntegrationPoint, isTextIntegrationPoint, tagNamed } from "./tags.ts";
import { isBlankText, TextCollector, type TextRun } from "./text-run.ts";
import { TreeWriter } from "./tree-writer.ts";

/** What is done with a tag in a mode. */
export type TagRule = (builder: TreeBuilder, tag: Tag) => void;

/** What happens to each token in a mode. */
export interface InsertionMode {
  /** Rules for start tags and end tags, by the ids of their names. */
  readonly startTags: readonly TagRule[];
  readonly endTags: readonly TagRule[];
  text(builder: TreeBuilder, run: TextRun): void;
  /** Whether text is looked at piece by piece: white space and the rest of it go different ways. */
  readonly splitsText?: boolean;
  comment(builder: TreeBuilder, data: string, start: number, end: number): void;
  /** Where a doctype is not ignored. */
  doctype?(builder: TreeBuilder, doctype: Doctype, start: number, end: number): void;
  /** The document ends. */
  end(builder: TreeBuilder): void;
}

export type InsertionModes = Readonly<Record<ModeName, InsertionMode>>;

/** Makes a table by the ids of tags of rules by their names, several in one key; `other` is for all other names. */
export function ruleTable(rules: Readonly<Record<string, TagRule>>, other: TagRule): readonly TagRule[] {
  const table = Array.from({ length: tagCount }, () => other);
  for (const [names, rule] of Object.entries(rules)) {
    for (const name of names.split(/\s+/)) table[tagNamed(name).id] = rule;
  }
  return table;
}

/** The token is ignored. */
export function ignore(): void {}

/** A comment becomes a child of the current node. */
export function insertComment(builder: TreeBuilder, data: string, start: number, end: number): void {
  builder.insertComment(data, start, end);
}

/** Shorter values are read at once, whatever stands in them. */
const longValue = 64 * 1024;

const svg = tagNamed("svg");
const glyphs: ReadonlySet<TagName> = new Set([tagNamed("mglyph"), tagNamed("malignmark")]);

/** Builds the tree of a document from its tokens (HTML Standard, 13.2.6), with scripting on. */
export class TreeBuilder extends TreeWriter implements TokenSink {
  readonly tokenizer: Tokenizer;
  mode: ModeName = "initial";
  /** Where "text" and "in table text" go back to. */
  originalMode: ModeName = "initial";
  readonly templateModes: ModeName[] = [];
  head: SourceElement | undefined;
  form: SourceElement | undefined;
  framesetOk = true;
  /** A line feed right behind `<pre>` is no content. */
  skipsLineFeed = false;
  readonly #modes: InsertionModes;
  readonly #foreign: InsertionMode;
  readonly #collector: TextCollector;

  constructor(
    source: string,
    modes: InsertionModes,
    foreign: InsertionMode,
    budget: ParseBudget,
    observer?: TagObserver,
  ) {
    super(source, budget, observer);
    this.#modes = modes;
    this.#foreign = foreign;
    this.#collector = new TextCollector(source);
    this.tokenizer = new Tokenizer(source, this);
  }

  /** Whether all that was read has become part of the tree, and markup follows. */
  get isBetweenTokens(): boolean {
    return this.tokenizer.isInMarkup && this.#collector.isEmpty && !this.skipsLineFeed;
  }

  get allowsCdata(): boolean {
    return this.isInForeignContent;
  }

  checkTag(attributes: number, nameLength: number, valueStart: number, valueEnd: number): void {
    this.budget.checkTag(attributes, nameLength);
    if (valueEnd - valueStart < longValue) return;
    const reference = this.source.indexOf("&", valueStart);
    if (reference >= 0 && reference < valueEnd) this.budget.checkReferences(valueEnd - valueStart);
  }

  // What the tokenizer tells.

  text(start: number, end: number): void {
    let from = start;
    if (this.skipsLineFeed) {
      this.skipsLineFeed = false;
      if (this.source.charCodeAt(start) === 0x0a) from += 1;
      if (from === end) return;
    }
    this.#collector.addVerbatim(from, end);
    if (this.#modes[this.mode].splitsText) this.#processText();
  }

  characters(data: string, start: number, end: number): void {
    const isSkipped = this.skipsLineFeed && data.startsWith("\n");
    this.skipsLineFeed = false;
    if (isSkipped && data.length === 1) return;
    if (isSkipped) this.#collector.add(data.slice(1), start + (this.source.startsWith("\r\n", start) ? 2 : 1), end);
    else this.#collector.add(data, start, end);
    if (this.#modes[this.mode].splitsText) this.#processText();
  }

  /** By the standard a NUL begins the `body` as text does, and is gone then. Browsers ignore it, and so does this. */
  nul(offset: number): void {
    if (!this.isTextForeign()) return;
    this.#beginToken(offset, offset + 1);
    this.insertText({ data: "\ufffd", start: offset, end: offset + 1, isVerbatim: false });
  }

  startTag(tag: Tag): void {
    this.#beginToken(tag.start, tag.end);
    this.budget.addTag(this.open.length, tag.attributeCount);
    this.isTagUsed = false;
    this.processStartTag(tag);
    if (this.observer && !this.isTagUsed) {
      this.observer.ignored(tag.name.name, Object.keys(readAttributes(this.source, tag.start)), tag.start);
    }
  }

  endTag(tag: Tag): void {
    this.#beginToken(tag.start, tag.end);
    this.budget.addTag(this.open.length, 0);
    this.endTagName = tag.name.name;
    this.processEndTag(tag);
    this.endTagName = undefined;
  }

  comment(data: string, start: number, end: number): void {
    this.#beginToken(start, end);
    // SVG and MathML go on behind `</body>`, while other elements end with the page.
    const isLate = this.mode === "after body" || this.mode === "after after body";
    if (this.isInForeignContent) this.insertComment(data, start, end, isLate ? this.current : undefined);
    else this.#modes[this.mode].comment(this, data, start, end);
  }

  doctype(doctype: Doctype, start: number, end: number): void {
    this.#beginToken(start, end);
    if (!this.isInForeignContent) this.#modes[this.mode].doctype?.(this, doctype, start, end);
  }

  end(): void {
    this.#beginToken(this.source.length, this.source.length);
    this.processEnd();
  }

  // What the rules of the modes ask for.

  /** Processes a start tag, or processes it again after the mode has changed. */
  processStartTag(tag: Tag): void {
    const rules = this.#isStartTagForeign(tag) ? this.#foreign : this.#modes[this.mode];
    rules.startTags[tag.name.id]?.(this, tag);
  }

  processEndTag(tag: Tag): void {
    const rules = this.isInForeignContent ? this.#foreign : this.#modes[this.mode];
    rules.endTags[tag.name.id]?.(this, tag);
  }

  processText(run: TextRun): void {
    const rules = this.isTextForeign() ? this.#foreign : this.#modes[this.mode];
    rules.text(this, run);
  }

  /** Processes text again after the mode has changed; where text is not split, together with the pieces that follow. */
  processTextAgain(run: TextRun): void {
    if (this.#modes[this.mode].splitsText) this.processText(run);
    else if (run.isVerbatim) this.#collector.addVerbatim(run.start, run.end);
    else this.#collector.add(run.data, run.start, run.end);
  }

  processEnd(): void {
    this.#modes[this.mode].end(this);
  }

  /** The rules of a mode, without a change of mode and without regard to SVG and MathML. */
  rulesOf(mode: ModeName): InsertionMode {
    return this.#modes[mode];
  }

  startTagIn(mode: ModeName, tag: Tag): void {
    this.#modes[mode].startTags[tag.name.id]?.(this, tag);
  }

  endTagIn(mode: ModeName, tag: Tag): void {
    this.#modes[mode].endTags[tag.name.id]?.(this, tag);
  }

  /** Inserts an element whose content is text, up to its end tag. */
  insertTextElement(tag: Tag, content: ContentModel): void {
    this.insertElement(tag);
    this.tokenizer.enter(content, tag.name.name);
    this.originalMode = this.mode;
    this.mode = "text";
  }

  /** Text in the body, a cell, a caption, a template. */
  insertContentText(run: TextRun): void {
    this.reconstructFormatting();
    this.insertText(run);
    if (this.framesetOk && !isBlankText(run)) this.framesetOk = false;
  }

  /** "Reset the insertion mode appropriately": what the innermost open elements say. */
  resetMode(): void {
    for (let index = this.open.length - 1; index > 0; index -= 1) {
      const name = this.open.tagAt(index)?.name ?? "";
      const mode = name === "template" ? this.templateModes.at(-1) : modesOfElements.get(name);
      if (mode) {
        this.mode = mode;
        return;
      }
    }
    this.mode = this.head ? "after head" : "before head";
  }

  /** The document is over: all that is open ends here. */
  stop(): void {
    const { open } = this;
    const html = open.elementAt(0);
    const isHtmlClosed = html !== undefined && hasEndTag(html);
    for (let index = open.length - 1; index >= 0; index -= 1) {
      const element = open.elementAt(index);
      if (!element) continue;
      this.lists.close(element);
      const isPagePart = index < 2;
      if (isPagePart ? !isHtmlClosed && !hasEndTag(element) : element.startIndex !== null) this.markEnd(element);
    }
    this.lists.close(this.root);
    this.lists.closeReopened();
  }

  /** Whether text is content of SVG or MathML. */
  isTextForeign(): boolean {
    const { current } = this;
    if (!current || current.namespace === htmlNamespace) return false;
    return !isTextIntegrationPoint(current) && !isHtmlIntegrationPoint(current);
  }

  #isStartTagForeign({ name }: Tag): boolean {
    const { current } = this;
    if (!current || current.namespace === htmlNamespace) return false;
    if (isTextIntegrationPoint(current)) return glyphs.has(name);
    if (current.name === "annotation-xml" && name === svg) return false;
    return !isHtmlIntegrationPoint(current);
  }

  #beginToken(start: number, end: number): void {
    this.skipsLineFeed = false;
    if (!this.#collector.isEmpty) this.#processText();
    this.tokenStart = start;
    this.tokenEnd = end;
  }

  #processText(): void {
    const run = this.#collector.take();
    this.tokenStart = run.start;
    this.tokenEnd = run.end;
    this.processText(run);
  }
}

const modesOfElements: ReadonlyMap<string, ModeName> = new Map([
  ["td", "in cell"],
  ["th", "in cell"],
  ["tr", "in row"],
  ["tbody", "in table body"],
  ["thead", "in table body"],
  ["tfoot", "in table body"],
  ["caption", "in caption"],
  ["colgroup", "in column group"],
  ["table", "in table"],
  ["head", "in head"],
  ["body", "in body"],
  ["frameset", "in frameset"],
]);
