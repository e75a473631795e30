import { type SlicedWork, settled } from "../../event-loop/sliced-work.ts";
import { SourceElement } from "../document/html-nodes.ts";
import type { ParseLimits } from "../document/parse-budget.ts";
import { type EditedPart, parseEditedPart, parseSource } from "../document/parse-document.ts";
import type { SourceChange } from "../document/reparse-html.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { TreeWalk } from "../document/tree-walk.ts";
import { DocumentError, invalidHtml } from "../document-error.ts";
import { carryIndex } from "../selector/element-index.ts";
import { countBefore } from "../selector/sorted.ts";
import { normalise } from "./normalise.ts";
import { type Place, type Placement, parentAt, refuseTooLong, splice, splicedLength } from "./placement.ts";
import { type FailedProof, prove } from "./proof.ts";

const beyondLatin1 = /[^\x00-\xff]/;

/** An edit that is proven to do what it should, and nothing else. */
export interface AppliedEdit {
  readonly document: SourceDocument;
  readonly placements: readonly Placement[];
  /** The edited elements in the new document; those that went are missing. */
  readonly elements: readonly SourceElement[];
  /** Whether the document had to be written anew for it. */
  readonly isNormalised: boolean;
}

export interface EditLimits extends ParseLimits {
  /** Most characters that it may have. */
  readonly maxLength: number;
}

/**
 * Makes an edit in the source, parses what it changes and proves it. `takeTree` is asked once the edit is proven: where
 * it gives the tree of the old document away, that becomes part of the new one. Otherwise, and where the rest of the
 * page might read differently, the whole document is parsed. Where the edit fails, because an element has no characters
 * of its own or because broken markup reaches across it, it is tried again on the document in its normal form. What
 * fails there, too, is the fault of what was supplied: `INVALID_HTML`.
 */
export function* applyEdit(
  document: SourceDocument,
  elements: readonly SourceElement[],
  place: Place,
  limits: EditLimits,
  takeTree: () => boolean = () => false,
): SlicedWork<AppliedEdit> {
  const direct = yield* attempt(document, elements, place, limits, takeTree);
  if (!(direct instanceof DocumentError)) return direct;
  const normal = yield* normalise(document, elements, limits);
  if (!normal) throw direct;
  const second = yield* attempt(normal.document, normal.elements, place, limits, () => true);
  if (second instanceof DocumentError) throw second;
  return { ...second, isNormalised: true };
}

/** Makes changes that are placed already, or throws why they cannot be made in this document as it is written. */
export function* applyPlacements(
  document: SourceDocument,
  placements: readonly Placement[],
  limits: EditLimits,
  takeTree: () => boolean,
): SlicedWork<AppliedEdit> {
  const applied = yield* attempt(document, [], () => settled(placements), limits, takeTree);
  if (applied instanceof DocumentError) throw applied;
  return applied;
}

/** The edit, or why it cannot be made in this document as it is written. */
function* attempt(
  document: SourceDocument,
  elements: readonly SourceElement[],
  place: Place,
  limits: EditLimits,
  takeTree: () => boolean,
): SlicedWork<AppliedEdit | DocumentError> {
  const placements = yield* place(document, elements, limits.maxLength);
  if (!placements) return withoutPlace();
  if (placements.length === 0) return { document, placements, elements, isNormalised: false };
  refuseTooLong(splicedLength(document.source, placements), limits.maxLength);
  yield; // for thousands of places, each of these steps takes milliseconds
  const source = splice(document.source, placements);
  if (!isWritable(source, document)) return withoutPlace();
  const start = placements[0]?.start ?? 0;
  const end = placements.at(-1)?.end ?? 0;
  const change = { start, end, shift: source.length - document.source.length };
  const inPart = yield* proveInPart(source, change, { document, elements, placements, limits });
  if (inPart && takeTree()) {
    return { document: yield* inPart.join(), placements, elements: inPart.elements, isNormalised: false };
  }
  const edited = yield* parseResult(source, document, limits);
  const proof = yield* prove(document, edited, placements, elements);
  if (!proof.holds) return problemOf(proof, placements);
  const remaining = elements.flatMap((element) => proof.counterparts.get(element) ?? []);
  return { document: edited, placements, elements: remaining, isNormalised: false };
}

interface UnprovenEdit {
  readonly document: SourceDocument;
  readonly elements: readonly SourceElement[];
  readonly placements: readonly Placement[];
  readonly limits: EditLimits;
}

