import { atHand, type SlicedWork } from "../../event-loop/sliced-work.ts";
import type { SourceElement } from "../document/html-nodes.ts";
import { requireEncodable, type SourceDocument } from "../document/source-document.ts";
import { DocumentError } from "../document-error.ts";
import { type AppliedEdit, applyEdit, applyPlacements, type EditLimits } from "./apply-edit.ts";
import { Batch } from "./batch.ts";
import type { Edit } from "./edits.ts";
import { type Affected, affectedBy, type EditedPage, makeEdit } from "./operations.ts";
import type { CheckReplacement, Placement } from "./placement.ts";

/** What edits take from those who have them made. */
interface EditRules {
  readonly limits: EditLimits;
  /** The elements that a selector selects. */
  select(document: SourceDocument, selector: string): SlicedWork<readonly SourceElement[]>;
  /** The outer HTML of elements, byte for byte, and its tag. */
  outerHtml(document: SourceDocument, elements: readonly SourceElement[]): SlicedWork<string>;
  tagOf(document: SourceDocument, elements: readonly SourceElement[]): SlicedWork<string>;
  readonly checkReplacement?: CheckReplacement;
  /** Whether the tree of a document may become that of the next one. */
  takeTree?(document: SourceDocument): boolean;
}

/** Those who have a list of edits made. */
export interface EditHost<Context> extends EditRules {
  /** Whether there is one edit and no list, so that errors need not say which one they are about. */
  readonly isAlone?: boolean;
  /** Whether independent edits may be made together, because the pages in between are not needed. */
  readonly mayWait?: boolean;
  /** Called when it is known what an edit is about, before it is made, perhaps twice; throws where it may not be. */
  begin?(begun: BegunEdit): SlicedWork<Context>;
  /** Called after the edit, with the changes that it was made of, and with what `begin` has said of it. */
  end?(made: MadeEdit, context: Context): SlicedWork<void>;
}

/** An edit, in the page as those before have left it. */
export interface BegunEdit {
  readonly edit: Edit;
  readonly document: SourceDocument;
  readonly matches: readonly SourceElement[];
  readonly to: readonly SourceElement[];
  readonly affected: readonly Affected[];
}

/** An edit that was made. */
export interface MadeEdit extends BegunEdit {
  /** In order; an edit may take several changes, or none. */
  readonly changes: readonly AppliedEdit[];
}

/** A page after a list of edits. It does not hold the pages in between, which may be a thousand. */
export interface EditedDocument {
  readonly document: SourceDocument;
  /** The one change of the source that they were, where they were just one. */
  readonly only: AppliedEdit | undefined;
  readonly isNormalised: boolean;
}

/**
 * Makes edits one after the other, each in the page as those before have left it; throws where one of them cannot be
 * made, with its index. Each change is proven, and so is their sum.
 */
export function* applyEdits<Context>(
  document: SourceDocument,
  edits: readonly Edit[],
  host: EditHost<Context>,
): SlicedWork<EditedDocument> {
  const list = new ListOfEdits(document, host);
  for (const [index, edit] of edits.entries()) {
    yield* list.make(edit, index);
    yield;
  }
  yield* list.settle();
  return list;
}

/** An edit that waits for others, to be made with them. */
interface WaitingEdit<Context> {
  readonly edit: Edit;
  readonly index: number;
  readonly begun: BegunEdit;
  readonly context: Context | undefined;
  readonly isChange: boolean;
}

/** The edits that were made so far, and those that wait. */
class ListOfEdits<Context> implements EditedDocument {
  document: SourceDocument;
  only: AppliedEdit | undefined;
  isNormalised = false;
  readonly #host: EditHost<Context>;
  #batch: Batch;
  #waiting: WaitingEdit<Context>[] = [];
  #count = 0;

  constructor(document: SourceDocument, host: EditHost<Context>) {
    this.document = document;
    this.#host = host;
    this.#batch = new Batch(document);
  }

  /** Makes an edit by itself, or has it wait for others. */
  *make(edit: Edit, index: number): SlicedWork<void> {
    if (this.#host.mayWait && (yield* this.#waits(edit, index))) return;
    yield* this.settle();
    yield* this.#makeAlone(edit, index);
  }

  /** Makes all that wait, at once; where that cannot be proven, one by one, which says what is wrong with which. */
  *settle(): SlicedWork<void> {
    const waiting = this.#waiting;
    const { placements } = this.#batch;
    if (waiting.length === 0) return;
    this.#waiting = [];
    const applied = placements.length > 0 ? yield* this.#together(placements) : undefined;
    if (placements.length > 0 && !applied) {
      for (const { edit, index } of waiting) yield* this.#makeAlone(edit, index);
      return;
    }
    if (applied) this.#add(applied);
    for (const { begun, context, isChange } of waiting) {
      yield* this.#host.end?.({ ...begun, changes: applied && isChange ? [applied] : [] }, context as Context) ??
        atHand(undefined);
    }
    this.#batch = new Batch(this.document);
  }

  *#together(placements: readonly Placement[]): SlicedWork<AppliedEdit | undefined> {
    const { document } = this;
    const { limits, takeTree } = this.#host;
    const sorted = placements.toSorted((a, b) => a.start - b.start);
    try {
      return yield* applyPlacements(document, sorted, limits, () => takeTree?.(document) ?? false);
    } catch (error) {
      if (error instanceof DocumentError) return undefined; // one by one, each knows its own error
      throw error;
    }
  }

