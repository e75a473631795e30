import type { Displacement } from "../document/element-span.ts";
import { htmlNamespace, svgElementName, svgNamespace } from "../document/html-names.ts";
import {
  appendChild,
  CommentNode,
  contentParent,
  DoctypeNode,
  detachChild,
  insertChildBefore,
  RootNode,
  SourceElement,
  TemplateElement,
  TextNode,
  type TreeChild,
  type TreeParent,
} from "../document/html-nodes.ts";
import type { ParseBudget } from "../document/parse-budget.ts";
import { Attributes, noAttributes } from "../tokenizer/attributes.ts";
import type { Tag, TagName } from "../tokenizer/tokens.ts";
import { type FormattingElements, type OpenElement, OpenElements } from "./open-elements.ts";
import type { ParserState } from "./parser-state.ts";
import { openTagOf, tagNamed, trait, traitsOf } from "./tags.ts";
import { isBlankText, SourceTexts, type TextRun } from "./text-run.ts";

const table = tagNamed("table");
const template = tagNamed("template");

/** Where a node goes: into a parent, before one of its children or at its end. */
export interface InsertionPlace {
  readonly parent: TreeParent;
  readonly before: TreeChild | null;
}

/** Makes the nodes of a tree and places them (HTML Standard, 13.2.6.1), each with its place in the source. */
export class TreeWriter {
  readonly root: RootNode = new RootNode();
  /** States of the parse, in the order of the source; from each of them it can go on. */
  readonly states: ParserState[] = [];
  readonly open: OpenElements;
  readonly formatting: FormattingElements = [];
  /** Every element that a start tag made, in the order of the source. */
  readonly elements: SourceElement[] = [];
  readonly displaced: Displacement[] = [];
  readonly copies: Map<SourceElement, number> = new Map<SourceElement, number>();
  readonly texts: SourceTexts;
  readonly source: string;
  /** "Foster parenting": what does not belong into a table goes before it. */
  fosters = false;
  /** Whether no more is parsed than an edit has changed. */
  isPart = false;
  /** Where the parse has gone on from a state of an older one. */
  resumedAt = 0;
  /** Whether it has changed what was built before. */
  hasReachedBack = false;
  /** Where the token stands that is being processed. */
  tokenStart = 0;
  protected tokenEnd = 0;
  /** Its name, where it is an end tag. */
  protected endTagName: string | undefined;
  /** What the tag that is being processed has made, or given its attributes to. */
  protected taggedElement: SourceElement | undefined;
  readonly budget: ParseBudget;

  constructor(source: string, budget: ParseBudget) {
    this.source = source;
    this.texts = new SourceTexts(source);
    this.budget = budget;
    this.open = new OpenElements(
      (depth) => budget.checkDepth(depth),
      (element) => this.close(element),
    );
  }

  /** The element in which the parser is; `undefined` only at the end of a document. */
  get current(): SourceElement | undefined {
    return this.open.current;
  }

  get lastChild(): TreeChild | null {
    return (contentParent(this.current) ?? this.root).children.at(-1) ?? null;
  }

  get isInForeignContent(): boolean {
    const { current } = this.open;
    return current !== undefined && current.namespace !== htmlNamespace;
  }

  /** Inserts an HTML element for a start tag; it is open then. */
  insertElement(tag: Tag): SourceElement {
    const { name } = tag;
    const element = this.elementOf(tag, name.name, htmlNamespace, name === template);
    this.insert(element);
    this.open.push(element, name);
    return element;
  }

  /** Inserts an HTML element that has no content, and is not open; `image` has another name than its tag. */
  insertVoid(tag: Tag, name: TagName = tag.name): void {
    this.insert(this.elementOf(tag, name.name, htmlNamespace, false));
  }

