import { Buffer, isUtf8 } from "node:buffer";
import type { Client } from "../event-loop/fair-queue.ts";
import type { SourceElement } from "../html/document/html-nodes.ts";
import type { ParseLimits } from "../html/document/parse-budget.ts";
import { parseDocument } from "../html/document/parse-document.ts";
import { type DocumentKind, documentBytes, type SourceDocument } from "../html/document/source-document.ts";
import { type AppliedEdit, applyEdit, type ElementEdit } from "../html/edit/apply-edit.ts";
import { outermost, spliceBytes } from "../html/edit/placement.ts";
import { entityTag } from "../http/entity-tag.ts";
import { HttpError } from "../http/http-error.ts";
import { refuseEncodedContent } from "../server/admission.ts";
import { decidedHtml, type ElementWrite } from "../server/before-write.ts";
import { knownHttpError } from "../server/error-reply.ts";
import { emptyReply, type Reply } from "../server/reply.ts";
import type { StoredStat } from "../storage/storage.ts";
import { AnnouncedElements } from "./announced-elements.ts";
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
import { ChosenElements, clientOf, elementFinder, type FindElements } from "./selection.ts";

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

/** An edit of one version of a document, before and after it is written. */
interface MadeEdit {
  readonly edit: AnsweredEdit;
  readonly applied: AppliedEdit;
  /** What the client is answered. */
  readonly content: Uint8Array | undefined;
  /** The elements as they were, where somebody wants to know. */
  readonly removed: string | undefined;
  readonly announced: AnnouncedElements;
}

/**
 * Changes the elements that a request selects: reads, selects, edits, proves and writes under the file's lock, so that two
 * concurrent edits both land.
 */
export async function editElements(request: ElementRequest, wanted: WantedEdit): Promise<Reply> {
  const editing = new Editing(request);
  try {
    return await editing.run(wanted);
  } catch (error) {
    throw editing.explained(error);
  } finally {
    editing.release();
  }
}

/** The steps of one request. */
class Editing {
  readonly #request: ElementRequest;
  readonly #client: Client;
  readonly #find: FindElements;
  readonly #maxLength: number;
  readonly #limits: ParseLimits & { readonly maxLength: number };
  readonly #held: HeldDocument[] = [];
  /** What the selector matches in the version that was looked at last. */
  #matches: readonly SourceElement[] = [];
  /** Whether the client may read these. */
  #isReadable = false;

  constructor(request: ElementRequest) {
    const { exchange, options, selector } = request;
    this.#request = request;
    this.#client = clientOf(exchange);
    this.#find = elementFinder(selector, options, this.#client);
    this.#maxLength = Math.min(options.maxDocumentSize, options.maxFileSize);
    this.#limits = { ...parseLimits(options, this.#client), maxLength: this.#maxLength };
  }

