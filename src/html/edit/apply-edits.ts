import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { SourceElement } from "../document/html-nodes.ts";
import { parseDocument } from "../document/parse-document.ts";
import { documentBytes, readsAsParsed, requireEncodable, type SourceDocument } from "../document/source-document.ts";
import { DocumentError } from "../document-error.ts";
import { type AppliedEdit, applyEdit, applyPlacements, type EditLimits } from "./apply-edit.ts";
import { Batch } from "./batch.ts";
import type { Edit } from "./edits.ts";
import { type Affected, operationOf, type Plan, type PlanRules, type Subject } from "./operations.ts";
import type { Placement } from "./placement.ts";

/** Those who have a list of edits made. */
export interface EditHost<Context> extends PlanRules {
  readonly limits: EditLimits;
  select(document: SourceDocument, selector: string): SlicedWork<readonly SourceElement[]>;
  tagOf(document: SourceDocument, elements: readonly SourceElement[]): SlicedWork<string>;
  /** Whether the tree of a document may become that of the next one. */
  takeTree(document: SourceDocument): boolean;
  /** Whether there is one edit and no list, so that errors need not say which one they are about. */
  readonly isAlone?: boolean;
  /** Whether independent edits may be made together, because the pages in between are not needed. */
  readonly mayWait?: boolean;
  /** Called when it is known what an edit is about, before it is made, perhaps twice; throws where it may not be. */
  begin(begun: BegunEdit): SlicedWork<Context>;
  /** Called after the edit, with the changes that it was made of, and with what `begin` has said of it. */
  end(made: MadeEdit, context: Context): SlicedWork<void>;
}

/** An edit, in the page as those before have left it. */
export interface BegunEdit extends Subject {
  readonly edit: Edit;
  readonly affected: readonly Affected[];
}

export interface MadeEdit extends BegunEdit {
  /** In order; an edit may take any number of changes. */
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
  readonly context: Context;
  readonly isChange: boolean;
}

/** The edits that were made so far, and those that wait. */
class ListOfEdits<Context> implements EditedDocument {
  document: SourceDocument;
  only: AppliedEdit | undefined;
  isNormalised = false;
  readonly #host: EditHost<Context>;
  #batch = new Batch();
  #waiting: WaitingEdit<Context>[] = [];
  #count = 0;

  constructor(document: SourceDocument, host: EditHost<Context>) {
    this.document = document;
    this.#host = host;
  }

  /** Makes an edit by itself, or has it wait for others. */
  *make(edit: Edit, index: number): SlicedWork<void> {
    if (!readsAsParsed(this.document)) {
      const { document } = this;
      this.document = yield* parseDocument(document.kind, documentBytes(document), this.#host.limits);
      this.#batch = new Batch();
    }
    // One that is not UTF-8 may be so after each edit.
    const mayWait = this.#host.mayWait && this.document.encoding === "utf8";
    if (mayWait && (yield* this.#waits(edit, index))) return;
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
      yield* this.#host.end({ ...begun, changes: applied && isChange ? [applied] : [] }, context);
    }
    this.#batch = new Batch();
  }

  *#together(placements: readonly Placement[]): SlicedWork<AppliedEdit | undefined> {
    const { document } = this;
    const { limits, takeTree } = this.#host;
    const sorted = placements.toSorted((a, b) => a.start - b.start);
    try {
      return yield* applyPlacements(document, sorted, limits, () => takeTree(document));
    } catch (error) {
      if (error instanceof DocumentError) return undefined; // one by one, each knows its own error
      throw error;
    }
  }

  *#makeAlone(edit: Edit, index: number): SlicedWork<void> {
    try {
      yield* this.#makeChanges(edit);
    } catch (error) {
      throw error instanceof DocumentError && !this.#host.isAlone ? indexed(error, edit, index) : error;
    }
    this.#batch = new Batch();
  }

  *#makeChanges(edit: Edit): SlicedWork<void> {
    const { limits, takeTree, end } = this.#host;
    const { begun, context, plan } = yield* this.#begin(edit);
    const made: AppliedEdit[] = [];
    let { elements } = plan;
    for (const place of plan.changes) {
      const { document } = this;
      const applied = yield* applyEdit(document, elements, place, limits, () => takeTree(document));
      elements = applied.elements;
      if (applied.document === document) continue;
      made.push(applied);
      this.#add(applied);
    }
    yield* end({ ...begun, changes: made }, context);
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
      const matches = yield* this.#host.select(this.document, edit.selector);
      if (matches.some(isOfPage) || !batch.has(matches)) return false;
      if (("name" in edit || "class" in edit) && batch.changesTag(matches)) return false;
      const { begun, context, plan } = yield* this.#begin(edit);
      const [place] = plan.changes;
      const placements = place ? yield* place(this.document, plan.elements, this.#host.limits.maxLength) : [];
      if (!placements || !batch.take(placements)) return false;
      this.#waiting.push({ edit, index, begun, context, isChange: placements.length > 0 });
      return true;
    } catch {
      return false; // it may be an earlier one that fails; by itself, it fails again
    }
  }

  /** Finds what an edit is about, and plans it. */
  *#begin(edit: Edit): SlicedWork<{ begun: BegunEdit; context: Context; plan: Plan }> {
    const { document } = this;
    const host = this.#host;
    const matches = yield* host.select(document, edit.selector);
    const to = "to" in edit && matches.length > 0 ? yield* host.select(document, edit.to) : [];
    const own = operationOf(edit).affects?.(edit, matches, to) ?? [{ effect: "changes", elements: matches }];
    const isConditional = edit.matches !== undefined || edit.etag !== undefined;
    const affected = isConditional ? [...own, { effect: "reads" as const, elements: matches }] : own;
    const begun: BegunEdit = { edit, document, matches, to, affected };
    const context = yield* host.begin(begun);
    if (edit.matches !== undefined && edit.matches !== matches.length) {
      throw failed(`The number of such elements is ${matches.length}, not ${edit.matches}`);
    }
    if (edit.etag !== undefined && (matches.length === 0 || edit.etag !== (yield* host.tagOf(document, matches)))) {
      throw failed("The elements have another entity tag");
    }
    if (matches.length === 0) return { begun, context, plan: { elements: matches, changes: [] } };
    for (const field of suppliedFields) {
      if (field in edit) requireEncodable(document, String(edit[field as keyof Edit]));
    }
    return { begun, context, plan: operationOf(edit).plan(edit, begun, host) };
  }
}

/** Fields whose text is put into the page. */
const suppliedFields = ["html", "text", "name", "value", "class"];

/** The root element, what stands in it, and what has no parent. */
function isOfPage({ parent }: SourceElement): boolean {
  return parent === null || parent.type === "root" || parent.parent?.type === "root";
}

function indexed(error: DocumentError, { op }: Edit, index: number): DocumentError {
  const { code, message, line, column } = error;
  return new DocumentError(code, `Edit ${index} (${op}): ${message}`, { line, column, index });
}

function failed(reason: string): DocumentError {
  return new DocumentError("EDIT_PRECONDITION_FAILED", `${reason}; nothing was done.`);
}
