import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { parseHtmlTree } from "./html-document.ts";
import { joinPart } from "./join-part.ts";
import type { ParseLimits } from "./parse-budget.ts";
import { Reparse, type ReparsedPart, type SourceChange } from "./reparse-html.ts";
import {
  type DocumentKind,
  type DocumentSource,
  type ParsedTree,
  readSource,
  type SourceDocument,
  sourceDocument,
} from "./source-document.ts";
import { parseXmlTree } from "./xml-document.ts";

const parsers: Readonly<Record<DocumentKind, (source: string, limits: ParseLimits) => SlicedWork<ParsedTree>>> = {
  html: parseHtmlTree,
  xml: parseXmlTree,
};

/** Parses a document in slices. Throws `DOCUMENT_TOO_DEEP`, `DOCUMENT_TOO_COSTLY` or, for XML, `NOT_WELL_FORMED`. */
export function* parseDocument(
  kind: DocumentKind,
  bytes: Uint8Array,
  limits: ParseLimits = {},
): SlicedWork<SourceDocument> {
  const source = readSource(bytes);
  yield; // of 5 MB, that has taken a slice
  return yield* parse(source, kind, limits);
}

/** Parses an edited source of a document; it keeps its kind, its encoding and its byte order mark. */
export function parseSource(
  source: string,
  { encoding, hasByteOrderMark, kind }: Omit<DocumentSource, "source"> & Pick<SourceDocument, "kind">,
  limits: ParseLimits = {},
): SlicedWork<SourceDocument> {
  return parse({ source, encoding, hasByteOrderMark }, kind, limits);
}

/** What an edit has changed of a document, parsed beside it; see {@link Reparse}. */
export interface EditedPart extends Pick<ReparsedPart, "seams" | "originals" | "neighbours"> {
  /** What was parsed, in elements that stand for those around it. */
  readonly page: Pick<SourceDocument, "root" | "source">;
  /** Makes the edited document of it and of the nodes of the old one, which cannot be used any more. */
  join(): SlicedWork<SourceDocument>;
}

/** Parses what an edit has changed of a document; `undefined` where all of it has to be parsed. */
export function* parseEditedPart(
  source: string,
  change: SourceChange,
  document: SourceDocument,
  limits: ParseLimits = {},
): SlicedWork<EditedPart | undefined> {
  const { root, parse: record, sourceBytes } = document;
  if (!record || record.states.length === 0) return undefined; // XML, or too short for a state to be saved
  const part = yield* new Reparse({ root, parse: record }, source, change, limits).run();
  if (!part) return undefined;
  return {
    seams: part.seams,
    originals: part.originals,
    neighbours: part.neighbours,
    page: { root: part.builder.root, source },
    *join() {
      return sourceDocument({ ...document, source }, yield* joinPart(part, sourceBytes), document.kind);
    },
  };
}

function* parse(source: DocumentSource, kind: DocumentKind, limits: ParseLimits): SlicedWork<SourceDocument> {
  return sourceDocument(source, yield* parsers[kind](source.source, limits), kind);
}