  *#makeAlone(edit: Edit, index: number): SlicedWork<void> {
    try {
      for (const change of yield* applyOne(this.document, edit, this.#host)) this.#add(change);
    } catch (error) {
      throw error instanceof DocumentError && !this.#host.isAlone ? indexed(error, edit, index) : error;
    }
    this.#batch = new Batch(this.document);
  }

  #add(change: AppliedEdit): void {
    this.document = change.document;
    this.isNormalised ||= change.isNormalised;
    this.#count += 1;
    this.only = this.#count === 1 ? change : undefined;
  }

  /** Whether an edit can wait: those that wait already change nothing of what it is. */
  *#waits(edit: Edit, index: number): SlicedWork<boolean> {
    const batch = this.#batch;
    if (edit.etag !== undefined || "to" in edit || !batch.leavesAlone(edit.selector)) return false;
    try {
      const begun = yield* beginOne(this.document, edit, this.#host);
      const { matches } = begun;
      const isOfPage = matches.some(
        (element) =>
          element.parent === null || element.parent.parent?.type === "root" || element.parent.type === "root",
      );
      if (isOfPage || !batch.has(matches)) return false;
      const context = yield* this.#host.begin?.(begun) ?? atHand(undefined);
      yield* judgeConditions(begun, this.#host);
      const page = new WaitingPage(this.document, this.#host);
      yield* makeOne(page, begun);
      const { placements } = page;
      if (!placements || !batch.take(placements)) return false;
      this.#waiting.push({ edit, index, begun, context, isChange: placements.length > 0 });
      return true;
    } catch {
      return false; // it may be an earlier one that fails; by itself, it fails again
    }
  }
}

/** Notes what an edit would change. */
class WaitingPage implements EditedPage {
  readonly document: SourceDocument;
  readonly checkReplacement: CheckReplacement;
  /** `undefined` where an element has no place of its own. */
  placements: readonly Placement[] | undefined = [];
  readonly #maxLength: number;

  constructor(document: SourceDocument, { limits, checkReplacement = () => {} }: EditRules) {
    this.document = document;
    this.checkReplacement = checkReplacement;
    this.#maxLength = limits.maxLength;
  }

  *change(
    elements: readonly SourceElement[],
    place: Parameters<EditedPage["change"]>[1],
    length = 0,
  ): SlicedWork<readonly SourceElement[]> {
    this.placements = length <= this.#maxLength ? yield* place(this.document, elements) : undefined;
    return elements;
  }

  outerHtml(): SlicedWork<string> {
    throw new TypeError("what waits cannot be read");
  }
}

function indexed(error: DocumentError, { op }: Edit, index: number): DocumentError {
  const { code, message, line, column } = error;
  return new DocumentError(code, `Edit ${index} (${op}): ${message}`, { line, column, index });
}

/** Fields whose text is put into the page. */
const suppliedFields = ["html", "text", "name", "value", "class"];

function* applyOne<Context>(
  document: SourceDocument,
  edit: Edit,
  host: EditHost<Context>,
): SlicedWork<readonly AppliedEdit[]> {
  const begun = yield* beginOne(document, edit, host);
  const context = yield* host.begin?.(begun) ?? atHand(undefined);
  yield* judgeConditions(begun, host);
  const page = new Page(document, host);
  yield* makeOne(page, begun);
  yield* host.end?.({ ...begun, changes: page.changes }, context as Context) ?? atHand(undefined);
  return page.changes;
}

/** Finds what an edit is about. */
function* beginOne(document: SourceDocument, edit: Edit, host: EditRules): SlicedWork<BegunEdit> {
  const matches = yield* host.select(document, edit.selector);
  const to = "to" in edit && matches.length > 0 ? yield* host.select(document, edit.to) : [];
  const own = affectedBy(edit, matches, to);
  const isConditional = edit.matches !== undefined || edit.etag !== undefined;
  const affected = isConditional ? [...own, { effect: "reads" as const, elements: matches }] : own;
  return { edit, document, matches, to, affected };
}

function* makeOne(page: EditedPage, { edit, document, matches, to }: BegunEdit): SlicedWork<void> {
  if (matches.length === 0) return;
  for (const field of suppliedFields) if (field in edit) requireEncodable(document, String(edit[field as keyof Edit]));
  yield* makeEdit(page, edit, matches, to);
}

function* judgeConditions({ edit, document, matches }: BegunEdit, host: EditRules): SlicedWork<void> {
  const { etag } = edit;
  if (edit.matches !== undefined && edit.matches !== matches.length) {
    throw failed(`There are ${matches.length} such elements, not ${edit.matches}`);
  }
  if (etag !== undefined && (matches.length === 0 || etag !== (yield* host.tagOf(document, matches)))) {
    throw failed("The elements have another entity tag");
  }
}

function failed(reason: string): DocumentError {
  return new DocumentError("EDIT_PRECONDITION_FAILED", `${reason}; nothing was done.`);
}

class Page implements EditedPage {
  document: SourceDocument;
  readonly changes: AppliedEdit[] = [];
  readonly #host: EditRules;

  constructor(document: SourceDocument, host: EditRules) {
    this.document = document;
    this.#host = host;
  }

  get checkReplacement(): CheckReplacement {
    return this.#host.checkReplacement ?? (() => {});
  }

  *change(
    elements: readonly SourceElement[],
    place: Parameters<EditedPage["change"]>[1],
    length = 0,
  ): SlicedWork<readonly SourceElement[]> {
    const { limits, takeTree } = this.#host;
    const { document } = this;
    const takes = (): boolean => takeTree?.(document) ?? false;
    const applied = yield* applyEdit(document, elements, { length, place }, limits, takes);
    if (applied.document !== document) this.changes.push(applied);
    this.document = applied.document;
    return applied.elements;
  }

  outerHtml(elements: readonly SourceElement[]): SlicedWork<string> {
    return this.#host.outerHtml(this.document, elements);
  }
}
