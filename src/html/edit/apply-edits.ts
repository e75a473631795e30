import type { SourceElement } from "../document/html-nodes.ts";
import { requireEncodable, type SourceDocument } from "../document/source-document.ts";
import { DocumentError } from "../document-error.ts";
import { type AppliedEdit, applyEdit, type EditLimits, languageOf } from "./apply-edit.ts";
import type { Edit } from "./edits.ts";
import type { Affected, EditedPage } from "./operations/operation.ts";
import { operationOf } from "./operations.ts";
import type { CheckReplacement } from "./placement.ts";

/** What a list of edits takes from those who have it made. */
export interface EditHost {
  readonly limits: EditLimits;
  /** Whether there is one edit and no list, so that errors need not say which one they are about. */
  readonly isAlone?: boolean;
  /** The elements that a selector selects. */
  select(document: SourceDocument, selector: string): Promise<readonly SourceElement[]> | readonly SourceElement[];
  /** The outer HTML of elements, byte for byte, and its tag. */
  outerHtml(document: SourceDocument, elements: readonly SourceElement[]): Promise<string>;
  tagOf(document: SourceDocument, elements: readonly SourceElement[]): Promise<string>;
  readonly checkReplacement?: CheckReplacement;
  /** Called when it is known what an edit is about, before it is made; throws where it may not be. */
  begin?(begun: BegunEdit): Promise<void>;
  /** Called after the edit, with the changes that it was made of. */
  end?(made: MadeEdit): Promise<void>;
  /** Whether the tree of a document may become that of the next one. */
  takeTree?(document: SourceDocument): boolean;
}

/** An edit, in the page as those before have left it. */
export interface BegunEdit {
  readonly edit: Edit;
  readonly document: SourceDocument;
  readonly matches: readonly SourceElement[];
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
 * Makes edits one after the other, each in the page as those before have left it; throws where one of them cannot be made, with
 * its index. Each change is proven, and so is their sum.
 */
export async function applyEdits(
  document: SourceDocument,
  edits: readonly Edit[],
  host: EditHost,
): Promise<EditedDocument> {
  let current = document;
  let only: AppliedEdit | undefined;
  let count = 0;
  let isNormalised = false;
  for (const [index, edit] of edits.entries()) {
    try {
      for (const change of await applyOne(current, edit, host)) {
        current = change.document;
        isNormalised ||= change.isNormalised;
        only = change;
        count += 1;
      }
    } catch (error) {
      throw error instanceof DocumentError && !host.isAlone ? indexed(error, edit, index) : error;
    }
  }
  return { document: current, only: count === 1 ? only : undefined, isNormalised };
}

function indexed(error: DocumentError, { op }: Edit, index: number): DocumentError {
  const { code, message, line, column } = error;
  return new DocumentError(code, `Edit ${index} (${op}): ${message}`, { line, column, index });
}

/** Fields whose text is put into the page. */
const suppliedFields = ["html", "text", "name", "value", "class"];

async function applyOne(document: SourceDocument, edit: Edit, host: EditHost): Promise<readonly AppliedEdit[]> {
  const matches = await host.select(document, edit.selector);
  const to = "to" in edit && matches.length > 0 ? await host.select(document, edit.to) : [];
  const operation = operationOf(edit);
  const own = operation.affects(edit, matches, to);
  const isConditional = edit.matches !== undefined || edit.etag !== undefined;
  const affected = isConditional ? [...own, { effect: "reads" as const, elements: matches }] : own;
  const begun = { edit, document, matches, affected };
  await host.begin?.(begun);
  await judgeConditions(begun, host);
  const page = new Page(document, host);
  if (matches.length > 0) {
    for (const field of suppliedFields)
      if (field in edit) requireEncodable(document, String(edit[field as keyof Edit]));
    await operation.make(page, edit, matches, to);
  }
  await host.end?.({ ...begun, changes: page.changes });
  return page.changes;
}

async function judgeConditions({ edit, document, matches }: BegunEdit, host: EditHost): Promise<void> {
  const { etag } = edit;
  if (edit.matches !== undefined && edit.matches !== matches.length) {
    throw failed(`There are ${matches.length} such elements, not ${edit.matches}`);
  }
  if (etag !== undefined && (matches.length === 0 || etag !== (await host.tagOf(document, matches)))) {
    throw failed("The elements have another entity tag");
  }
}

function failed(reason: string): DocumentError {
  return new DocumentError("EDIT_PRECONDITION_FAILED", `${reason}; nothing was done.`);
}

class Page implements EditedPage {
  document: SourceDocument;
  readonly changes: AppliedEdit[] = [];
  readonly #host: EditHost;

  constructor(document: SourceDocument, host: EditHost) {
    this.document = document;
    this.#host = host;
  }

  get language(): EditedPage["language"] {
    return languageOf(this.document);
  }

  get checkReplacement(): CheckReplacement {
    return this.#host.checkReplacement ?? (() => {});
  }

  async change(
    elements: readonly SourceElement[],
    place: Parameters<EditedPage["change"]>[1],
    length = 0,
  ): Promise<readonly SourceElement[]> {
    const { limits, takeTree } = this.#host;
    const { document } = this;
    const takes = (): boolean => takeTree?.(document) ?? false;
    const applied = await applyEdit(
      document,
      elements,
      { length, place: async (...given) => place(...given) },
      limits,
      takes,
    );
    if (applied.document !== document) this.changes.push(applied);
    this.document = applied.document;
    return applied.elements;
  }

  outerHtml(elements: readonly SourceElement[]): Promise<string> {
    return this.#host.outerHtml(this.document, elements);
  }
}
