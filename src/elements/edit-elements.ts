import { Buffer } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { Client } from "../event-loop/fair-queue.ts";
import { inSlices, type SlicedWork, settled } from "../event-loop/sliced-work.ts";
import { preconditionCheck } from "../files/commit.ts";
import type { Edit } from "../html/edit/edits.ts";
import {
  applyEdits,
  type BegunEdit,
  type DocumentKind,
  decodeHtml,
  documentBytes,
  type EditedDocument,
  type Effect,
  type MadeEdit,
  outermost,
  type ParseLimits,
  parseDocument,
  readsAsParsed,
  type SourceDocument,
  type SourceElement,
} from "../html/engine.ts";
import { entityTag } from "../http/entity-tag.ts";
import { HttpError } from "../http/http-error.ts";
import { documentKind } from "../http/selector-range.ts";
import { permitAll, type Right } from "../server/access.ts";
import { clientOf, refuseEncodedContent } from "../server/admission.ts";
import { decidedContent, decidedEdits } from "../server/before-write.ts";
import { knownHttpError } from "../server/error-reply.ts";
import type { Reply, ReplyHeaders } from "../server/reply.ts";
import type { StoredStat } from "../storage/storage.ts";
import { AnnouncedElements } from "./announced-elements.ts";
import { type HeldDocument, holdInPlace, loadDocument, parseLimits, refuseUnreadable } from "./document-cache.ts";
import { placeFor } from "./document-places.ts";
import {
  dialects,
  elementBytes,
  elementTag,
  judgePreconditions,
  matchHeaders,
  noMatchReply,
  withMatches,
} from "./element-reply.ts";
import type { EditRequest } from "./element-request.ts";
import { ChosenElements, type FindElements, finderOf } from "./selection.ts";

export interface WantedEdits {
  /** How an event calls it. */
  readonly kind: "elements-replaced" | "elements-appended" | "elements-deleted" | "elements-edited";
  /** Of a single edit: the selector, whose elements are looked at before the content is read. */
  readonly selector?: string;
  /** The edits that the content of the request is; called once there is something to change. */
  edits(content: string): readonly Edit[];
  /** The answer, which may be too long: called before anything is written. `matches`: those of the last edit. */
  content?(edited: EditedDocument, matches: readonly SourceElement[]): Promise<Uint8Array | undefined>;
  reply(done: DoneEdits, content: Uint8Array | undefined): Promise<Reply>;
}

export interface DoneEdits {
  readonly edits: readonly DoneEdit[];
  /** Of the file. */
  readonly etag: string;
  readonly headers: ReplyHeaders;
  /** Of the elements that the selector of a single edit selects now; `undefined` if the client may not read them. */
  readonly elementTag: string | undefined;
}

interface DoneEdit extends Begun {
  readonly edit: Edit;
  readonly matches: number;
  readonly isChange: boolean;
}

/** What is known of an edit before it is made. */
interface Begun {
  /** Whether the client may read what it was about. */
  readonly isReadable: boolean;
  /** The elements as they were, if they are asked for. */
  readonly before: string | undefined;
  readonly announced: AnnouncedElements;
}

const rights: Readonly<Record<Effect, Right>> = {
  reads: "read",
  changes: "overwrite",
  grows: "append",
  removes: "delete",
};

/** Reads, selects, edits, proves and writes under the file's lock: concurrent edits both land, a list as a whole. */
export async function editElements(request: EditRequest, wanted: WantedEdits): Promise<Reply> {
  const editing = new Editing(request, wanted);
  try {
    return await editing.run();
  } catch (error) {
    throw editing.explained(error);
  } finally {
    editing.release();
  }
}

class Editing {
  readonly #request: EditRequest;
  readonly #wanted: WantedEdits;
  readonly #client: Client;
  readonly #find: FindElements;
  readonly #maxLength: number;
  readonly #limits: ParseLimits & { readonly maxLength: number };
  readonly #held: HeldDocument[] = [];
  #contentBytes = 0;
  /** What a single edit matches in the version that was looked at last. */
  #matches: readonly SourceElement[] = [];
  #count = 0;
  /** Whether the client may read these. */
  #isReadable = false;
  /** The edits of the version that was looked at last. */
  #told: DoneEdit[] = [];
  /** Of the edit that was begun last. */
  #announced: AnnouncedElements | undefined;

  constructor(request: EditRequest, wanted: WantedEdits) {
    const { exchange, options } = request;
    this.#request = request;
    this.#wanted = wanted;
    this.#client = clientOf(exchange);
    this.#find = finderOf(options, this.#client);
    this.#maxLength = Math.min(options.maxDocumentSize, options.maxFileSize);
    this.#limits = { ...parseLimits(options), maxLength: this.#maxLength };
  }

