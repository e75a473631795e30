import type { QuoteType, TokenizerCallbacks } from "htmlparser2";
import {
  appendChild,
  CommentNode,
  type DoctypeNode,
  RootNode,
  SourceElement,
  TemplateElement,
  TextNode,
  type TreeChild,
} from "./html-nodes.ts";
import type { ParseBudget } from "./parse-budget.ts";
import { isXmlDeclaration } from "./xml-doctype.ts";
import type { XmlEntities } from "./xml-entities.ts";
import { declarationsIn, NamespaceScope, qualifiedName, XmlProblem } from "./xml-names.ts";
import { XmlStartTag } from "./xml-start-tag.ts";

/** What is allowed where the source stands. */
export interface XmlContext {
  /** Whether it is a whole document: one element, and no text beside it. */
  readonly isDocument: boolean;
  readonly entities: XmlEntities;
  readonly scope: NamespaceScope;
}

const htmlNamespace = "http://www.w3.org/1999/xhtml";

const blank = /^[ \t\r\n]*$/;
const lineEnd = /\r\n?/g;
const endOfEndTag = /[ \t\r\n]*>/y;
const target = /^[^ \t\r\n]*/;

// XML 1.0, §3.3.3: white space is spaces, unless it was written as a reference.
const blankInValue = /\r\n|[\t\r\n]/g;

/** Longer text becomes several nodes, so that resolving its references does not hold the event loop. */
const longText = 64 * 1024;

/** Most characters of a reference. */
const longReference = 260;
const unfinishedTail = /(?:&[^;&]*|\]{1,2}|\r)$/;

/**
 * Builds a tree from what htmlparser2's tokenizer finds in XML mode. That takes nearly everything; here each token must be
 * what XML 1.0 and Namespaces in XML make of it, and stand directly behind the one before. Throws an {@link XmlProblem}
 * otherwise.
 *
 * Element names are local names, attribute names are whole ones. A processing instruction is a comment to the tree.
 */
export class XmlTreeBuilder implements TokenizerCallbacks {
  readonly root: RootNode = new RootNode();
  /** Where the tokenizer's offset 0 is in the source. */
  base = 0;
  readonly #source: string;
  readonly #budget: ParseBudget;
  readonly #isDocument: boolean;
  #entities: XmlEntities;
  /** Where the next token has to begin. */
  #position = 0;
  #textStart = -1;
  #tag: XmlStartTag;
  readonly #open: { readonly element: SourceElement; readonly tagName: string; readonly scope: NamespaceScope }[] = [];
  readonly #scope: NamespaceScope;

  constructor(source: string, { isDocument, entities, scope }: XmlContext, budget: ParseBudget) {
    this.#source = source;
    this.#isDocument = isDocument;
    this.#entities = entities;
    this.#scope = scope;
    this.#budget = budget;
    this.#tag = new XmlStartTag(source, 0, 0);
  }

  /** A document type declaration was read up to `end`; its entities are known from here on. */
  addDoctype(node: DoctypeNode, end: number, entities: XmlEntities): void {
    this.#beginToken(node.startIndex ?? 0);
    this.#append(node);
    this.#entities = entities;
    this.#position = end;
  }

