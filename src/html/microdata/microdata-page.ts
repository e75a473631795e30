import { getAttributeValue, getElementsByTagName } from "domutils";
import { TimeSlice } from "../../event-loop/sliced-work.ts";
import { buildHtmlTree, treeBuilder } from "../document/html-document.ts";
import { isHtmlElement, type RootNode, SourceElement, type TagObserver } from "../document/html-nodes.ts";
import { ParseBudget, parseInTurn } from "../document/parse-budget.ts";
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

/** Parses a page. Throws {@link MicrodataError}. */
export async function readPage(source: string): Promise<Page> {
  const tags = new TagLog();
  const root = await parse(source, tags);
  const elements = getElementsByTagName("*", root.children).filter((node) => node instanceof SourceElement);
  const order = new Map(elements.map((element, index) => [element, index]));
  const ids = new Map<string, SourceElement>();
  for (const element of elements) {
    const id = getAttributeValue(element, "id");
    if (id && !ids.has(id)) ids.set(id, element);
  }
  const lineOf = linesOf(source, [...tags.offsets.values(), ...tags.dropped.map(({ offset }) => offset)]);
  const lines = new Map<SourceElement, number>();
  for (const element of elements) {
    const offset = tags.offsets.get(element);
    if (offset !== undefined) lines.set(element, lineOf(offset));
  }
  const mistakes = tags.dropped.map(({ name, offset }) => ({ line: lineOf(offset), text: ignoredTag(name) }));
  return { lines, order, sizes: sizesOf(elements), ids, mistakes };
}

async function parse(source: string, tags: TagLog): Promise<RootNode> {
  const builder = treeBuilder(source, new ParseBudget(), tags);
  try {
    await parseInTurn(source.length, () => buildHtmlTree(builder, new TimeSlice()));
    return builder.root;
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const message = error.message.replace(/^The document/, "the page").replace(/\.$/, "");
    throw new MicrodataError(new LineCounter(source).at(builder.tokenStart).line, message);
  }
}

/** Remembers the HTML tags that have microdata attributes. */
class TagLog implements TagObserver {
  /** Where the tag begins that an element was made of. */
  readonly offsets = new Map<SourceElement, number>();
  readonly dropped: { readonly name: string; readonly offset: number }[] = [];

  used(element: SourceElement, offset: number): void {
    if (this.offsets.has(element) || !microdataAttributes.some((name) => name in element.attribs)) return;
    if (isHtmlElement(element)) this.offsets.set(element, offset);
    else this.dropped.push({ name: element.name, offset }); // microdata means nothing in SVG and MathML
  }

  copied(original: SourceElement, copy: SourceElement): void {
    const offset = this.offsets.get(original);
    if (offset !== undefined) this.offsets.set(copy, offset);
  }

  ignored(name: string, attributes: readonly string[], offset: number): void {
    if (attributes.some((attribute) => microdataAttributes.includes(attribute))) this.dropped.push({ name, offset });
  }
}

/** Elements come in document order: what lies in one of them comes behind it. */
function sizesOf(elements: readonly SourceElement[]): ReadonlyMap<SourceElement, number> {
  const sizes = new Map<SourceElement, number>();
  for (const element of elements.toReversed()) {
    const { parent } = element;
    const size = sizes.get(element) ?? 0;
    if (parent instanceof SourceElement) sizes.set(parent, (sizes.get(parent) ?? 0) + size + 1);
  }
  return sizes;
}

function linesOf(source: string, offsets: readonly number[]): (offset: number) => number {
  const counter = new LineCounter(source);
  const lines = new Map(offsets.toSorted((a, b) => a - b).map((offset) => [offset, counter.at(offset).line]));
  return (offset) => lines.get(offset) ?? 1;
}

function ignoredTag(name: string): string {
  return `the tag <${name}> has microdata attributes, but HTML allows no such element where it stands`;
}
