import { hasEndTag } from "../document/element-span.ts";
import { htmlNamespace } from "../document/html-names.ts";
import { contentParent, type SourceElement } from "../document/html-nodes.ts";
import type { ParseBudget } from "../document/parse-budget.ts";
import type { Doctype } from "../tokenizer/doctype.ts";
import { Tokenizer } from "../tokenizer/tokenizer.ts";
import { type ContentModel, type Tag, type TagName, type TokenSink, tagCount } from "../tokenizer/tokens.ts";
import { words } from "../words.ts";
import { clearToMarker } from "./open-elements.ts";
import type { ModeName } from "./parser-state.ts";
import { isHtmlIntegrationPoint, isTextIntegrationPoint, tagNamed } from "./tags.ts";
import { isBlankText, type TextRun } from "./text-run.ts";
import { freeRoom, TreeWriter } from "./tree-writer.ts";

/** What is done with a tag in a mode. */
export type TagRule = (builder: TreeBuilder, tag: Tag) => void;

/** What happens to each token in a mode. */
export interface InsertionMode {
  /** Rules for start tags and end tags, by the ids of their names. */
  readonly startTags: readonly TagRule[];
  readonly endTags: readonly TagRule[];
  /** @default what text does in the body */
  text?(builder: TreeBuilder, run: TextRun): void;
  /** @default a child of the current node */
  comment?(builder: TreeBuilder, data: string, start: number, end: number): void;
  /** Where a doctype is not ignored. */
  doctype?(builder: TreeBuilder, doctype: Doctype, start: number, end: number): void;
  /** The document ends. @default it is over, but for open templates */
  end?(builder: TreeBuilder): void;
}

export type InsertionModes<Name extends ModeName = ModeName> = Readonly<Record<Name, InsertionMode>>;

/** Makes a table by the ids of tags of rules by their names, several in one key; `other` is for all other names. */
export function ruleTable(rules: Readonly<Record<string, TagRule>>, other: TagRule = ignore): readonly TagRule[] {
  const table = Array.from({ length: tagCount }, () => other);
  for (const [names, rule] of Object.entries(rules)) {
    for (const name of words(names)) table[tagNamed(name).id] = rule;
  }
  return table;
}

export function ignore(): void {}

export function asIn(mode: ModeName): TagRule {
  return (builder, tag) => builder.processTagIn(mode, tag);
}

/** A tag that is processed again after something has changed the mode, and ignored where that gives `false`. */
export function againAfter(change: (builder: TreeBuilder, tag: Tag) => unknown): TagRule {
  return (builder, tag) => {
    if (change(builder, tag) !== false) builder.processTag(tag);
  };
}

export function commentInDocument(builder: TreeBuilder, data: string, start: number, end: number): void {
  builder.insertComment(data, start, end, builder.root);
}

/** Shorter values are read at once, whatever stands in them. */
const longValue = 64 * 1024;

