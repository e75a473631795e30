import { getAttributeValue } from "domutils";
import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { buildHtmlTree, treeBuilder } from "../document/html-document.ts";
import { isHtmlElement, nextNode, type RootNode, SourceElement, type TagObserver } from "../document/html-nodes.ts";
import { ParseBudget } from "../document/parse-budget.ts";
import { LineCounter } from "../document/source-document.ts";
import { DocumentError } from "../document-error.ts";

const microdataAttributes = ["itemscope", "itemtype", "itemid", "itemprop", "itemref"];

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

/** An item of HTML microdata. */
export interface MicrodataItem {
  /** The words of `itemtype`, in order. */
  readonly types: readonly string[];
  /** `itemid` as it is written. */
  readonly id?: string;
  /** Line of the start tag that makes the item, from 1. */
  readonly line: number;
  /** The values of each property, in tree order. */
  readonly properties: ReadonlyMap<string, readonly MicrodataValue[]>;
}

/** One value of a property. */
export interface MicrodataValue {
  /**
   * An item, or text: what the element's attribute (`content`, `href`, ...) has, or its text content. White space is
   * kept and URLs are as they are written; resolving them against the place of the file is up to the caller.
   */
  readonly value: string | MicrodataItem;
  /** Line of the element that has the value, from 1. */
  readonly line: number;
}

/** What a page says in microdata. */
export interface MicrodataPage {
  /** The top-level items: those that are not the property of another item. */
  readonly items: readonly MicrodataItem[];
  /** What is written down but belongs to no item, and references that lead nowhere or in a circle; by line. */
  readonly mistakes: readonly MicrodataMistake[];
}

/** A page whose microdata is to be read. */
export interface Page {
  /** The HTML elements with microdata attributes, each with the line of its start tag, in tree order. */
  readonly lines: ReadonlyMap<SourceElement, number>;
  /** Where each element stands in the order of the tree. */
  readonly order: ReadonlyMap<SourceElement, number>;
  /** How many elements lie in each. */
  readonly sizes: ReadonlyMap<SourceElement, number>;
  /** The first element with each id. */
  readonly ids: ReadonlyMap<string, SourceElement>;
  /** Tags with microdata attributes that came to nothing, such as a `<td>` outside of tables. */
  readonly mistakes: readonly MicrodataMistake[];
}

/** Parses a page, while others have their turn. Throws {@link MicrodataError}. */
export function* readPage(source: string): SlicedWork<Page> {
  const tags = new TagLog(source);
  const root = yield* parse(source, tags);
  return yield* describe(root, tags);
}

/** Elements in one piece of work, which takes about a millisecond. */
const elementsOfPiece = 1000;

function* describe(root: RootNode, tags: TagLog): SlicedWork<Page> {
  const lines = new Map<SourceElement, number>();
  const order = new Map<SourceElement, number>();
  const ids = new Map<string, SourceElement>();
  for (let node = nextNode(root, root); node; node = nextNode(node, root)) {
    if (!(node instanceof SourceElement)) continue;
    order.set(node, order.size);
    const line = tags.lines.get(node);
    if (line !== undefined) lines.set(node, line);
    const id = getAttributeValue(node, "id");
    if (id && !ids.has(id)) ids.set(id, node);
    if (order.size % elementsOfPiece === 0) yield;
  }
  return { lines, order, sizes: yield* sizesOf([...order.keys()]), ids, mistakes: tags.mistakes };
}

function* parse(source: string, tags: TagLog): SlicedWork<RootNode> {
  const builder = treeBuilder(source, new ParseBudget(), tags);
  try {
    yield* buildHtmlTree(builder);
    return builder.root;
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const message = error.message.replace(/^The document/, "the page").replace(/\.$/, "");
    throw new MicrodataError(new LineCounter(source).at(builder.tokenStart).line, message);
  }
}

/** Remembers the HTML tags that have microdata attributes. The parser tells of them in the order of the source. */
class TagLog implements TagObserver {
  /** Lines of the tags that elements were made of. */
  readonly lines = new Map<SourceElement, number>();
  readonly mistakes: MicrodataMistake[] = [];
  readonly #counter: LineCounter;

  constructor(source: string) {
    this.#counter = new LineCounter(source);
  }

  used(element: SourceElement, offset: number): void {
    if (this.lines.has(element) || !microdataAttributes.some((name) => name in element.attribs)) return;
    if (isHtmlElement(element)) this.lines.set(element, this.#counter.at(offset).line);
    else this.#drop(element.name, offset); // microdata means nothing in SVG and MathML
  }

  copied(original: SourceElement, copy: SourceElement): void {
    const line = this.lines.get(original);
    if (line !== undefined) this.lines.set(copy, line);
  }

  ignored(name: string, attributes: readonly string[], offset: number): void {
    if (attributes.some((attribute) => microdataAttributes.includes(attribute))) this.#drop(name, offset);
  }

  #drop(name: string, offset: number): void {
    this.mistakes.push({ line: this.#counter.at(offset).line, text: ignoredTag(name) });
  }
}

/** Elements come in document order: what lies in one of them comes behind it. */
function* sizesOf(elements: readonly SourceElement[]): SlicedWork<ReadonlyMap<SourceElement, number>> {
  const sizes = new Map<SourceElement, number>();
  for (let index = elements.length - 1; index >= 0; index -= 1) {
    const element = elements[index] as SourceElement;
    const { parent } = element;
    const size = sizes.get(element) ?? 0;
    if (parent instanceof SourceElement) sizes.set(parent, (sizes.get(parent) ?? 0) + size + 1);
    if (index % elementsOfPiece === 0) yield;
  }
  return sizes;
}

function ignoredTag(name: string): string {
  return `the tag <${name}> has microdata attributes, but HTML allows no such element where it stands`;
}
