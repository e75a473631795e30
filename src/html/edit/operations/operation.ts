import type { SlicedWork } from "../../../event-loop/sliced-work.ts";
import type { SourceElement, TreeParent } from "../../document/html-nodes.ts";
import type { SourceDocument } from "../../document/source-document.ts";
import type { Edit, EditBase, EditOf, InsertPosition } from "../edits.ts";
import type { CheckReplacement, DocumentLanguage, Placement } from "../placement.ts";
import { parentAt } from "../placement.ts";

/** What an edit does to elements. */
export type Effect = "reads" | "changes" | "grows" | "removes";

/** Elements, and what an edit does to them. */
export interface Affected {
  readonly effect: Effect;
  readonly elements: readonly SourceElement[];
}

/** A page that is edited. */
export interface EditedPage {
  readonly document: SourceDocument;
  readonly language: DocumentLanguage;
  /** What may keep an element from giving way to a fragment. */
  readonly checkReplacement: CheckReplacement;
  /**
   * Makes a change and proves it. Gives the elements that are still there, as they are now. `length`: characters that are
   * added, where that is known beforehand.
   */
  change(
    elements: readonly SourceElement[],
    place: (document: SourceDocument, elements: readonly SourceElement[]) => SlicedWork<Placements>,
    length?: number,
  ): SlicedWork<readonly SourceElement[]>;
  /** The outer HTML of elements, as a GET tells it. */
  outerHtml(elements: readonly SourceElement[]): SlicedWork<string>;
}

type Placements = readonly Placement[] | undefined;

/** Whether a field is what it has to be, and what that is. */
export interface Field {
  readonly expected: string;
  accepts(value: unknown): boolean;
}

/** One `op`. */
export interface Operation<Op extends Edit["op"]> {
  /** The fields that it has besides those of all edits. */
  readonly fields: Readonly<Record<Exclude<keyof EditOf<Op>, keyof EditBase | "op">, Field>>;
  /** What it does to which elements; `to` are those that a selector of that name selects. */
  affects(edit: EditOf<Op>, matches: readonly SourceElement[], to: readonly SourceElement[]): readonly Affected[];
  /** Makes the edit, of one element or more. */
  make(
    page: EditedPage,
    edit: EditOf<Op>,
    matches: readonly SourceElement[],
    to: readonly SourceElement[],
  ): SlicedWork<unknown>;
}

/** What most do: the elements themselves are changed. */
export function changesThem(_edit: unknown, elements: readonly SourceElement[]): readonly Affected[] {
  return [{ effect: "changes", elements }];
}

/** The elements whose content grows where something is added at a position. */
export function growing(elements: readonly SourceElement[], position: InsertPosition): Affected {
  const parents = elements.map((element) => parentAt({ element, position }));
  return { effect: "grows", elements: [...new Set(parents)].filter(isElement) };
}

function isElement(node: TreeParent | null): node is SourceElement {
  return node !== null && "attribs" in node;
}

// JSON can hold half of a character, which no file can.
export const text: Field = {
  expected: "a text without NUL and without half characters",
  accepts: (value) => typeof value === "string" && !value.includes("\0") && !/[\ud800-\udfff]/u.test(value),
};

export const selector: Field = {
  expected: "a selector",
  accepts: (value) => typeof value === "string" && value !== "",
};

const positions: ReadonlySet<unknown> = new Set<InsertPosition>(["beforebegin", "afterbegin", "beforeend", "afterend"]);

export const position: Field = {
  expected: "beforebegin, afterbegin, beforeend or afterend",
  accepts: (value) => positions.has(value),
};
