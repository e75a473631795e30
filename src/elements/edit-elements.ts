import type { ChangeKind } from "../change-feed.ts";
import type { ElementRequest } from "../files/file-request.ts";
import { entityTag } from "../http/entity-tag.ts";
import { evaluatePreconditions, preconditionFailed } from "../http/preconditions.ts";
import { HttpError } from "../http-error.ts";
import type { StoredStat } from "../storage/storage.ts";
import { type Placement, requireFit } from "./fits-in-place.ts";
import { documentBytes, type HtmlDocument, parseHtml, parseSource } from "./html-document.ts";
import type { SourceElement } from "./html-nodes.ts";
import { loadDocument, refuseTooLarge } from "./load-document.ts";
import { compileSelector, selectElements } from "./select.ts";
import { splice } from "./splice.ts";

/** A way of changing elements. */
export interface ElementEdit {
  readonly kind: ChangeKind;
  /** What the request supplied, for the change event; `""` where it supplies nothing. */
  readonly html: string;
  /** The replacements that make the change, in the order of the source. Throws what is wrong with the request. */
  replacements(document: HtmlDocument, matches: readonly SourceElement[]): readonly Placement[];
}

/** A change that was committed. */
export interface EditedElements {
  readonly matches: readonly SourceElement[];
  readonly replacements: readonly Placement[];
  /** The document as it is now. */
  readonly document: HtmlDocument;
  readonly stat: StoredStat;
}

/**
 * Changes the elements that a request selects: reads, selects, edits and writes under the file's lock, so that two
 * concurrent edits both land. `prepare` reads the request's content; it is called once there is something to change.
 * `undefined`: nothing matched, and nothing was written.
 */
export async function editElements(
  request: ElementRequest,
  prepare: () => Promise<ElementEdit>,
): Promise<EditedElements | undefined> {
  const { exchange, storage, documents, path } = request;
  const selector = compileSelector(request.selector);
  const before = await loadDocument(request);
  if (selectElements(before.document, selector).length === 0) return undefined;
  requirePreconditions(request, before.stat);
  const edit = await prepare();

  let edited: Omit<EditedElements, "stat"> | undefined;
  const { stat } = await storage.update(path, async (bytes, current) => {
    edited = undefined;
    requirePreconditions(request, current);
    refuseTooLarge(request, current.size);
    const document = await documents.get(path, current.version, () => parseHtml(bytes));
    const matches = selectElements(document, selector);
    if (matches.length === 0) return undefined;
    const replacements = edit.replacements(document, matches);
    edited = { matches, replacements, document: parseSource(splice(document.source, replacements), document) };
    requireFit(edited.document, replacements);
    const result = documentBytes(edited.document);
    refuseTooLargeResult(request, result.byteLength);
    return result;
  });
  if (!edited) return undefined;
  documents.set(path, stat.version, edited.document);
  exchange.changed({
    kind: edit.kind,
    path,
    selector: request.selector,
    matches: edited.matches.length,
    ...(edit.html !== "" && { html: edit.html }),
    etag: entityTag(stat.version),
  });
  return { ...edited, stat };
}

function requirePreconditions({ exchange }: ElementRequest, stat: StoredStat): void {
  const current = { etag: entityTag(stat.version), modified: stat.modified };
  if (evaluatePreconditions(exchange.method, exchange.headers, current) === "failed") throw preconditionFailed(current);
}

function refuseTooLargeResult({ options }: ElementRequest, size: number): void {
  const limit = Math.min(options.maxDocumentSize, options.maxFileSize);
  if (size <= limit) return;
  throw new HttpError(413, "RESULT_TOO_LARGE", `The document would have ${size} bytes; ${limit} are allowed.`);
}
