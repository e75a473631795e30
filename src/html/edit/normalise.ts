import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { SourceElement } from "../document/html-nodes.ts";
import type { ParseLimits } from "../document/parse-budget.ts";
import { parseSource } from "../document/parse-document.ts";
import { type Encode, joined, reference, replaced, serialisedParts } from "../document/serialise.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { prove } from "./proof.ts";

// Where bytes of a document that is not UTF-8 stand meanwhile, apart from what references stand for.
const markedBytes = 0xf700;

/** A document in which every element has tags of its own. */
interface NormalDocument {
  readonly document: SourceDocument;
  /** The elements asked about, in the same order. */
  readonly elements: readonly SourceElement[];
}

/**
 * Writes a page anew from its tree, for elements that have no characters of their own, and for broken markup that
 * reaches across them. `undefined` where the new text would not read as the same tree: HTML has no way to write some of
 * what error recovery makes; and for XML, where nothing is gained.
 */
export function* normalise(
  document: SourceDocument,
  elements: readonly SourceElement[],
  limits: ParseLimits = {},
): SlicedWork<NormalDocument | undefined> {
  if (document.kind === "xml") return undefined;
  const source = document.encoding === "utf8" ? yield* written(document) : yield* writtenBytes(document, limits);
  const normal = yield* parseSource(source, document, limits);
  const proof = yield* prove(document, normal, [], elements);
  if (!proof.holds) return undefined;
  return { document: normal, elements: elements.flatMap((element) => proof.counterparts.get(element) ?? []) };
}

function written(document: Pick<SourceDocument, "source" | "root">, encode?: Encode): SlicedWork<string> {
  return joined(serialisedParts(document, document.root, encode));
}

/** The bytes beyond ASCII as they were, and what references stand for as references. */
function* writtenBytes({ source }: SourceDocument, limits: ParseLimits): SlicedWork<string> {
  const mark = (byte: string): string => String.fromCharCode(markedBytes + byte.charCodeAt(0));
  const marked = yield* replaced(source, /[\x80-\xff]/g, mark);
  const document = yield* parseSource(marked, { encoding: "utf8", hasByteOrderMark: false, kind: "html" }, limits);
  const text = yield* written(document, (part) => part.replace(/[^\x00-\x7f\uf780-\uf7ff]/gu, reference));
  const bytes = yield* replaced(text, /[\uf780-\uf7ff]/g, (byte) =>
    String.fromCharCode(byte.charCodeAt(0) - markedBytes),
  );
  return bytes.replaceAll("\ufffd", "\0"); // without references, in scripts and comments, NUL reads as that
}
