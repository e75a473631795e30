import { Buffer, isUtf8 } from "node:buffer";
import type { SlicedWork } from "../event-loop/sliced-work.ts";
import { SourceElement } from "../html/document/html-nodes.ts";
import { parseDocument } from "../html/document/parse-document.ts";
import { documentBytes, type SourceDocument } from "../html/document/source-document.ts";
import { TreeWalk } from "../html/document/tree-walk.ts";
import { type AppliedEdit, applyEdit, type ElementEdit } from "../html/edit/apply-edit.ts";
import { outermost, spliceBytes } from "../html/edit/placement.ts";
import { entityTag } from "../http/entity-tag.ts";
import { HttpError } from "../http/http-error.ts";
import type { ChangedElements } from "../server/access.ts";
import { decidedHtml } from "../server/before-write.ts";
import { knownHttpError } from "../server/error-reply.ts";
import { emptyReply, type Reply } from "../server/reply.ts";
import { refuseEncodedContent } from "../server/request-body.ts";
import { type HeldDocument, type LoadedDocument, loadDocument, parseLimits, refuseTooLarge } from "./document-cache.ts";
import {
  elementBytes,
  elementHeaders,
  elementTag,
  judgePreconditions,
  matchHeaders,
  noMatchReply,
  withMatches,
} from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";
import { ChosenElements, clientOf, elementFinder } from "./selection.ts";

/** An edit, and what its client is answered; `undefined` for nothing. */
interface AnsweredEdit extends ElementEdit {
  content(applied: AppliedEdit): Promise<Uint8Array | undefined>;
}

/** What a request asks for. */
interface WantedEdit {
  /** Reads the HTML of the request; called once there is something to change. */
  read(): Promise<string>;
  /** The edit with this HTML, or with what the host program puts in its place. */
  editOf(html: string): AnsweredEdit;
}

/**
 * Changes the elements that a request selects: reads, selects, edits, proves and writes under the file's lock, so that two
 * concurrent edits both land.
 */
export async function editElements(request: ElementRequest, { read, editOf }: WantedEdit): Promise<Reply> {
  const { exchange, storage, documents, path, options, right, selector } = request;
  const { access, site } = exchange;
  const { maxSelectionSteps } = options;
  const client = clientOf(exchange);
  const findElements = elementFinder(selector, options, client);
  const maxLength = Math.min(options.maxDocumentSize, options.maxFileSize);
  const editLimits = { ...parseLimits(options, client), maxLength };
  const { beforeWrite, recordRemoved } = options;
  let isReadable = false;
  let isJudgedLater = false;

  /** Judges permission and preconditions for elements of one version of the document. */
  const judge = async (
    { document, stat }: Pick<LoadedDocument, "document" | "stat">,
    elements: readonly SourceElement[],
  ): Promise<ChosenElements> => {
    const chosen = new ChosenElements(document, elements, maxSelectionSteps);
    if (!(await chosen.isGiven(access, right, path, client))) throw access.refusal();
    isReadable = await chosen.isGiven(access, "read", path, client);
    const makeTag = async (): Promise<string> => elementTag(await elementBytes(document, elements, options));
    await judgePreconditions(exchange, stat, isReadable ? makeTag : undefined);
    return chosen;
  };

  const before = await loadDocument(request, documents, options, client);
  await request.file?.close(); // some systems do not replace a file that is open
  let matches: readonly SourceElement[] = [];
  const held: HeldDocument[] = [before];

  try {
    matches = await findElements(before.document);
    if (matches.length === 0) return noMatchReply(options.dialect);
    await judge(before, matches);
    before.release(); // an edit that comes first may take it
    refuseEncodedContent(exchange.headers);
    const wanted = editOf(await read());
    let edit = wanted;
    let removed: string | undefined;

    let applied: AppliedEdit | undefined;
    let content: Uint8Array | undefined;
    let elements: ChangedElements | undefined;
    const { stat, changed } = await storage.update(path, async (bytes, current) => {
      applied = undefined;
      refuseTooLarge(current.size, options);
      const now = await documents.hold(path, current.version, () =>
        parseDocument(before.document.kind, bytes, editLimits),
      );
      held.push(now);
      const { document } = now;
      matches = await findElements(document);
      if (matches.length === 0) return undefined;
      const chosen = await judge({ document, stat: current }, matches);
      edit = wanted;
      if (beforeWrite || recordRemoved) removed = await textOf(document, outermost(matches), options);
      if (beforeWrite) {
        const kind = `elements-${wanted.kind}` as const;
        const pending = {
          kind,
          path,
          exchange,
          selector,
          matches: matches.length,
          before: removed ?? "",
          html: wanted.html,
        };
        const other = await decidedHtml(beforeWrite, pending);
        if (other !== undefined) edit = editOf(other);
      }
      const readers = site.changes.judgesElements(path);
      isJudgedLater = readers === true;
      if (typeof readers === "object") await chosen.answerAhead(readers, path, client);
      const takeTree = (): boolean => {
        // Listeners may judge by what the elements were, also when the reply was sent.
        const late = site.changes.judgesElements(path);
        isJudgedLater ||= late === true || (late !== false && readers === false);
        if (isJudgedLater) return false;
        now.release();
        const isTaken = documents.take(path, document);
        if (!isTaken) held.push(documents.keep(document));
        return isTaken;
      };
      const made = await applyEdit(document, matches, edit, editLimits, takeTree);
      applied = made;
      elements = undefined;
      if (isJudgedLater || readers) {
        const after = new ChosenElements(made.document, () => placedElements(made), maxSelectionSteps);
        elements = { before: chosen, after };
        if (!isJudgedLater && typeof readers === "object") {
          await after.answerAhead(readers, path, client);
          chosen.close();
          after.close();
        }
      }
      held.push(documents.keep(made.document));
      content = await edit.content(made);
      if (made.document === document) return undefined;
      const edited = made.isNormalised ? documentBytes(made.document) : spliceBytes(bytes, document, made.placements);
      refuseTooManyBytes(edited.byteLength, maxLength);
      return edited;
    });
    if (!applied) return noMatchReply(options.dialect);
    const { document, isNormalised } = applied;
    if (changed) {
      if (readsAsParsed(document)) documents.set(path, stat.version, document);
      const html = edit.html === "" ? {} : { html: edit.html };
      const old = recordRemoved && edit.kind !== "appended" && removed !== undefined ? { removed } : {};
      const kind = `elements-${edit.kind}` as const;
      const etag = entityTag(stat.version);
      exchange.changed({ kind, path, selector, matches: matches.length, ...html, ...old, etag }, elements);
      if (isJudgedLater) documents.keep(document); // for as long as somebody is still to be told
    }
    const normalised = isNormalised && { "x-normalised": "true" };
    // Who may not read the elements learns neither how many they are, nor what they hold besides the edit.
    const told = isReadable ? matches.length : undefined;
    if (content === undefined) return emptyReply(204, { ...matchHeaders(told), ...normalised });
    const headers = { ...elementHeaders(request, told), ...normalised };
    if (!isReadable) return { status: 206, headers, body: Buffer.from(edit.html) };
    const etag = await currentTag(request, document);
    return { status: 206, headers: { ...headers, ...(etag !== undefined && { etag }) }, body: content };
  } catch (error) {
    throw isReadable ? withMatches(error, matches.length) : error;
  } finally {
    for (const each of held) each.release();
  }
}

