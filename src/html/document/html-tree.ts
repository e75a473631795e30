import { html, type Token, type TreeAdapter, type TreeAdapterTypeMap } from "parse5";
import { Attributes, noAttributes } from "./attributes.ts";
import { type DisplacedText, hasEndTag } from "./element-span.ts";
import {
  appendChild,
  CommentNode,
  DoctypeNode,
  RootNode,
  SourceElement,
  type TagObserver,
  TemplateElement,
  TextNode,
  type TreeChild,
  type TreeNode,
  type TreeParent,
} from "./html-nodes.ts";
import { ParseBudget } from "./parse-budget.ts";
import { SourceTexts } from "./source-texts.ts";

/** Node types of the tree, in the terms of parse5. */
export type HtmlTreeTypes = TreeAdapterTypeMap<
  TreeNode,
  TreeParent,
  TreeChild,
  RootNode,
  RootNode,
  SourceElement,
  CommentNode,
  TextNode,
  TemplateElement,
  DoctypeNode
>;

// parse5 only asks whether a location is there, and whether it has an end tag.
const someLocation = {} as Token.ElementLocation;
const closedLocation = { endTag: {} } as Token.ElementLocation;

/**
 * Builds the nodes of parse5's tree construction. Of each location object only the offsets stay, which halves
 * the memory of a tree. One adapter serves one parse.
 */
export class HtmlTreeAdapter implements TreeAdapter<HtmlTreeTypes> {
  /** Every element that a start tag made, in the order of the source. */
  readonly elements: SourceElement[] = [];
  readonly displaced: DisplacedText[] = [];
  readonly texts: SourceTexts;
  /** Where the last start tag begins. */
  tagStart = 0;
  readonly #observer: TagObserver | undefined;
  readonly #offsets = new WeakMap<readonly Token.Attribute[], number>();
  #isTagUsed = false;
  readonly #budget: ParseBudget;
  readonly #names = new Map<string, string>();
  #lastStart = -1;
  #fostered = false;
  #lastText = "";

  constructor(source: string = "", budget: ParseBudget = new ParseBudget(), observer?: TagObserver) {
    this.texts = new SourceTexts(source);
    this.#budget = budget;
    this.#observer = observer;
  }

