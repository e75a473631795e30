import { Buffer, isUtf8 } from "node:buffer";
import type { ElementRequest } from "../files/file-request.ts";
import type { SourceElement } from "../html/document/html-nodes.ts";
import { parseDocument } from "../html/document/parse-document.ts";
import { documentBytes, type SourceDocument } from "../html/document/source-document.ts";
import { type AppliedEdit, applyEdit, type EditLimits, type ElementEdit } from "../html/edit/apply-edit.ts";
import { refuseEncodedContent } from "../http/content-encoding.ts";
import { entityTag } from "../http/entity-tag.ts";
import { HttpError } from "../http/http-error.ts";
import type { SelectedElements } from "../server/access.ts";
import type { ChangedElements } from "../server/change-feed.ts";
import { knownHttpError } from "../server/error-reply.ts";
import { emptyReply, type Reply } from "../server/reply.ts";
import { parseLimits } from "./document-limits.ts";
import { judgePreconditions } from "./element-preconditions.ts";
import { elementBytes, elementHeaders, matchHeaders, noMatchReply, withMatches } from "./element-reply.ts";
import { elementTag } from "./element-tag.ts";
import { elementFinder, type FindElements } from "./find-elements.ts";
import { loadDocument, refuseTooLarge } from "./load-document.ts";
import { placedElements } from "./placed-elements.ts";
import { mayRead, requirePermitted, selectedElements } from "./selected-elements.ts";

/** An edit, and what its client is answered; `undefined` for nothing. */
export interface AnsweredEdit extends ElementEdit {
  content(applied: AppliedEdit): Promise<Uint8Array | undefined>;
}

/**
 * Changes the elements that a request selects: reads, selects, edits, proves and writes under the file's lock, so that two
 * concurrent edits both land. `readEdit` reads the request's content; it is called once there is something to change.
 */
export async function editElements(request: ElementRequest, readEdit: () => Promise<AnsweredEdit>): Promise<Reply> {
  const { exchange, storage, documents, path, options } = request;
  const findElements = elementFinder(request);
  const before = await loadDocument(request);
  let matches = await findElements(before.document);
  if (matches.length === 0) return noMatchReply(request);
  let isReadable = false;

  try {
    isReadable = mayRead(request, requirePermitted(request, before.document, matches));
    await judgePreconditions(request, before, { elements: matches, isReadable });
    refuseEncodedContent(exchange.headers);
    const edit = await readEdit();

    let applied: AppliedEdit | undefined;
    let content: Uint8Array | undefined;
    let changedElements: ChangedElements | undefined;
    const { stat, changed } = await storage.update(path, async (bytes, current) => {
      applied = undefined;
      refuseTooLarge(request, current.size);
      const document = await documents.get(path, current.version, () =>
        parseDocument(before.document.isXml ? "xml" : "html", bytes, parseLimits(options)),
      );
      matches = await findElements(document);
      if (matches.length === 0) return undefined;
      const selected = requirePermitted(request, document, matches);
      isReadable = mayRead(request, selected);
      await judgePreconditions(request, { document, stat: current }, { elements: matches, isReadable });
      applied = await applyEdit(document, matches, edit, editLimits(request));
      changedElements = { before: selected, after: elementsAfter(request, applied) };
      content = await edit.content(applied);
      return applied.document === document ? undefined : sizedBytes(request, applied.document);
    });
    if (!applied) return noMatchReply(request);
    if (changed) {
      if (readsAsParsed(applied.document)) documents.set(path, stat.version, applied.document);
      const html = edit.html === "" ? {} : { html: edit.html };
      const etag = entityTag(stat.version);
      const change = {
        kind: `elements-${edit.kind}` as const,
        path,
        selector: request.selector,
        matches: matches.length,
        ...html,
        etag,
      };
      exchange.changed(change, changedElements);
    }
    if (!isReadable) return unreadableReply(request, applied, content && Buffer.from(edit.html));
    return await editReply(request, matches, applied, content, findElements);
  } catch (error) {
    throw isReadable ? withMatches(error, matches.length) : error;
  }
}

/** What the edit put there, found only if a rule asks for it: that takes a walk through the document. */
function elementsAfter(request: ElementRequest, applied: AppliedEdit): SelectedElements {
  let known: SelectedElements | undefined;
  const selected = (): SelectedElements => {
    known ??= selectedElements(request, applied.document, placedElements(applied));
    return known;
  };
  return { areAmong: (selector) => selected().areAmong(selector), touch: (selector) => selected().touch(selector) };
}

/** The reply to a user who may not read the elements: neither how many they are, nor what they hold besides the edit. */
function unreadableReply(
  request: ElementRequest,
  { isNormalised }: AppliedEdit,
  supplied: Uint8Array | undefined,
): Reply {
  const normalised = isNormalised && { "x-normalised": "true" };
  if (supplied === undefined) return emptyReply(204, { ...matchHeaders(), ...normalised });
  return { status: 206, headers: { ...elementHeaders(request), ...normalised }, body: supplied };
}

async function editReply(
  request: ElementRequest,
  matches: readonly SourceElement[],
  { document, isNormalised }: AppliedEdit,
  content: Uint8Array | undefined,
  findElements: FindElements,
): Promise<Reply> {
  const normalised = isNormalised && { "x-normalised": "true" };
  if (content === undefined) return emptyReply(204, { ...matchHeaders(matches.length), ...normalised });
  const etag = await currentTag(request, document, findElements);
  const headers = { ...elementHeaders(request, matches.length), ...normalised, ...(etag !== undefined && { etag }) };
  return { status: 206, headers, body: content };
}

/** The tag that a GET of the same selector has from now on; `undefined` where it has none. */
async function currentTag(
  request: ElementRequest,
  document: SourceDocument,
  findElements: FindElements,
): Promise<string | undefined> {
  try {
    const matches = await findElements(document);
    if (matches.length === 0) return undefined;
    // The edit may have made the selector match elements of somebody else, whose content the tag would give away.
    if (!mayRead(request, selectedElements(request, document, matches))) return undefined;
    return elementTag(await elementBytes(document, matches, request.options));
  } catch (error) {
    // The change is made; that selecting again takes too long is no reason to say that it failed.
    if (knownHttpError(error)) return undefined;
    throw error;
  }
}

/** Without its only invalid bytes a document is UTF-8 again; the next request has to read it as that. */
function readsAsParsed(document: SourceDocument): boolean {
  return document.encoding === "utf8" || !isUtf8(documentBytes(document));
}

function sizedBytes(request: ElementRequest, document: SourceDocument): Uint8Array {
  const bytes = documentBytes(document);
  const { maxLength } = editLimits(request);
  if (bytes.byteLength <= maxLength) return bytes;
  const details = `The document would have ${bytes.byteLength} bytes; ${maxLength} are allowed.`;
  throw new HttpError(413, "RESULT_TOO_LARGE", details);
}

function editLimits({ options }: ElementRequest): EditLimits {
  return { ...parseLimits(options), maxLength: Math.min(options.maxDocumentSize, options.maxFileSize) };
}
