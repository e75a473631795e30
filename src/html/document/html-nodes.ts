import { Attributes, noAttributes, readAttributes } from "../tokenizer/attributes.ts";
import { attributeNamesIn, htmlNamespace } from "./html-names.ts";

export type TreeNode = TreeChild | RootNode;
export type TreeChild = SourceElement | TextNode | CommentNode | DoctypeNode;
/** What can contain nodes. The parent of a template's content is the template. */
export type TreeParent = SourceElement | RootNode;

/**
 * The links and the place in the source of a node; both offsets are `null` where it has no characters of its own. The
 * constructors set the fields: definitions here, for all kinds of nodes, would double the time of a parse.
 */
class LinkedNode {
  declare parent: TreeParent | null;
  declare prev: TreeChild | null;
  declare next: TreeChild | null;
  declare startIndex: number | null;
  declare endIndex: number | null;
}

const unlinked = { parent: null, prev: null, next: null, startIndex: null, endIndex: null };

/** An element and where it stands in the source: not at all where it is implied, or re-parented by error recovery. */
export class SourceElement extends LinkedNode {
  declare readonly name: string;
  declare readonly namespace: string;
  declare children: TreeChild[];
  /** Offset behind the start tag; `-1` if the source has no start tag. */
  declare contentStart: number;
  /** Offset of the end tag, or the end of the element where the end tag is left out; `-1` where there is no content. */
  declare contentEnd: number;
  /** The attributes, or the source whose start tag has them, until they are asked for. */
  declare private ownAttributes: Record<string, string> | string;

  /** `attributes` may be the source that `startIndex`, which has to be set then, counts in. */
  constructor(name: string, namespace: string, attributes: Record<string, string> | string) {
    super();
    this.parent = null;
    this.prev = null;
    this.next = null;
    this.startIndex = null;
    this.endIndex = null;
    this.name = name;
    this.namespace = namespace;
    this.ownAttributes = attributes;
    this.children = [];
    this.contentStart = -1;
    this.contentEnd = -1;
  }

  get type(): "tag" {
    return "tag";
  }

  get attribs(): Record<string, string> {
    const attributes = this.ownAttributes;
    if (typeof attributes !== "string") return attributes;
    const rename = isHtmlElement(this) ? undefined : attributeNamesIn(this.namespace);
    const read = readAttributes(attributes, this.startIndex ?? 0, rename);
    this.ownAttributes = read;
    return read;
  }

  set attribs(attributes: Record<string, string>) {
    this.ownAttributes = attributes;
  }

  /** An element like this one, without a place and without content. */
  twin(): SourceElement {
    const Kind = this instanceof TemplateElement ? TemplateElement : SourceElement;
    const { name, namespace, attribs } = this;
    // Further tags may give attributes to these two.
    const mayGetMore = attribs !== noAttributes && (name === "html" || name === "body");
    return new Kind(name, namespace, mayGetMore ? Object.assign(new Attributes(), attribs) : attribs);
  }

  /** The element stands further on, in another source. */
  moveBy(shift: number, source: string): void {
    if (typeof this.ownAttributes === "string") this.ownAttributes = source;
    if (this.startIndex !== null) this.startIndex += shift;
    if (this.endIndex !== null) this.endIndex += shift;
    if (this.contentStart !== -1) this.contentStart += shift;
    if (this.contentEnd !== -1) this.contentEnd += shift;
  }

  /** Attributes are read in this source when they are asked for, as far as the start tag has them all. */
  readAgainIn(source: string): void {
    // Further tags may give attributes to these two.
    const isComplete = this.startIndex !== null && this.name !== "html" && this.name !== "body";
    if (isComplete && this.ownAttributes !== noAttributes) this.ownAttributes = source;
  }

  /** The element has no characters of its own; what its start tag says of it stays. */
  forgetSpan(): void {
    this.ownAttributes = this.attribs;
    this.startIndex = null;
    this.endIndex = null;
  }
}

/** A `template`: its content is a tree of its own, which selectors do not search. */
export class TemplateElement extends SourceElement {
  readonly content: RootNode = new RootNode();

