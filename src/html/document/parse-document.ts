import { parseHtmlTree } from "./html-document.ts";
import type { ParseLimits } from "./parse-budget.ts";
import { type DocumentSource, readSource, type SourceDocument, sourceDocument } from "./source-document.ts";
import { parseXmlTree } from "./xml-document.ts";

/**
 * Parses a document from its bytes; a large one gives way to other work every few milliseconds. Throws 422
 * `DOCUMENT_TOO_DEEP`, `DOCUMENT_TOO_COSTLY` or, for XML, `NOT_WELL_FORMED`.
 */
export function parseDocument(
  kind: "html" | "xml",
  bytes: Uint8Array,
  limits: ParseLimits = {},
): Promise<SourceDocument> {
  return parse(readSource(bytes), kind === "xml", limits);
}

/** Parses an edited source of a document; it keeps its kind, its encoding and its byte order mark. */
export function parseSource(
  source: string,
  { encoding, hasByteOrderMark, isXml = false }: Omit<DocumentSource, "source"> & { readonly isXml?: boolean },
  limits: ParseLimits = {},
): Promise<SourceDocument> {
  return parse({ source, encoding, hasByteOrderMark }, isXml, limits);
}

async function parse(source: DocumentSource, isXml: boolean, limits: ParseLimits): Promise<SourceDocument> {
  const tree = await (isXml ? parseXmlTree : parseHtmlTree)(source.source, limits);
  return sourceDocument(source, tree, isXml);
}