const svg = tagNamed("svg");
const template = tagNamed("template");
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
  /** A line feed right behind `<pre>` is not content. */
  skipsLineFeed = false;
  /** Is told of each start tag, and of the element that it made or gave its attributes to, if any. */
  onStartTag: ((tag: Tag, element: SourceElement | undefined) => void) | undefined;
  readonly #modes: InsertionModes;
  readonly #foreign: InsertionMode;
  /** Text directly in a table: whether it goes before the table depends on all of it. */
  readonly #tableText: TextRun[] = [];
  #isBehindText = false;

  constructor(source: string, modes: InsertionModes, foreign: InsertionMode, budget: ParseBudget) {
    super(source, budget);
    this.#modes = modes;
    this.#foreign = foreign;
    this.tokenizer = new Tokenizer(source, this);
  }

  /** Whether markup follows, and what stands there is not part of a text. */
  get isBetweenTokens(): boolean {
    return this.tokenizer.isInMarkup && !this.#isBehindText && !this.skipsLineFeed;
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
    const isSkipped = this.skipsLineFeed && this.source.charCodeAt(start) === 0x0a;
    this.skipsLineFeed = false;
    const from = isSkipped ? start + 1 : start;
    if (from < end) this.#textToken({ data: this.source.slice(from, end), start: from, end, isVerbatim: true });
  }

  characters(data: string, start: number, end: number): void {
    const isSkipped = this.skipsLineFeed && data.startsWith("\n");
    this.skipsLineFeed = false;
    if (!isSkipped) this.#textToken({ data, start, end, isVerbatim: false });
    else if (data.length > 1) {
      const from = start + (this.source.startsWith("\r\n", start) ? 2 : 1);
      this.#textToken({ data: data.slice(1), start: from, end, isVerbatim: false });
    }
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
    this.taggedElement = undefined;
    this.processTag(tag);
    this.onStartTag?.(tag, this.taggedElement);
  }

  endTag(tag: Tag): void {
    this.#beginToken(tag.start, tag.end);
    this.budget.addTag(this.open.length, 0);
    this.endTagName = tag.name.name;
    this.processTag(tag);
    this.endTagName = undefined;
  }

  comment(data: string, start: number, end: number): void {
    this.#beginToken(start, end);
    // SVG and MathML go on behind `</body>`, while other elements end with the page.
    const isLate = this.mode === "after body" || this.mode === "after after body";
    const { comment } = this.#modes[this.mode];
    if (this.isInForeignContent) this.insertComment(data, start, end, isLate ? this.current : undefined);
    else if (comment) comment(this, data, start, end);
    else this.insertComment(data, start, end);
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

  /** Processes a tag, or processes it again after the mode has changed. */
  processTag(tag: Tag): void {
    const isForeign = tag.isEndTag ? this.isInForeignContent : this.#isStartTagForeign(tag);
    applyRule(isForeign ? this.#foreign : this.#modes[this.mode], this, tag);
  }

  processTagIn(mode: ModeName, tag: Tag): void {
    applyRule(this.#modes[mode], this, tag);
  }

  processText(run: TextRun): void {
    const { text } = this.isTextForeign() ? this.#foreign : this.#modes[this.mode];
    if (text) text(this, run);
    else this.insertContentText(run);
  }

  processEnd(): void {
    const { end } = this.#modes[this.mode];
    if (end) end(this);
    else if (this.open.has(template)) {
      this.leaveTemplate();
      this.processEnd();
    } else this.stop();
  }

  /** Inserts an element whose content is text, up to its end tag. */
  insertTextElement(tag: Tag, content: ContentModel): void {
    this.insertElement(tag);
    this.tokenizer.enter(content, tag.name.name);
    this.originalMode = this.mode;
    this.mode = "text";
  }

  /** Text directly in a table waits for the end of the text. */
  addTableText(run: TextRun): void {
    this.#tableText.push(run);
  }

  leaveTemplate(): void {
    this.open.popThrough(template);
    clearToMarker(this.formatting);
    this.templateModes.pop();
    this.resetMode();
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
      freeRoom(contentParent(element));
      const isPagePart = index < 2;
      if (isPagePart ? !isHtmlClosed && !hasEndTag(element) : element.startIndex !== null) this.markEnd(element);
    }
  }

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

  #textToken(run: TextRun): void {
    this.#isBehindText = true;
    this.tokenStart = run.start;
    this.tokenEnd = run.end;
    this.processText(run);
  }

  #beginToken(start: number, end: number): void {
    this.skipsLineFeed = false;
    this.#isBehindText = false;
    if (this.#tableText.length > 0) this.#insertTableText();
    this.tokenStart = start;
    this.tokenEnd = end;
  }

  /** Blank text stays in the table, any other goes before it. */
  #insertTableText(): void {
    const runs = this.#tableText.splice(0);
    this.fosters = !runs.every(isBlankText);
    for (const run of runs) {
      if (this.fosters) this.insertContentText(run);
      else this.insertText(run);
    }
    this.fosters = false;
  }
}

function applyRule({ startTags, endTags }: InsertionMode, builder: TreeBuilder, tag: Tag): void {
  (tag.isEndTag ? endTags : startTags)[tag.name.id]?.(builder, tag);
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