  constructor(name: string, namespace: string, attributes: Record<string, string> | string) {
    super(name, namespace, attributes);
    this.content.parent = this;
  }
}

class DataNode extends LinkedNode {
  declare data: string;

  constructor(data: string) {
    super();
    this.parent = null;
    this.prev = null;
    this.next = null;
    this.startIndex = null;
    this.endIndex = null;
    this.data = data;
  }
}

export class TextNode extends DataNode {
  get type(): "text" {
    return "text";
  }
}

export class CommentNode extends DataNode {
  get type(): "comment" {
    return "comment";
  }
}

export class DoctypeNode extends LinkedNode {
  readonly name: string;
  readonly publicId: string;
  readonly systemId: string;

  constructor(name: string, publicId: string, systemId: string) {
    super();
    Object.assign(this, unlinked);
    this.name = name;
    this.publicId = publicId;
    this.systemId = systemId;
  }

  get type(): "doctype" {
    return "doctype";
  }
}

/** A document, or the content of a template or a fragment. */
export class RootNode extends LinkedNode {
  children: TreeChild[] = [];
  /** The document mode (DOM Standard, 4.5): `"quirks"` makes ids and classes match in any case. */
  mode: "no-quirks" | "quirks" | "limited-quirks" = "no-quirks";

  constructor() {
    super();
    Object.assign(this, unlinked);
  }

  get type(): "root" {
    return "root";
  }
}

/** What the children of an element belong to: of a `template`, its content. */
export function contentParent(element: SourceElement): TreeParent;
export function contentParent(element: SourceElement | undefined): TreeParent | undefined;
export function contentParent(element: SourceElement | undefined): TreeParent | undefined {
  return element instanceof TemplateElement ? element.content : element;
}

/** Makes a node without a parent the last child of another one. */
export function appendChild(parent: TreeParent, node: TreeChild): void {
  const { children } = parent;
  linkNodes(children[children.length - 1] ?? null, node);
  children.push(node);
  node.parent = parent;
}

/** Puts a node without a parent before one that has one. */
export function insertChildBefore(reference: TreeChild, node: TreeChild): void {
  const { parent, prev } = reference;
  if (!parent) return;
  linkNodes(prev, node);
  linkNodes(node, reference);
  parent.children.splice(parent.children.lastIndexOf(reference), 0, node);
  node.parent = parent;
}

export function detachChild(node: TreeChild): void {
  const { parent, prev, next } = node;
  if (!parent) return;
  linkNodes(prev, next);
  parent.children.splice(parent.children.lastIndexOf(node), 1);
  node.parent = null;
  node.prev = null;
  node.next = null;
}

/** Moves all children of one parent to another one without children. */
export function moveChildren(from: TreeParent, to: TreeParent): void {
  for (const node of from.children) node.parent = to;
  to.children = from.children;
  from.children = [];
}

export function linkNodes(previous: TreeChild | null, next: TreeChild | null): void {
  if (previous) previous.next = next;
  if (next) next.prev = previous;
}

export function isHtmlElement({ namespace }: SourceElement): boolean {
  return namespace === htmlNamespace;
}

/** The next node in document order that lies below `root`; descends into elements, not into template contents. */
export function nextNode(node: TreeNode, root: TreeNode): TreeChild | null {
  const firstChild = "children" in node ? node.children[0] : undefined;
  if (firstChild) return firstChild;
  let current = node;
  while (current !== root) {
    if (current.next) return current.next;
    if (!current.parent) return null;
    current = current.parent;
  }
  return null;
}

/** All elements below a node, in document order; descends as {@link nextNode} does. */
export function* elementsBelow(root: TreeNode): Generator<SourceElement> {
  for (let node = nextNode(root, root); node; node = nextNode(node, root))
    if (node instanceof SourceElement) yield node;
}

/** The text in a node, but for that of template contents. */
export function textContent(root: TreeNode): string {
  let text = "";
  for (let node = nextNode(root, root); node; node = nextNode(node, root))
    if (node instanceof TextNode) text += node.data;
  return text;
}