  beginTag({ location, attrs }: Token.TagToken): void {
    this.tagStart = location?.startOffset ?? 0;
    if (this.#observer && attrs.length > 0) this.#offsets.set(attrs, this.tagStart);
    this.#isTagUsed = false;
  }

  endTag({ tagName, attrs }: Token.TagToken): void {
    if (!this.#isTagUsed) this.#observer?.ignored(tagName, attrs, this.tagStart);
  }

  onItemPush(): void {
    this.#budget.open();
  }

  /** An array that grew by `push` has room for 17 children; most elements have fewer than three. */
  onItemPop(element: SourceElement): void {
    this.#budget.close();
    element.children = element.children.slice();
  }

  createDocument(): RootNode {
    return new RootNode();
  }

  createDocumentFragment(): RootNode {
    return new RootNode();
  }

  createElement(tagName: string, namespace: html.NS, attrs: Token.Attribute[]): SourceElement {
    this.#budget.addElement(attrs.length);
    const name = this.#intern(tagName);
    const attribs = attributesOf(attrs);
    const isTemplate = name === "template" && namespace === html.NS.HTML;
    const element = isTemplate
      ? new TemplateElement(name, namespace, attribs)
      : new SourceElement(name, namespace, attribs);
    const offset = this.#observer && this.#offsets.get(attrs);
    if (offset !== undefined) this.#observer?.used(element, offset);
    return element;
  }

  createCommentNode(data: string): CommentNode {
    this.#budget.addNode();
    return new CommentNode(data);
  }

  createTextNode(value: string): TextNode {
    this.#budget.addNode();
    return new TextNode(value);
  }

  appendChild(parent: TreeParent, node: TreeChild): void {
    appendChild(parent, node);
  }

  insertBefore(parent: TreeParent, node: TreeChild, reference: TreeChild): void {
    const { prev } = reference;
    parent.children.splice(parent.children.lastIndexOf(reference), 0, node);
    node.parent = parent;
    node.prev = prev;
    node.next = reference;
    reference.prev = node;
    if (prev) prev.next = node;
  }

  insertText(parent: TreeParent, text: string): void {
    this.#lastText = text;
    const last = parent.children.at(-1);
    if (last instanceof TextNode) last.data += text;
    else this.appendChild(parent, this.createTextNode(text));
  }

  insertTextBefore(parent: TreeParent, text: string, reference: TreeChild): void {
    this.#fostered = true;
    this.#lastText = text;
    const { prev } = reference;
    if (prev instanceof TextNode) prev.data += text;
    else this.insertBefore(parent, this.createTextNode(text), reference);
  }

  detachNode(node: TreeChild): void {
    const { parent, prev, next } = node;
    if (!parent) return;
    if (prev) prev.next = next;
    if (next) next.prev = prev;
    parent.children.splice(parent.children.lastIndexOf(node), 1);
    node.parent = null;
    node.prev = null;
    node.next = null;
  }

  adoptAttributes(element: SourceElement, attrs: Token.Attribute[]): void {
    this.#budget.addAttributes(attrs.length);
    this.#isTagUsed = true;
    if (element.attribs === noAttributes) element.attribs = new Attributes();
    for (const attr of attrs) element.attribs[qualifiedName(attr)] ??= attr.value;
    this.#observer?.used(element, this.tagStart);
  }

  setTemplateContent(template: TemplateElement, content: RootNode): void {
    template.content = content;
    content.parent = template;
  }

  getTemplateContent(template: TemplateElement): RootNode {
    return template.content;
  }

  setDocumentType(document: RootNode, name: string, publicId: string, systemId: string): void {
    this.appendChild(document, new DoctypeNode(name, publicId, systemId));
  }

  setDocumentMode(document: RootNode, mode: html.DOCUMENT_MODE): void {
    document["x-mode"] = mode;
  }

  getDocumentMode(document: RootNode): html.DOCUMENT_MODE {
    return document["x-mode"] as html.DOCUMENT_MODE;
  }

  /** Called once for each node, with the location of its start tag or of its first characters. */
  setNodeSourceCodeLocation(node: TreeNode, location: Token.ElementLocation | null): void {
    if (!location) return;
    const { startOffset, endOffset } = location;
    if (!(node instanceof SourceElement)) {
      this.#place(node, startOffset, endOffset);
      return;
    }
    if (startOffset === this.tagStart) this.#isTagUsed = true;
    // Error recovery makes further elements of one start tag; only the first one stands in the source.
    if (startOffset <= this.#lastStart) return;
    this.#lastStart = startOffset;
    node.startIndex = startOffset;
    node.endIndex = endOffset - 1;
    node.contentStart = endOffset;
    this.elements.push(node);
  }

  /** Called when more characters follow, or an element ends: with its end tag, or where something else closed it. */
  updateNodeSourceCodeLocation(node: TreeNode, location: Partial<Token.ElementLocation>): void {
    const { endTag, endOffset } = location;
    if (endOffset === undefined) return;
    if (!(node instanceof SourceElement)) {
      this.#place(node, node.startIndex ?? 0, endOffset);
      return;
    }
    // A `form` directly in a table is closed by its own start tag.
    if (endOffset < node.contentStart) return;
    node.endIndex = endOffset - 1;
    node.contentEnd = endTag ? endTag.startOffset : endOffset;
  }

  getNodeSourceCodeLocation(node: TreeNode): Token.ElementLocation | null {
    // The end tags of an implied `html` or `body` count as well: content goes before them.
    if (node.startIndex === null && !isPageElement(node)) return null;
    return node instanceof SourceElement && hasEndTag(node) ? closedLocation : someLocation;
  }

  getAttrList(element: SourceElement): Token.Attribute[] {
    return Object.entries(element.attribs).map(([name, value]) => ({ name, value }));
  }

  getFirstChild(node: TreeParent): TreeChild | null {
    return node.children[0] ?? null;
  }

  getChildNodes(node: TreeParent): TreeChild[] {
    return node.children;
  }

  getParentNode(node: TreeNode): TreeParent | null {
    return node.parent;
  }

  getTagName(element: SourceElement): string {
    return element.name;
  }

  getNamespaceURI(element: SourceElement): html.NS {
    return element.namespace as html.NS;
  }

  getTextNodeContent(text: TextNode): string {
    return text.data;
  }

  getCommentNodeContent(comment: CommentNode): string {
    return comment.data;
  }

  getDocumentTypeNodeName(doctype: DoctypeNode): string {
    return doctype["x-name"];
  }

  getDocumentTypeNodePublicId(doctype: DoctypeNode): string {
    return doctype["x-publicId"];
  }

  getDocumentTypeNodeSystemId(doctype: DoctypeNode): string {
    return doctype["x-systemId"];
  }

  isTextNode(node: TreeNode): node is TextNode {
    return node instanceof TextNode;
  }

  isCommentNode(node: TreeNode): node is CommentNode {
    return node instanceof CommentNode;
  }

  isDocumentTypeNode(node: TreeNode): node is DoctypeNode {
    return node instanceof DoctypeNode;
  }

  isElementNode(node: TreeNode): node is SourceElement {
    return node instanceof SourceElement;
  }

  #place(node: TreeNode, startOffset: number, endOffset: number): void {
    if (!(node instanceof TextNode)) {
      node.startIndex = startOffset;
      node.endIndex = endOffset - 1;
      return;
    }
    this.texts.added(node, this.#lastText, startOffset, endOffset);
    const { parent } = node;
    if (!parent) return;
    const isLate = parent instanceof SourceElement && parent.contentEnd !== -1 && this.#lastText.trim() !== "";
    if (this.#fostered || isLate) this.displaced.push({ offset: endOffset - 1, parent });
    this.#fostered = false;
  }

  /** Tag names come as new strings each time; a tree of thousands needs each of them once. */
  #intern(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#names.set(name, name);
    return name;
  }
}

function isPageElement(node: TreeNode): boolean {
  return node instanceof SourceElement && (node.name === "body" || node.name === "html");
}

function attributesOf(attrs: readonly Token.Attribute[]): Record<string, string> {
  if (attrs.length === 0) return noAttributes;
  const attributes = new Attributes();
  for (const attr of attrs) attributes[qualifiedName(attr)] = attr.value;
  return attributes;
}

/** `xlink:href` under its whole name: `[href]` selects attributes without a namespace only. */
function qualifiedName({ prefix, name }: Token.Attribute): string {
  return prefix ? `${prefix}:${name}` : name;
}
