import { parseHtmlTree } from "./html-document.ts";
import type { ParseLimits } from "./parse-budget.ts";
import { reparseHtmlTree, type SourceChange, type TakenElements } from "./reparse-html.ts";
import {
  type DocumentKind,
  type DocumentSource,
  type ParsedTree,
  readSource,
  type SourceDocument,
  sourceDocument,
} from "./source-document.ts";
import { parseXmlTree } from "./xml-document.ts";

const parsers: Readonly<Record<DocumentKind, (source: string, limits: ParseLimits) => Promise<ParsedTree>>> = {
  html: parseHtmlTree,
  xml: parseXmlTree,
};

/**
 * Parses a document from its bytes; a large one gives way to other work every few milliseconds. Throws 422
 * `DOCUMENT_TOO_DEEP`, `DOCUMENT_TOO_COSTLY` or, for XML, `NOT_WELL_FORMED`.
 */
export function parseDocument(
  kind: DocumentKind,
  bytes: Uint8Array,
  limits: ParseLimits = {},
): Promise<SourceDocument> {
  return parse(readSource(bytes), kind, limits);
}

/** Parses an edited source of a document; it keeps its kind, its encoding and its byte order mark. */
export function parseSource(
  source: string,
  { encoding, hasByteOrderMark, kind }: Omit<DocumentSource, "source"> & Pick<SourceDocument, "kind">,
  limits: ParseLimits = {},
): Promise<SourceDocument> {
  return parse({ source, encoding, hasByteOrderMark }, kind, limits);
}

/** A document that was made by an edit, and what the parse took over from the one before. */
export interface EditedDocument {
  readonly document: SourceDocument;
  readonly taken: TakenElements;
}

/** Parses a document that an edit has made of another one, whose tree it takes over where it can. */
export async function parseEdited(
  source: string,
  change: SourceChange,
  document: SourceDocument,
  limits: ParseLimits = {},
): Promise<EditedDocument> {
  const { root, parse: record } = document;
  if (!record) return { document: await parseSource(source, document, limits), taken: new Map() };
  const { tree, taken } = await reparseHtmlTree({ root, parse: record }, source, change, limits);
  return { document: sourceDocument({ ...document, source }, tree, document.kind), taken };
}

async function parse(source: DocumentSource, kind: DocumentKind, limits: ParseLimits): Promise<SourceDocument> {
  const tree = await parsers[kind](source.source, limits);
  return sourceDocument(source, tree, kind);
}