  /** The source is at its end. */
  finish(): RootNode {
    this.#endText();
    if (this.#position < this.#source.length) {
      throw new XmlProblem("a tag, a comment or something like it is not closed", this.#position);
    }
    const open = this.#open.at(-1);
    if (open) throw new XmlProblem(`<${open.tagName}> is not closed`, open.element.startIndex ?? 0);
    if (this.#isDocument && !this.#hasElement()) throw new XmlProblem("there is no element", this.#source.length);
    return this.root;
  }

  ontext(start: number, end: number): void {
    if (this.#textStart === -1) {
      this.#expect(start + this.base);
      this.#textStart = start + this.base;
    }
    this.#position = end + this.base;
    if (this.#position - this.#textStart > longText) this.#endTextPart();
  }

  onopentagname(start: number, end: number): void {
    this.#beginToken(start + this.base - 1);
    this.#budget.checkTag(0, end - start);
    this.#tag = new XmlStartTag(this.#source, start + this.base - 1, end + this.base);
  }

  onattribname(start: number, end: number): void {
    this.#budget.checkTag(this.#tag.attributeCount, end - start);
    this.#tag.beginAttribute(start + this.base, end + this.base);
  }

  onattribdata(start: number): void {
    this.#tag.addValue(start + this.base);
  }

  onattribend(quote: QuoteType, end: number): void {
    this.#tag.endAttribute(quote, end + this.base);
  }

  onopentagend(index: number): void {
    this.#tag.end(index + this.base);
    this.#openElement(index + this.base + 1);
  }

  onselfclosingtag(index: number): void {
    this.#tag.end(index + this.base - 1);
    this.#openElement(index + this.base + 1);
    this.#closeElement();
  }

  onclosetag(start: number, end: number): void {
    const tagStart = start + this.base - 2;
    this.#beginToken(tagStart);
    const name = this.#slice(start, end);
    const open = this.#open.at(-1);
    if (!open) throw new XmlProblem(`</${name}> closes nothing`, tagStart);
    if (open.tagName !== name)
      throw new XmlProblem(`</${name}> stands where <${open.tagName}> should be closed`, tagStart);
    endOfEndTag.lastIndex = end + this.base;
    if (!endOfEndTag.test(this.#source)) throw new XmlProblem("a tag is broken", tagStart);
    this.#position = endOfEndTag.lastIndex;
    open.element.contentEnd = tagStart;
    this.#closeElement();
  }

  oncomment(start: number, end: number): void {
    const from = start + this.base - 4;
    this.#beginToken(from);
    const closing = end + this.base - 2;
    if (!this.#source.startsWith("-->", closing))
      throw new XmlProblem("a comment is not closed, or has -- in it", from);
    const data = this.#source.slice(start + this.base, closing);
    if (data.includes("--") || data.endsWith("-")) throw new XmlProblem("a comment has -- in it", from);
    this.#appendNode(new CommentNode(data.replace(lineEnd, "\n")), from, closing + 3);
  }

  onprocessinginstruction(start: number, end: number): void {
    const from = start + this.base - 2;
    this.#beginToken(from);
    const data = this.#slice(start, end);
    const name = target.exec(data)?.[0] ?? "";
    if (!qualifiedName(name)) throw new XmlProblem("a processing instruction has no name", from);
    if (name.toLowerCase() !== "xml") {
      this.#appendNode(new CommentNode(`?${data}?`), from, end + this.base + 2);
      return;
    }
    if (!this.#isDocument || from !== 0)
      throw new XmlProblem("an XML declaration can stand only at the very beginning", from);
    if (!isXmlDeclaration(data)) throw new XmlProblem("the XML declaration is broken", from);
    this.#position = end + this.base + 2;
  }

  oncdata(start: number, end: number): void {
    const from = start + this.base - 9;
    this.#beginToken(from);
    const closing = end + this.base - 2;
    if (!this.#source.startsWith("]]>", closing)) throw new XmlProblem("a CDATA section is not closed", from);
    if (this.#isOutside()) throw this.#textOutside(from);
    const data = this.#source.slice(start + this.base, closing);
    this.#appendNode(new TextNode(data.replace(lineEnd, "\n")), from, closing + 3);
  }

  ondeclaration(start: number): void {
    throw new XmlProblem("a declaration cannot stand here", start + this.base - 2);
  }

  // References are resolved here, and `finish` sees what is incomplete.
  onattribentity(): void {}
  ontextentity(): void {}
  onend(): void {}

  #beginToken(start: number): void {
    this.#endText();
    this.#expect(start);
  }

  #expect(start: number): void {
    if (start !== this.#position) throw new XmlProblem("a < must be written as &lt;", this.#position);
  }

  #endText(): void {
    if (this.#textStart === -1) return;
    this.#addText(this.#textStart, this.#position);
    this.#textStart = -1;
  }

  /** Not within a reference, a line end, or what might become `]]>`. */
  #endTextPart(): void {
    const tail = this.#source.slice(Math.max(this.#position - longReference, this.#textStart), this.#position);
    const unfinished = unfinishedTail.exec(tail)?.[0].length ?? 0;
    const position = this.#position;
    this.#addText(this.#textStart, position - unfinished);
    this.#textStart = position - unfinished;
    this.#position = position;
  }

  #addText(start: number, end: number): void {
    const raw = this.#source.slice(start, end);
    if (this.#isOutside()) {
      if (!blank.test(raw)) throw this.#textOutside(start);
      return;
    }
    const tag = raw.indexOf("<");
    if (tag >= 0) throw new XmlProblem("a < must be written as &lt;", start + tag);
    const cdataEnd = raw.indexOf("]]>");
    if (cdataEnd >= 0) throw new XmlProblem("]]> must be written as ]]&gt;", start + cdataEnd);
    this.#appendNode(new TextNode(this.#resolved(raw, start, lineEnd, "\n")), start, end);
  }

  #openElement(end: number): void {
    const { name: tagName, start } = this.#tag;
    const qualified = qualifiedName(tagName);
    if (!qualified) throw new XmlProblem(`<${tagName.slice(0, 40)}> is no name`, start);
    if (this.#isOutside() && this.#hasElement()) throw new XmlProblem("there is a second root element", start);
    const attribs = this.#tag.readAttributes((from, to) => {
      const raw = this.#source.slice(from, to);
      if (raw.includes("&")) this.#budget.checkReferences(raw.length);
      return this.#resolved(raw, from, blankInValue, " ");
    });
    const outer = this.#open.at(-1)?.scope ?? this.#scope;
    const declared = declarationsIn(attribs, start);
    const scope = declared ? new NamespaceScope(declared, outer) : outer;
    const namespace = scope.find(qualified.prefix);
    if (namespace === undefined) throw new XmlProblem(`the prefix ${qualified.prefix} is not declared`, start);
    this.#tag.checkPrefixes(scope);

    this.#budget.addElement(this.#tag.attributeCount);
    this.#budget.checkDepth(this.#open.length + 1);
    const isTemplate = qualified.local === "template" && namespace === htmlNamespace;
    const element = new (isTemplate ? TemplateElement : SourceElement)(qualified.local, namespace, attribs);
    element.startIndex = start;
    element.contentStart = end;
    this.#append(element);
    this.#position = end;
    this.#open.push({ element, tagName, scope });
  }

  #closeElement(): void {
    const element = this.#open.pop()?.element;
    if (!element) return;
    element.endIndex = this.#position - 1;
    element.children = element.children.slice(); // without the room that a growing array keeps
  }

  #appendNode(node: TextNode | CommentNode, start: number, end: number): void {
    this.#budget.addNode();
    node.startIndex = start;
    node.endIndex = end - 1;
    this.#append(node);
    this.#position = end;
  }

  #append(node: TreeChild): void {
    const parent = this.#open.at(-1)?.element ?? this.root;
    appendChild(parent instanceof TemplateElement ? parent.content : parent, node);
  }

  /** A piece of the source with white space in its normal form and references resolved. */
  #resolved(raw: string, start: number, space: RegExp, instead: string): string {
    try {
      return this.#entities.resolve(raw.replace(space, instead));
    } catch (error) {
      throw error instanceof XmlProblem ? new XmlProblem(error.message, start + this.#problemIn(raw)) : error;
    }
  }

  /** Where the reference is that cannot be resolved, before line ends became shorter. */
  #problemIn(raw: string): number {
    try {
      this.#entities.resolve(raw);
      return 0;
    } catch (error) {
      return error instanceof XmlProblem ? error.offset : 0;
    }
  }

  #isOutside(): boolean {
    return this.#isDocument && this.#open.length === 0;
  }

  #hasElement(): boolean {
    return this.root.children.some((child) => child instanceof SourceElement);
  }

  #textOutside(offset: number): XmlProblem {
    return new XmlProblem("text cannot stand beside the root element", offset);
  }

  #slice(start: number, end: number): string {
    return this.#source.slice(start + this.base, end + this.base);
  }
}
