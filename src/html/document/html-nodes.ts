import { Comment, Document, Element, ProcessingInstruction, Text } from "domhandler";
import { Attributes, noAttributes, readAttributes } from "../tokenizer/attributes.ts";
import { attributeNamesIn, htmlNamespace } from "./html-names.ts";

/** A node of the tree. */
export type TreeNode = SourceElement | TextNode | CommentNode | DoctypeNode | RootNode;
/** What a node can contain. */
export type TreeChild = SourceElement | TextNode | CommentNode | DoctypeNode;
/** What can contain nodes. The parent of a template's content is the template. */
export type TreeParent = SourceElement | RootNode;

/**
 * A class of domhandler without its constructor: the same prototype, so that `instanceof` and every accessor hold, and
 * no fields. domhandler's field definitions cost a seventh of the parsing time and five words for each element; the
 * fields that these nodes have are set by assignment, in one order, which V8 makes fast.
 */
type WithoutFields<Node> = new () => Omit<Node, "type" | "attribs">;

function withoutFields<Node extends object>(base: new (...args: never[]) => Node): WithoutFields<Node> {
  function Bare(): void {}
  Bare.prototype = base.prototype;
  return Bare as unknown as WithoutFields<Node>;
}

const BareElement: WithoutFields<Element> = withoutFields(Element);
const BareText: WithoutFields<Text> = withoutFields(Text);
const BareComment: WithoutFields<Comment> = withoutFields(Comment);

/**
 * An element and where it stands in the source. `startIndex` and `endIndex` are `null` where it has no characters of
 * its own: implied, or re-parented by error recovery.
 */
export class SourceElement extends BareElement {
  declare readonly name: string;
  declare readonly namespace: string;
  declare children: TreeChild[];
  declare parent: TreeParent | null;
  declare prev: TreeChild | null;
  declare next: TreeChild | null;
  /** Offset behind the start tag; `-1` where the source has none. */
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

  get type(): Element["type"] {
    return elementTypes[this.name] ?? tagType;
  }
}

/** A `template`: its content is a tree of its own, which selectors do not search. */
export class TemplateElement extends SourceElement {
  content: RootNode = new RootNode();

  constructor(name: string, namespace: string, attributes: Record<string, string> | string) {
    super(name, namespace, attributes);
    this.content.parent = this;
  }
}

export class TextNode extends BareText {
  declare parent: TreeParent | null;
  declare prev: TreeChild | null;
  declare next: TreeChild | null;

  constructor(data: string) {
    super();
    this.parent = null;
    this.prev = null;
    this.next = null;
    this.startIndex = null;
    this.endIndex = null;
    this.data = data;
  }

  get type(): Text["type"] {
    return "text" as Text["type"];
  }
}

export class CommentNode extends BareComment {
  declare parent: TreeParent | null;
  declare prev: TreeChild | null;
  declare next: TreeChild | null;

  constructor(data: string) {
    super();
    this.parent = null;
    this.prev = null;
    this.next = null;
    this.startIndex = null;
    this.endIndex = null;
    this.data = data;
  }

  get type(): Comment["type"] {
    return "comment" as Comment["type"];
  }
}

/** A doctype, as domhandler has it: a directive whose name, public and system identifier stand in `x-` fields. */
export class DoctypeNode extends ProcessingInstruction {
  declare parent: TreeParent | null;
  declare prev: TreeChild | null;
  declare next: TreeChild | null;
  declare "x-name": string;
  declare "x-publicId": string;
  declare "x-systemId": string;

  constructor(name: string, publicId: string, systemId: string) {
    super("!doctype", doctypeText(name, publicId, systemId));
    this["x-name"] = name;
    this["x-publicId"] = publicId;
    this["x-systemId"] = systemId;
  }
}

/** A document, or the content of a template or a fragment. */
export class RootNode extends Document {
  declare children: TreeChild[];
  declare parent: TreeParent | null;
  declare prev: null;
  declare next: null;
  /** The document mode (DOM Standard, 4.5): `"quirks"` makes ids and classes match in any case. */
  declare "x-mode": NonNullable<Document["x-mode"]>;

  constructor() {
    super([]);
    this["x-mode"] = "no-quirks";
  }
}

const tagType = "tag" as Element["type"];
const elementTypes: Readonly<Record<string, Element["type"] | undefined>> = Object.assign(Object.create(null), {
  script: "script",
  style: "style",
});

/** Is told what becomes of each start tag. */
export interface TagObserver {
  /** The tag at `offset` made an element, or gave it attributes. Error recovery may make several of one tag. */
  used(element: SourceElement, offset: number): void;
  /** Error recovery made a further element like another one. */
  copied(original: SourceElement, copy: SourceElement): void;
  /** The tag made no element, such as a `<td>` outside of tables. */
  ignored(name: string, attributes: readonly string[], offset: number): void;
}

/** Makes a node without a parent the last child of another one. */
export function appendChild(parent: TreeParent, node: TreeChild): void {
  const last = parent.children.at(-1);
  if (last) {
    last.next = node;
    node.prev = last;
  }
  parent.children.push(node);
  node.parent = parent;
}

/** What stands between `<` and `>` of a doctype, as it is written in full. */
function doctypeText(name: string, publicId: string, systemId: string): string {
  const keyword = publicId ? ` PUBLIC "${publicId}"` : systemId ? " SYSTEM" : "";
  return `!DOCTYPE ${name}${keyword}${systemId ? ` "${systemId}"` : ""}`;
}

/** Whether an element is one of HTML, not of SVG or MathML. */
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