  async run(wanted: WantedEdit): Promise<Reply> {
    const { exchange, storage, documents, path, options, file } = this.#request;
    const before = await loadDocument(this.#request, documents, options, this.#client);
    this.#held.push(before);
    await file?.close(); // some systems do not replace a file that is open
    this.#matches = await this.#find(before.document);
    if (this.#matches.length === 0) return noMatchReply(options.dialect);
    await this.#judge(before);
    before.release(); // an edit that comes first may take it
    refuseEncodedContent(exchange.headers);
    const edit = wanted.editOf(await wanted.read());

    let made: MadeEdit | undefined;
    const { stat, changed } = await storage.update(path, async (bytes, current) => {
      const held = await this.#parse(before.document.kind, bytes, current);
      made = await this.#change(held, current, edit, wanted);
      return made && this.#bytesOf(made, held.document, bytes);
    });
    if (!made) return noMatchReply(options.dialect);
    if (changed) this.#announce(made, stat.version);
    return this.#reply(made);
  }

  /** An error, with how many elements it is about where the client may know. */
  explained(error: unknown): unknown {
    return this.#isReadable ? withMatches(error, this.#matches.length) : error;
  }

  /** Nobody looks at the documents any more. */
  release(): void {
    for (const each of this.#held) each.release();
  }

  /** Judges permission and preconditions for the elements in one version of the document. */
  async #judge({ document, stat }: Pick<LoadedDocument, "document" | "stat">): Promise<ChosenElements> {
    const { exchange, path, options, right } = this.#request;
    const { access } = exchange;
    const matches = this.#matches;
    const chosen = new ChosenElements(document, matches, options.maxSelectionSteps);
    if (!(await chosen.isGiven(access, right, path, this.#client))) throw access.refusal();
    this.#isReadable = await chosen.isGiven(access, "read", path, this.#client);
    const makeTag = async (): Promise<string> => elementTag(await elementBytes(document, matches, options));
    await judgePreconditions(exchange, stat, this.#isReadable ? makeTag : undefined);
    return chosen;
  }

  /** The document under the lock, where nobody else changes it. */
  async #parse(kind: DocumentKind, bytes: Uint8Array, { size, version }: StoredStat): Promise<HeldDocument> {
    const { documents, path, options } = this.#request;
    refuseTooLarge(size, options);
    const held = await documents.hold(path, version, () => parseDocument(kind, bytes, this.#limits));
    this.#held.push(held);
    return held;
  }

  /** Edits one version of the document; `undefined` where nothing matches in it. */
  async #change(
    held: HeldDocument,
    stat: StoredStat,
    asked: AnsweredEdit,
    { editOf }: WantedEdit,
  ): Promise<MadeEdit | undefined> {
    const { exchange, documents, path, options } = this.#request;
    const { document } = held;
    this.#matches = await this.#find(document);
    if (this.#matches.length === 0) return undefined;
    const chosen = await this.#judge({ document, stat });
    const isAsked = options.beforeWrite !== undefined || options.recordRemoved === true;
    const removed = isAsked ? await textOf(document, outermost(this.#matches), options) : undefined;
    const other = await this.#decidedHtml(asked, removed);
    const edit = other === undefined ? asked : editOf(other);
    const announced = new AnnouncedElements(exchange.site.changes, path, chosen, this.#client);
    await announced.judgeBefore();
    const takeTree = (): boolean => announced.releaseTree() && this.#take(held);
    const applied = await applyEdit(document, this.#matches, edit, this.#limits, takeTree);
    this.#held.push(documents.keep(applied.document));
    await announced.judgeAfter(applied, options.maxSelectionSteps);
    return { edit, applied, content: await edit.content(applied), removed, announced };
  }

  /** What the host program puts in the place of the HTML; `undefined` for nothing. */
  async #decidedHtml(edit: AnsweredEdit, removed = ""): Promise<string | undefined> {
    const { exchange, path, selector, options } = this.#request;
    if (!options.beforeWrite) return undefined;
    const matches = this.#matches.length;
    const write = { kind: changeKind(edit), path, exchange, selector, matches, before: removed, html: edit.html };
    return decidedHtml(options.beforeWrite, write);
  }

  /** Takes the tree of a document for that of the next version; `false` where somebody works with it. */
  #take(held: HeldDocument): boolean {
    const { documents, path } = this.#request;
    held.release();
    const isTaken = documents.take(path, held.document);
    if (!isTaken) this.#held.push(documents.keep(held.document));
    return isTaken;
  }

  /** The file from now on; `undefined` where the edit changes nothing. */
  #bytesOf({ applied }: MadeEdit, old: SourceDocument, bytes: Uint8Array): Uint8Array | undefined {
    const { document, isNormalised, placements } = applied;
    if (document === old) return undefined;
    const edited = isNormalised ? documentBytes(document) : spliceBytes(bytes, old, placements);
    refuseTooManyBytes(edited.byteLength, this.#maxLength);
    return edited;
  }

  /** Tells listeners of an edit that was written, and keeps the new version. */
  #announce({ edit, applied, removed, announced }: MadeEdit, version: string): void {
    const { exchange, documents, path, selector, options } = this.#request;
    const { document } = applied;
    if (readsAsParsed(document)) documents.set(path, version, document);
    const change = {
      kind: changeKind(edit),
      path,
      selector,
      matches: this.#matches.length,
      ...(edit.html !== "" && { html: edit.html }),
      ...(options.recordRemoved && edit.kind !== "appended" && removed !== undefined && { removed }),
      etag: entityTag(version),
    };
    exchange.changed(change, announced.elements);
    if (announced.isAskedLater) documents.keep(document); // for as long as somebody is still to be told
  }

  async #reply({ edit, applied, content }: MadeEdit): Promise<Reply> {
    const normalised = applied.isNormalised && { "x-normalised": "true" };
    // A client that may not read the elements learns neither their number nor what they hold besides the edit.
    const matches = this.#isReadable ? this.#matches.length : undefined;
    if (content === undefined) return emptyReply(204, { ...matchHeaders(matches), ...normalised });
    const headers = { ...elementHeaders(this.#request, matches), ...normalised };
    if (!this.#isReadable) return { status: 206, headers, body: Buffer.from(edit.html) };
    const etag = await this.#tagIn(applied.document);
    return { status: 206, headers: { ...headers, ...(etag !== undefined && { etag }) }, body: content };
  }

  /** The tag that a GET of the same selector has from now on; `undefined` where it has none. */
  async #tagIn(document: SourceDocument): Promise<string | undefined> {
    const { exchange, options, path } = this.#request;
    try {
      const matches = await this.#find(document);
      if (matches.length === 0) return undefined;
      const chosen = new ChosenElements(document, matches, options.maxSelectionSteps);
      // The edit may have made the selector match elements of somebody else, whose content the tag would give away.
      if (!(await chosen.isGiven(exchange.access, "read", path, this.#client))) return undefined;
      return elementTag(await elementBytes(document, matches, options));
    } catch (error) {
      // The change is made; that selecting again takes too long is no reason to say that it failed.
      if (knownHttpError(error)) return undefined;
      throw error;
    }
  }
}

function changeKind({ kind }: ElementEdit): ElementWrite["kind"] {
  return `elements-${kind}`;
}

async function textOf(
  document: SourceDocument,
  elements: readonly SourceElement[],
  options: ElementRequest["options"],
): Promise<string> {
  return Buffer.from(await elementBytes(document, elements, options)).toString();
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
