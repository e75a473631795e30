import { type DefaultTreeAdapterTypes, defaultTreeAdapter, html, Parser, type Token, type TreeAdapter } from "parse5";

type Tree = DefaultTreeAdapterTypes.DefaultTreeAdapterMap;
export type PageElement = DefaultTreeAdapterTypes.Element;
export type PageNode = DefaultTreeAdapterTypes.ChildNode;

/** So many characters are parsed at once: about a millisecond of a real page. */
const pieceLength = 16 * 1024;
/** Where browsers stop as well. The parser looks through the open elements for many a tag. */
const maxDepth = 512;
/** Twice what real pages of 5 MiB have. Without it, 5,000 characters of `<p><font>` make 130,000 nodes. */
const maxNodes = 1_000_000;
const maxAttributes = 10_000;
const microdataAttributes: ReadonlySet<string> = new Set(["itemscope", "itemtype", "itemid", "itemprop", "itemref"]);

/** Something in a page that does not say what its author must have meant, and the line where it stands. */
export interface MicrodataMistake {
  readonly line: number;
  readonly text: string;
}

/** A page that is not read to its end because it would take too much time or memory. */
export class MicrodataError extends Error {
  override readonly name = "MicrodataError";
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** What the HTML Standard makes of a page. */
export interface Page {
  /** The HTML elements with microdata attributes, each with the line of its start tag, in tree order. */
  readonly lines: ReadonlyMap<PageElement, number>;
  /** Where each element stands in the order of the tree. */
  readonly order: ReadonlyMap<PageElement, number>;
  /** The first element with each id. */
  readonly ids: ReadonlyMap<string, PageElement>;
  /** Tags with microdata attributes that came to nothing, such as a `<td>` outside of tables. */
  readonly mistakes: readonly MicrodataMistake[];
}

/** Parses a page; `yield`s every millisecond or so. Throws {@link MicrodataError}. */
export function* parsePage(source: string): Generator<void, Page> {
  const builder = new PageBuilder();
  const parser = new PageParser(builder);
  const { tokenizer } = parser;
  let position = 0;
  do {
    // What belongs to an unfinished token is copied for each piece: in pieces that grow with it, that stays linear.
    const end = position + Math.max(pieceLength, tokenizer.preprocessor.html.length >> 6);
    tokenizer.write(source.slice(position, end), end >= source.length);
    position = end;
    yield;
  } while (position < source.length);

  const lines = new Map<PageElement, number>();
  const order = new Map<PageElement, number>();
  const ids = new Map<string, PageElement>();
  for (const node of nodesBelow(parser.document)) {
    if (!isElement(node)) continue;
    if (order.size % 1024 === 0) yield;
    order.set(node, order.size);
    const id = attributeOf(node, "id");
    if (id && !ids.has(id)) ids.set(id, node);
    if (isHtml(node) && hasMicrodata(node.attrs)) lines.set(node, builder.lines.get(node.attrs) ?? 1);
  }
  return { lines, order, ids, mistakes: builder.mistakes };
}

/** Every node below another one, in tree order. What a `template` holds is not below it. */
export function* nodesBelow(root: Tree["parentNode"]): Generator<PageNode, undefined> {
  const pending = root.childNodes.toReversed();
  for (let node = pending.pop(); node; node = pending.pop()) {
    yield node;
    if (isElement(node))
      for (let i = node.childNodes.length - 1; i >= 0; i--) pending.push(node.childNodes[i] as PageNode);
  }
}

export function isElement(node: PageNode): node is PageElement {
  return "tagName" in node;
}

/** The attributes of microdata mean nothing on elements of SVG and MathML. */
export function isHtml(element: PageElement): boolean {
  return element.namespaceURI === html.NS.HTML;
}

export function attributeOf(element: PageElement, name: string): string | undefined {
  return element.attrs.find((attribute) => attribute.name === name && !attribute.prefix)?.value;
}

function hasMicrodata(attributes: readonly Token.Attribute[]): boolean {
  return attributes.some(({ name }) => microdataAttributes.has(name));
}

/** Bounds what is made of the source, and remembers lines: an element shares its list of attributes with its tag. */
class PageBuilder {
  readonly lines = new WeakMap<readonly Token.Attribute[], number>();
  readonly mistakes: MicrodataMistake[] = [];
  readonly adapter: TreeAdapter<Tree>;
  #tag: Token.TagToken | undefined;
  #isUsed = false;
  #depth = 0;
  #nodes = 0;

  constructor() {
    this.adapter = {
      ...defaultTreeAdapter,
      createElement: (name, namespace, attributes) => {
        this.#countNode();
        if (namespace === html.NS.HTML) this.#use(attributes);
        return defaultTreeAdapter.createElement(name, namespace, attributes);
      },
      insertText: (parent, text) => {
        // The parser hands over each word; those that follow each other become one node.
        if (parent.childNodes.at(-1)?.nodeName !== "#text") this.#countNode();
        defaultTreeAdapter.insertText(parent, text);
      },
      adoptAttributes: (element, attributes) => {
        this.#use(attributes);
        if (!this.lines.has(element.attrs)) this.lines.set(element.attrs, this.#line);
        defaultTreeAdapter.adoptAttributes(element, attributes);
      },
      // Lists in a table are searched from the end, where the table stands that all of them go before.
      insertBefore: (parent, node, reference) => {
        parent.childNodes.splice(parent.childNodes.lastIndexOf(reference), 0, node);
        node.parentNode = parent;
      },
      onItemPush: () => {
        this.#depth += 1;
        if (this.#depth > maxDepth)
          throw new MicrodataError(this.#line, `elements nest more than ${maxDepth} levels deep`);
      },
      onItemPop: () => {
        this.#depth -= 1;
      },
      // Locations of every node would take half of the memory; the lines of the tags are enough.
      getNodeSourceCodeLocation: () => null,
      setNodeSourceCodeLocation: () => undefined,
      updateNodeSourceCodeLocation: () => undefined,
    };
  }

  startTag(tag: Token.TagToken): void {
    this.#tag = tag;
    this.#isUsed = false;
    if (tag.attrs.length > maxAttributes)
      throw new MicrodataError(this.#line, `an element has more than ${maxAttributes} attributes`);
    if (hasMicrodata(tag.attrs)) this.lines.set(tag.attrs, this.#line);
  }

  /** The tag has been dealt with: has it become an element? */
  endOfStartTag(tag: Token.TagToken): void {
    if (this.#isUsed || !hasMicrodata(tag.attrs)) return;
    const text = `the tag <${tag.tagName}> has microdata attributes, but HTML allows no such element where it stands`;
    this.mistakes.push({ line: tag.location?.startLine ?? 1, text });
  }

  get #line(): number {
    return this.#tag?.location?.startLine ?? 1;
  }

  #use(attributes: readonly Token.Attribute[]): void {
    if (attributes === this.#tag?.attrs) this.#isUsed = true;
  }

  #countNode(): void {
    this.#nodes += 1;
    if (this.#nodes > maxNodes) throw new MicrodataError(this.#line, `the page has more than ${maxNodes} nodes`);
  }
}

class PageParser extends Parser<Tree> {
  readonly #builder: PageBuilder;

  constructor(builder: PageBuilder) {
    super({ treeAdapter: builder.adapter, sourceCodeLocationInfo: true });
    this.#builder = builder;
  }

  override onStartTag(tag: Token.TagToken): void {
    this.#builder.startTag(tag);
    super.onStartTag(tag);
    this.#builder.endOfStartTag(tag);
  }
}