async function textOf(
  document: SourceDocument,
  elements: readonly SourceElement[],
  options: ElementRequest["options"],
): Promise<string> {
  return Buffer.from(await elementBytes(document, elements, options)).toString();
}

/** The tag that a GET of the same selector has from now on; `undefined` where it has none. */
async function currentTag(
  { exchange, options, path, selector }: ElementRequest,
  document: SourceDocument,
): Promise<string | undefined> {
  const client = clientOf(exchange);
  try {
    const matches = await elementFinder(selector, options, client)(document);
    if (matches.length === 0) return undefined;
    const chosen = new ChosenElements(document, matches, options.maxSelectionSteps);
    // The edit may have made the selector match elements of somebody else, whose content the tag would give away.
    if (!(await chosen.isGiven(exchange.access, "read", path, client))) return undefined;
    return elementTag(await elementBytes(document, matches, options));
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

function refuseTooManyBytes(size: number, maxLength: number): void {
  if (size <= maxLength) return;
  const details = `The document would have ${size} bytes; ${maxLength} are allowed.`;
  throw new HttpError(413, "RESULT_TOO_LARGE", details);
}

/** Pieces of a thousand nodes each take well below a millisecond. */
const stepsOfPiece = 1000;

/** The elements that an edit has left or put in the place of those that it was about, in the new document. */
export function* placedElements({ document, placements, elements }: AppliedEdit): SlicedWork<readonly SourceElement[]> {
  if (elements.length > 0) return elements; // they are still there, and hold what was added
  const isSupplied = suppliedPlaces(placements);
  const placed: SourceElement[] = [];
  const walk = new TreeWalk(document.root);
  let steps = 0;
  for (let goesOn = walk.advance(); goesOn; ) {
    if (++steps % stepsOfPiece === 0) yield;
    const { node } = walk;
    if (node instanceof SourceElement && !walk.isAtEnd && isSupplied(node.startIndex ?? -1)) {
      placed.push(node);
      goesOn = walk.skip(); // what it holds came with it
    } else goesOn = walk.advance();
  }
  return placed;
}

/** Whether a place in the edited source lies in what was supplied. */
function suppliedPlaces(placements: AppliedEdit["placements"]): (index: number) => boolean {
  let delta = 0;
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { start, end, text } of placements) {
    starts.push(start + delta);
    ends.push(start + delta + text.length);
    delta += text.length - (end - start);
  }
  return (index) => {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= index) low = middle + 1;
      else high = middle;
    }
    return low > 0 && index < (ends[low - 1] as number);
  };
}