  /** Inserts an element of SVG or MathML, which is open unless its tag closes itself. */
  insertForeign(tag: Tag, namespace: string): void {
    const name = namespace === svgNamespace ? svgElementName(tag.name.name) : tag.name.name;
    const element = this.elementOf(tag, name, namespace, false);
    this.insert(element);
    if (!tag.isSelfClosing) this.open.push(element, openTagOf(namespace, name));
  }

  /** Inserts an HTML element that has no tag in the source. */
  insertImplied(name: TagName): SourceElement {
    this.budget.addElement(0);
    const element = new SourceElement(name.name, htmlNamespace, noAttributes);
    this.insert(element);
    this.open.push(element, name);
    return element;
  }

  /** Opens the formatting elements again that were closed while they were not ended. */
  reconstructFormatting(): void {
    const { formatting, open } = this;
    if (formatting.length === 0) return;
    this.budget.addTag(open.length, 0);
    let index = formatting.findLastIndex((entry) => !entry || open.indexOfElement(entry.element) >= 0);
    for (index += 1; index < formatting.length; index += 1) {
      const { element: original, tag } = formatting[index] as OpenElement;
      const element = this.copyOf(original);
      this.insert(element);
      open.push(element, tag);
      formatting[index] = { element, tag };
    }
  }

  /** One more element like another one: formatting goes on in the next paragraph. */
  copyOf(original: SourceElement): SourceElement {
    this.budget.addElement(0);
    const { name, namespace, attribs, startIndex } = original;
    const element = new SourceElement(name, namespace, attribs);
    this.copies.set(element, startIndex ?? this.copies.get(original) ?? 0);
    return element;
  }

  /** The element of a start tag, not inserted yet. */
  protected elementOf(tag: Tag, name: string, namespace: string, isTemplate: boolean): SourceElement {
    this.budget.addElement(tag.attributeCount);
    const attributes = tag.attributeCount === 0 ? noAttributes : this.source;
    const element = isTemplate
      ? new TemplateElement(name, namespace, attributes)
      : new SourceElement(name, namespace, attributes);
    element.startIndex = tag.start;
    element.endIndex = tag.end - 1;
    element.contentStart = tag.end;
    this.elements.push(element);
    this.taggedElement = element;
    return element;
  }

  insert(node: TreeChild): void {
    if (this.fosters && this.open.currentHas(trait.fosters)) {
      const place = this.fosterPlace();
      this.insertAt(place, node);
      // `</p>` and `</br>` make elements, too.
      if (this.endTagName !== undefined) this.displaced.push({ offset: this.tokenStart, parent: place.parent });
    } else appendChild(contentParent(this.current) ?? this.root, node);
  }

  /** Puts a node where the parser may not be: what was built behind that place is not what it was. */
  insertAt({ parent, before }: InsertionPlace, node: TreeChild): void {
    const isOpen = !(parent instanceof SourceElement) || this.open.indexOfElement(parent) >= 0;
    if (before || !isOpen) this.forgetStatesBehind(startOf(isOpen && before ? before : parent));
    if (before) insertChildBefore(before, node);
    else appendChild(parent, node);
  }

  detach(node: TreeChild): void {
    this.forgetStatesBehind(startOf(node));
    detachChild(node);
  }

  /** The appropriate place for inserting a node, with a given target. */
  placeIn(target: SourceElement, targetTag: TagName): InsertionPlace {
    return (traitsOf(targetTag) & trait.fosters) !== 0
      ? this.fosterPlace()
      : { parent: contentParent(target) ?? this.root, before: null };
  }

  /** Before the table; in a template without a table, in the template. */
  fosterPlace(): InsertionPlace {
    const { open } = this;
    const [tableIndex, templateIndex] = [open.indexOf(table), open.indexOf(template)];
    const element = open.elementAt(tableIndex);
    if (tableIndex > templateIndex && element?.parent) return { parent: element.parent, before: element };
    const holder = open.elementAt(Math.max(templateIndex, tableIndex - 1, 0));
    return { parent: contentParent(holder) ?? this.root, before: null };
  }

