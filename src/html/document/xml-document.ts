import { Tokenizer } from "htmlparser2";
import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { DocumentError } from "../document-error.ts";
import type { RootNode } from "./html-nodes.ts";
import { ParseBudget, type ParseLimits } from "./parse-budget.ts";
import type { ParsedTree } from "./source-document.ts";
import { readDoctype } from "./xml-doctype.ts";
import { XmlEntities } from "./xml-entities.ts";
import { lineAndColumn, NamespaceScope, XmlProblem } from "./xml-names.ts";
import { type XmlContext, XmlTreeBuilder } from "./xml-tree.ts";

/** Characters that are parsed without a look at the clock; elements that declare a namespace cost the most. */
const pieceLength = 8 * 1024;

const notAllowed = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;

const blanks = /[ \t\r\n]*/y;

/**
 * The tree of an XML document. Throws `NOT_WELL_FORMED` with line and column for one that a browser would show an
 * error for, and `DOCUMENT_TOO_DEEP` or `DOCUMENT_TOO_COSTLY`.
 */
export function* parseXmlTree(source: string, limits: ParseLimits = {}): SlicedWork<ParsedTree> {
  const { inTurn = (_length, parse) => parse() } = limits;
  const budget = new ParseBudget(limits);
  const context = { isDocument: true, entities: new XmlEntities(), scope: new NamespaceScope() };
  try {
    const root = yield* inTurn(source.length, () => buildXmlTree(source, context, budget));
    return { root, treeBytes: budget.treeBytes, formattedFromBefore: new Set() };
  } catch (error) {
    if (!(error instanceof XmlProblem)) throw error;
    const details = `The document is not well-formed XML: ${error.describe(source)}.`;
    throw new DocumentError("NOT_WELL_FORMED", details, lineAndColumn(source, error.offset));
  }
}

/** Builds the tree of a document or a part of one; gives way to others meanwhile. Throws an {@link XmlProblem}. */
export function* buildXmlTree(source: string, context: XmlContext, budget: ParseBudget): SlicedWork<RootNode> {
  const forbidden = notAllowed.exec(source);
  if (forbidden) throw new XmlProblem("there is a character that XML does not allow", forbidden.index);
  const builder = new XmlTreeBuilder(source, context, budget);
  const tokenizer = new Tokenizer({ xmlMode: true, decodeEntities: false }, builder);
  let position = context.isDocument ? passDoctype(source, tokenizer, builder) : 0;
  while (position < source.length) {
    const piece = source.slice(position, position + pieceLength);
    tokenizer.write(piece);
    budget.addCharacters(piece.length);
    position += pieceLength;
    yield;
  }
  tokenizer.end();
  return builder.finish();
}

/** The tokenizer takes the first `>` for the end of a doctype; one may hold many. */
function passDoctype(source: string, tokenizer: Tokenizer, builder: XmlTreeBuilder): number {
  const start = endOfPrologue(source);
  if (!source.startsWith("<!DOCTYPE", start)) return 0;
  tokenizer.write(source.slice(0, start));
  const { node, end, entities } = readDoctype(source, start);
  builder.addDoctype(node, end, entities);
  builder.base = end - start;
  return end;
}

/** Behind the white space, comments and processing instructions at the beginning. */
function endOfPrologue(source: string): number {
  let position = 0;
  for (;;) {
    blanks.lastIndex = position;
    blanks.test(source);
    position = blanks.lastIndex;
    const closing = source.startsWith("<!--", position) ? "-->" : source.startsWith("<?", position) ? "?>" : undefined;
    const end = closing === undefined ? -1 : source.indexOf(closing, position + 2);
    if (closing === undefined || end < 0) return position;
    position = end + closing.length;
  }
}