/** A proof by that part of the page alone that the edit changes; `undefined` where it proves nothing. */
function* proveInPart(
  source: string,
  change: SourceChange,
  { document, elements, placements, limits }: UnprovenEdit,
): SlicedWork<{ join(): SlicedWork<SourceDocument>; elements: readonly SourceElement[] } | undefined> {
  const part = yield* parseEditedPart(source, change, document, limits);
  if (!part) return undefined;
  const proof = yield* prove(document, part.page, placements, elements, part.seams);
  if (!proof.holds) return undefined;
  const isGone = goneWith(placements);
  const found = elements.flatMap((element) => proof.counterparts.get(element) ?? (isGone(element) ? [] : element));
  const join = () => joinedWithIndex(part, document);
  return { join, elements: found.map((each) => (part.originals.get(each) ?? each) as SourceElement) };
}

/** Joins a part to a document, and takes over what selectors know of that. */
function* joinedWithIndex(part: EditedPart, { root }: SourceDocument): SlicedWork<SourceDocument> {
  const joined = yield* part.join();
  if (part.neighbours) yield* carryIndex(root, joined.root, part.neighbours);
  return joined;
}

/** Whether an element goes with what an edit takes out; others that are not in the part stay what they are. */
function goneWith(placements: readonly Placement[]): (element: SourceElement) => boolean {
  const gone = new Set<unknown>();
  for (const { removes = [] } of placements) for (const each of removes) gone.add(each);
  const emptied = new Set<unknown>(placements.map(({ empties }) => empties));
  return (element) => {
    if (gone.has(element)) return true;
    for (let each = element.parent; each; each = each.parent) if (gone.has(each) || emptied.has(each)) return true;
    return false;
  };
}

/** Two pieces of XML that are well-formed may not be so together: `]]` and `>`. */
function* parseResult(source: string, document: SourceDocument, limits: EditLimits): SlicedWork<SourceDocument> {
  try {
    return yield* parseSource(source, document, limits);
  } catch (error) {
    if (!(error instanceof DocumentError && error.code === "NOT_WELL_FORMED")) throw error;
    throw new DocumentError("INVALID_HTML", error.message.replace("is not", "would no longer be"));
  }
}

/** Whether the bytes of a text read as that text again. */
function isWritable(source: string, { encoding, hasByteOrderMark }: SourceDocument): boolean {
  const beginsWithMark = source.startsWith(encoding === "utf8" ? "\ufeff" : "\xef\xbb\xbf");
  if (beginsWithMark && !hasByteOrderMark) return false;
  // An end tag that is added for an element whose name has a NUL in it, which the parser reads as U+FFFD.
  return encoding === "utf8" || !beyondLatin1.test(source);
}

function withoutPlace(): DocumentError {
  const details =
    "An element that matches has no place of its own in the file, and the page cannot be put in order: its markup is broken.";
  return new DocumentError("INVALID_TARGET", details);
}

function problemOf({ supplied, wasFound }: FailedProof, placements: readonly Placement[]): DocumentError {
  // What is moved before everything that was there (a `div` in a `table`) is missed before its place is reached.
  const blamed = supplied ?? firstSupplied(placements);
  if (!blamed) {
    const details = "The rest of the page would read differently: the markup around the elements is broken.";
    return new DocumentError("INVALID_TARGET", details);
  }
  const { tag, kind, line, column } = blamed.step;
  if (supplied && wasFound) return invalidHtml("a browser would read what follows it differently", line, column);
  const { parent } = blamed;
  const where = parent instanceof SourceElement ? ` in <${parent.name}>` : "";
  const what = tag ? `<${tag.name}>` : kind;
  return invalidHtml(`${what} cannot stand there${where}; a browser would move, split or drop it`, line, column);
}

function firstSupplied(placements: readonly Placement[]): FailedProof["supplied"] {
  const placement = placements.find(({ fragment }) => fragment);
  const [step] = placement?.fragment?.steps ?? [];
  return (
    step && { step, parent: placement?.adds ? parentAt(placement.adds) : (placement?.removes?.[0]?.parent ?? null) }
  );
}

/** Pieces of a thousand nodes each take well below a millisecond. */
const stepsOfPiece = 1000;

/** The elements that an edit has left or put in the place of those that it was about, in the new document. */
export function* placedElements({ document, placements, elements }: AppliedEdit): SlicedWork<readonly SourceElement[]> {
  const isBeside = placements.some(({ adds }) => adds?.position === "beforebegin" || adds?.position === "afterend");
  if (elements.length > 0 && !isBeside) return elements; // they are still there, and hold what was added
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
function suppliedPlaces(placements: readonly Placement[]): (index: number) => boolean {
  let delta = 0;
  const supplied = placements.map(({ start, end, text }) => {
    const from = start + delta;
    delta += text.length - (end - start);
    return { from, to: from + text.length };
  });
  return (index) => index < (supplied[countBefore(supplied, ({ from }) => from <= index) - 1]?.to ?? -1);
}