  insertText(run: TextRun): void {
    const isFostered = this.fosters && this.open.currentHas(trait.fosters);
    const place = isFostered ? this.fosterPlace() : { parent: contentParent(this.current) ?? this.root, before: null };
    const { parent, before } = place;
    if (parent === this.root) return; // a document has no text of its own
    const previous = before ? before.prev : parent.children.at(-1);
    if (previous instanceof TextNode) {
      this.forgetStatesBehind(previous.startIndex ?? 0);
      this.texts.extend(previous, run);
    } else {
      this.budget.addNode();
      const text = new TextNode(run.data);
      text.startIndex = run.start;
      text.endIndex = run.end - 1;
      if (!run.isVerbatim) this.texts.add(text);
      if (before) this.insertAt(place, text);
      else appendChild(parent, text);
    }
    const isLate = parent instanceof SourceElement && parent.contentEnd !== -1 && !isBlankText(run);
    if (this.fosters || isLate) this.displaced.push({ offset: run.end - 1, parent });
  }

  insertComment(data: string, start: number, end: number, parent?: TreeParent): void {
    this.budget.addNode();
    const comment = new CommentNode(data);
    comment.startIndex = start;
    comment.endIndex = end - 1;
    if (parent) {
      appendChild(parent, comment);
      this.displaced.push({ offset: start, parent });
    } else this.insert(comment);
  }

  insertDoctype(name: string, publicId: string, systemId: string, start: number, end: number): void {
    this.budget.addNode();
    const doctype = new DoctypeNode(name, publicId, systemId);
    doctype.startIndex = start;
    doctype.endIndex = end - 1;
    appendChild(this.root, doctype);
  }

  /** The attributes of a further `html` or `body` tag that the element does not have. */
  adoptAttributes(element: SourceElement, attributes: Record<string, string>): void {
    this.budget.addAttributes(Object.keys(attributes).length);
    if (element.attribs === noAttributes) element.attribs = new Attributes();
    const added = Object.entries(attributes).filter(([name]) => element.attribs[name] === undefined);
    for (const [name, value] of added) element.attribs[name] = value;
    this.forgetStatesBehind(0);
    if (added.length > 0) this.displaced.push({ offset: this.tokenStart, parent: element });
    this.taggedElement = element;
  }

  /** What was built between an offset and here is not what it was: no parse can go on from a state in between. */
  forgetStatesBehind(offset: number): void {
    if (offset < this.resumedAt) this.hasReachedBack = true;
    while ((this.states.at(-1)?.position ?? 0) > offset) this.states.pop();
  }

  /** Notes where an element ends: with its end tag, or where something else closed it. */
  markEnd(element: SourceElement): void {
    const isEndTag = this.endTagName !== undefined && isNamed(element, this.endTagName);
    const end = isEndTag ? this.tokenEnd : this.tokenStart;
    // A `form` directly in a table is closed by its own start tag.
    if (end < element.contentStart) return;
    element.endIndex = end - 1;
    element.contentEnd = this.tokenStart;
  }

  /** An element is no longer open. */
  close(element: SourceElement): void {
    freeRoom(contentParent(element));
    if (element.startIndex !== null) this.markEnd(element);
  }
}

/** Where a node begins, or what it stands in. */
export function startOf(node: TreeChild | TreeParent): number {
  for (let each: TreeChild | TreeParent | null = node; each; each = each.parent) {
    if (each.startIndex !== null) return each.startIndex;
  }
  return 0;
}

/** Gives back the room that a growing array keeps: for 17 children, while most elements have fewer than three. */
export function freeRoom(parent: TreeParent): void {
  if (parent.children.length > 0) parent.children = parent.children.slice();
}

function isNamed({ name, namespace }: SourceElement, tagName: string): boolean {
  return name === tagName || (namespace !== htmlNamespace && name.toLowerCase() === tagName);
}