  async run(): Promise<Reply> {
    const { exchange, bodies, documents, path, options } = this.#request;
    const kind = await this.#kind();
    if (!kind) return noMatchReply(options.dialect);
    refuseEncodedContent(exchange.headers);
    const isEmpty = this.#wanted.kind === "elements-deleted";
    const body = isEmpty ? new Uint8Array() : await bodies.read(exchange, this.#maxLength);
    this.#contentBytes = body.byteLength;
    return documents.edit(path, () => this.#edit(kind, this.#wanted.edits(decodeHtml(body))));
  }

  /**
   * The kind of the document; `undefined` if there is nothing to do. All is judged again under the file's lock. Small
   * content for a page that is being edited is judged only there: the tree of the stored version is already part of the
   * next one, and would have to be parsed again to be looked at.
   */
  async #kind(): Promise<DocumentKind | undefined> {
    const { exchange, documents, path, stat, file } = this.#request;
    const kind = documentKind(path);
    if (!kind || !documents.isOutdated(path, stat.version) || !isSmall(exchange.headers)) return this.#look();
    await file?.close();
    return kind;
  }

  /** Looks at the page before the content is read, and keeps nothing of it; `undefined` if there is nothing to do. */
  async #look(): Promise<DocumentKind | undefined> {
    const { documents, options, file, right = "overwrite" } = this.#request;
    const { selector } = this.#wanted;
    const { document, stat, release, leave } = await loadDocument(this.#request, documents, options, this.#client);
    try {
      await file?.close(); // some systems do not replace a file that is open
      if (selector !== undefined) {
        this.#matches = await this.#find(document, selector);
        this.#count = this.#matches.length;
        if (this.#count === 0) return undefined;
        await inSlices(this.#judge(document, [{ right, elements: this.#matches }]));
      }
      await this.#judgeConditions(document, stat);
      return document.kind;
    } finally {
      release(); // an edit that comes first may take it
      leave?.();
      this.#matches = [];
    }
  }

  /** Makes the edits under the file's lock. */
  async #edit(kind: DocumentKind, asked: readonly Edit[]): Promise<Reply> {
    const { exchange, storage, path, options } = this.#request;
    const { selector } = this.#wanted;
    let edited: EditedDocument | undefined;
    let content: Uint8Array | undefined;
    let tag: string | undefined;
    /** Hands the new version to the edit that comes next, which may take its tree. */
    const made = (stat: StoredStat): void => {
      if (edited) this.#keep(edited.document, stat);
      this.release();
    };
    const { stat, changed } = await storage.update(
      path,
      async (read, current) => {
        exchange.follows = entityTag(current.version);
        let result = await this.#make(kind, read, current, asked);
        const others = await this.#decided();
        if (others) result = await this.#make(kind, read, current, others);
        ({ edited } = result);
        content = await this.#wanted.content?.(edited, this.#matches);
        tag = content && selector !== undefined ? await this.#tagOf(edited.document, selector) : undefined;
        if (!(await this.#isWanted(result.old.source, edited.document))) return undefined;
        return this.#bytesOf(edited, result.old);
      },
      made,
    );
    if (!edited) throw new TypeError("the storage did not ask for the new content");
    if (selector !== undefined && this.#matches.length === 0) return noMatchReply(options.dialect);
    if (changed) this.#announce(edited, stat);
    return this.#wanted.reply(this.#done(edited, stat.version, tag), content);
  }

  /** Shows what the edits made to a plugin that has made the request; `false` where it only wanted to see that. */
  async #isWanted(before: string, document: SourceDocument): Promise<boolean> {
    const { exchange, path } = this.#request;
    const isWanted = exchange.inspection?.edited?.({
      before,
      after: document.source,
      isReadable: exchange.access.permitsPath("read", path),
      matches: this.#told.map(({ isReadable, matches }) => (isReadable ? matches : undefined)),
      tagOf: (each) => this.#tagOf(document, each),
    });
    return (await isWanted) ?? true;
  }

  /** An error, with how many elements it is about where the client may know. */
  explained(error: unknown): unknown {
    const isTold = this.#isReadable && this.#wanted.selector !== undefined;
    return isTold ? withMatches(error, this.#count) : error;
  }

  /** The documents are no longer used. */
  release(): void {
    for (const each of this.#held) each.release();
  }

  /** Throws where the client lacks a right. */
  *#judge(
    document: SourceDocument,
    needed: readonly { readonly right: Right; readonly elements: readonly SourceElement[] }[],
  ): SlicedWork<void> {
    const { access } = this.#request.exchange;
    for (const { right, elements } of needed) {
      if (!(yield* settled(this.#may(right, document, elements)))) throw access.refusal();
    }
    this.#isReadable = yield* settled(this.#may("read", document, this.#matches));
  }

  #chosen(document: SourceDocument, elements: readonly SourceElement[]): ChosenElements {
    return new ChosenElements(document, elements, this.#request.options.maxSelectionSteps);
  }

  #may(right: Right, document: SourceDocument, elements: readonly SourceElement[]): boolean | Promise<boolean> {
    const { exchange, path } = this.#request;
    return this.#chosen(document, elements).isGiven(exchange.access, right, path, this.#client);
  }

  /** The conditions of the request: about the elements of a single edit, or about the document. */
  async #judgeConditions(document: SourceDocument, stat: StoredStat): Promise<void> {
    const { exchange, options } = this.#request;
    if (this.#wanted.selector === undefined) return preconditionCheck(exchange)(stat);
    const makeTag = async (): Promise<string> => elementTag(await elementBytes(document, this.#matches, options));
    await judgePreconditions(exchange, stat, this.#isReadable ? makeTag : undefined);
  }

  /** Makes edits of the stored version under the lock, where no other change can be made. */
  async #make(
    kind: DocumentKind,
    read: () => Promise<Uint8Array>,
    stat: StoredStat,
    edits: readonly Edit[],
  ): Promise<{ old: SourceDocument; edited: EditedDocument }> {
    const { documents, path, options } = this.#request;
    refuseUnreadable(stat, options);
    const bytes = Math.max(stat.size, this.#contentBytes);
    const held = await holdInPlace(documents, path, stat, this.#client, bytes, async () =>
      inSlices(parseDocument(kind, await read(), this.#limits)),
    );
    this.#held.push(held);
    const leave = held.leave ?? (await placeFor(this.#client, bytes));
    try {
      return { old: held.document, edited: await this.#apply(held, stat, edits) };
    } finally {
      leave();
    }
  }

  async #apply(held: HeldDocument, stat: StoredStat, edits: readonly Edit[]): Promise<EditedDocument> {
    const { options } = this.#request;
    const { selector } = this.#wanted;
    this.#told = [];
    if (selector === undefined) await this.#judgeConditions(held.document, stat);
    const find = finderOf(options, this.#client, { steps: 0 });
    const making = applyEdits<Begun | undefined>(held.document, edits, {
      limits: { ...this.#limits, work: { steps: 0 } },
      isAlone: selector !== undefined,
      mayWait: selector === undefined && !this.#isJudgedByElements(),
      select: (document, text) => settled(find(document, text)),
      outerHtml: (document, elements) => settled(textOf(document, elements, options)),
      tagOf: (document, elements) => settled(elementBytes(document, elements, options).then(elementTag)),
      checkReplacement: dialects[options.dialect].checkReplacement,
      takeTree: (document) => this.#announced?.releaseTree() === true && this.#take(document, held),
      begin: (begun) => this.#begin(begun, stat),
      end: (made, begun) => this.#end(made, begun),
    });
    const edited = await inSlices(making);
    this.#held.push(this.#request.documents.keep(edited.document));
    return edited;
  }

  /** Judges an edit that is to be made; `undefined` for a single one that matches nothing. */
  *#begin({ document, matches, affected }: BegunEdit, stat: StoredStat): SlicedWork<Begun | undefined> {
    const { exchange, path, options } = this.#request;
    const { selector } = this.#wanted;
    this.#matches = matches;
    this.#count = matches.length;
    if (selector !== undefined && matches.length === 0) return undefined;
    yield* this.#judge(
      document,
      affected.map(({ effect, elements }) => ({ right: rights[effect], elements })),
    );
    if (selector !== undefined) yield* settled(this.#judgeConditions(document, stat));
    const before =
      options.beforeWrite && selector !== undefined
        ? yield* settled(textOf(document, outermost(matches), options))
        : undefined;
    const announced = new AnnouncedElements(exchange.site.changes, path, this.#chosen(document, matches), this.#client);
    this.#announced = announced;
    yield* announced.judgeBefore(selector === undefined);
    return { isReadable: this.#isReadable, before, announced };
  }

  *#end({ edit, matches, changes }: MadeEdit, begun: Begun | undefined): SlicedWork<void> {
    if (!begun) return;
    const last = changes.at(-1);
    yield* begun.announced.judgeAfter(last, this.#request.options.maxSelectionSteps);
    this.#told.push({ edit, matches: matches.length, isChange: last !== undefined, ...begun });
  }

  /** Whether a rule or a listener may ask about elements, which each edit leaves in a page of its own. */
  #isJudgedByElements(): boolean {
    const { exchange, path } = this.#request;
    const { access, site } = exchange;
    const hasNoRules = access === permitAll || access.selectorsOf?.(path).length === 0;
    return !hasNoRules || site.changes.judgesElements(path) !== false;
  }

  /** Takes the tree of a document for that of the next version; `false` if it is in use. */
  #take(document: SourceDocument, held: HeldDocument): boolean {
    if (document !== held.document) return true; // a document between two edits is used by no other request
    const { documents, path } = this.#request;
    held.release();
    const isTaken = documents.take(path, document);
    if (!isTaken) this.#held.push(documents.keep(document));
    return isTaken;
  }

  /** The edits that the host program puts in the place of these; `undefined` where it leaves them. */
  async #decided(): Promise<readonly Edit[] | undefined> {
    const { exchange, path, options } = this.#request;
    const { kind, selector } = this.#wanted;
    const [first] = this.#told;
    if (!options.beforeWrite || !first) return undefined;
    if (kind === "elements-edited") {
      return decidedEdits(options.beforeWrite, { kind, path, exchange, edits: this.#told.map(({ edit }) => edit) });
    }
    const { edit, matches, before = "" } = first;
    const html = "html" in edit ? edit.html : "";
    const write = { kind, path, exchange, selector: selector ?? "", matches, before, html };
    const other = (await decidedContent(options.beforeWrite, write))?.toString();
    return other === undefined || other === html ? undefined : [{ ...edit, html: other } as Edit];
  }

  /** The file from now on; `undefined` where the edits change nothing. */
  #bytesOf({ document }: EditedDocument, old: SourceDocument): Uint8Array | undefined {
    if (document === old) return undefined;
    const edited = documentBytes(document);
    const size = edited.byteLength;
    if (size <= this.#maxLength) return edited;
    const details = `The document would have ${size} bytes; ${this.#maxLength} are allowed.`;
    throw new HttpError(413, "RESULT_TOO_LARGE", details);
  }

  /** Tells listeners of edits that were written, and keeps the new version. */
  #announce({ document }: EditedDocument, stat: StoredStat): void {
    const { exchange, path } = this.#request;
    const { kind, selector } = this.#wanted;
    this.#keep(document, stat);
    const told = this.#told.filter(({ isChange }) => isChange);
    const [first] = told;
    const changed = told.flatMap(({ announced }) => announced.elements ?? []);
    const elements = changed.length === told.length ? changed : undefined;
    const change = { path, etag: entityTag(stat.version), size: stat.size };
    if (kind === "elements-edited" || selector === undefined || !first) {
      const edits = told.map(({ edit: { etag, ...edit }, matches }) => ({ ...edit, matches }));
      exchange.changed({ ...change, kind: "elements-edited", edits }, elements);
      return;
    }
    const { edit, matches } = first;
    const html = "html" in edit && edit.html !== "" && { html: edit.html };
    exchange.changed({ ...change, kind, selector, matches, ...html }, elements);
  }

  #done({ isNormalised }: EditedDocument, version: string, tag: string | undefined): DoneEdits {
    // A client that may not read the elements learns neither their number nor what they hold besides the edit.
    const matches = this.#wanted.selector !== undefined && this.#isReadable ? this.#matches.length : undefined;
    return {
      edits: this.#told,
      etag: entityTag(version),
      headers: { ...matchHeaders(matches), ...(isNormalised && { "x-normalised": "true" }) },
      elementTag: tag,
    };
  }

  /** The document of the file from now on; its tree stays as long as listeners are still to be told of it. */
  #keep(document: SourceDocument, { version, isFresh }: StoredStat): void {
    const { documents, path } = this.#request;
    if (readsAsParsed(document) && !isFresh) documents.set(path, version, document);
    if (this.#told.some(({ announced }) => announced.isAskedLater)) documents.keep(document);
  }

  async #tagOf(document: SourceDocument, selector: string): Promise<string | undefined> {
    try {
      const matches = await this.#find(document, selector);
      // The edit may have made the selector match elements of other users, whose content the tag would give away.
      if (matches.length === 0 || !(await this.#may("read", document, matches))) return undefined;
      return elementTag(await elementBytes(document, matches, this.#request.options));
    } catch (error) {
      // That selecting again takes too long is no reason to refuse the edit.
      if (knownHttpError(error)) return undefined;
      throw error;
    }
  }
}

/** The outer HTML of elements, and in a document that is not UTF-8 its bytes as characters. */
async function textOf(
  document: SourceDocument,
  elements: readonly SourceElement[],
  options: EditRequest["options"],
): Promise<string> {
  return Buffer.from(await elementBytes(document, elements, options)).toString(document.encoding);
}

/** Whether the content is too small, up to 256 KiB, to be worth a refusal before it is read. */
function isSmall(headers: IncomingHttpHeaders): boolean {
  const { "content-length": length, "transfer-encoding": coding, "content-encoding": encoding } = headers;
  return coding === undefined && encoding === undefined && Number(length ?? 0) <= 256 * 1024;
}
