import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { buildHtmlTree, treeBuilder } from "../document/html-document.ts";
import { isHtmlElement, nextNode, SourceElement } from "../document/html-nodes.ts";
import { ParseBudget } from "../document/parse-budget.ts";
import { LineCounter } from "../document/source-document.ts";
import { DocumentError } from "../document-error.ts";
import { readAttributes } from "../tokenizer/attributes.ts";

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

export interface Page {
  /** The HTML elements with microdata attributes, each with the line of its start tag, in tree order. */
  readonly lines: ReadonlyMap<SourceElement, number>;
  /** Where each element stands in the order of the tree. */
  readonly order: ReadonlyMap<SourceElement, number>;
  /** The first element with each id. */
  readonly ids: ReadonlyMap<string, SourceElement>;
  /** Tags with microdata attributes that came to nothing, such as a `<td>` outside of tables. */
  readonly mistakes: readonly MicrodataMistake[];
}

/** Elements in one piece of work, which takes about a millisecond. */
const elementsOfPiece = 1000;

/** Parses a page, while others have their turn. Throws {@link MicrodataError}. */
export function* readPage(source: string): SlicedWork<Page> {
  const builder = treeBuilder(source, new ParseBudget());
  const { root, copies } = builder;
  const counter = new LineCounter(source);
  const lineOfTag = new Map<number, number>();
  const offsets = new Map<SourceElement, number>();
  const mistakes: MicrodataMistake[] = [];
  builder.onStartTag = ({ start, name: { name } }, element) => {
    const attributes = element?.attribs ?? readAttributes(source, start);
    if (!["itemscope", "itemtype", "itemid", "itemprop", "itemref"].some((each) => each in attributes)) return;
    const { line } = counter.at(start);
    lineOfTag.set(start, line);
    if (element && isHtmlElement(element)) {
      if (!offsets.has(element)) offsets.set(element, start);
    } else {
      const text = `the tag <${name}> has microdata attributes, but HTML allows no such element where it stands`;
      mistakes.push({ line, text });
    }
  };
  try {
    yield* buildHtmlTree(builder);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const message = error.message.replace(/^The document/, "the page").replace(/\.$/, "");
    throw new MicrodataError(new LineCounter(source).at(builder.tokenStart).line, message);
  }
  const lines = new Map<SourceElement, number>();
  const order = new Map<SourceElement, number>();
  const ids = new Map<string, SourceElement>();
  for (let node = nextNode(root, root); node; node = nextNode(node, root)) {
    if (!(node instanceof SourceElement)) continue;
    order.set(node, order.size);
    const line = lineOfTag.get(offsets.get(node) ?? copies.get(node) ?? -1);
    if (line !== undefined) lines.set(node, line);
    const { id } = node.attribs;
    if (id && !ids.has(id)) ids.set(id, node);
    if (order.size % elementsOfPiece === 0) yield;
  }
  return { lines, order, ids, mistakes };
}
