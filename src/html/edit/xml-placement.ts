import { atHand, type SlicedWork } from "../../event-loop/sliced-work.ts";
import { elementSpan, isTagOnly } from "../document/element-span.ts";
import { SourceElement } from "../document/html-nodes.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { DocumentError } from "../document-error.ts";
import type { InsertPosition } from "./edits.ts";
import {
  type AdjacentPlace,
  type CheckReplacement,
  type DocumentLanguage,
  openedTag,
  outermost,
  type Placement,
  refuseVoid,
  requireParent,
} from "./placement.ts";
import type { Fragment } from "./well-formed.ts";
import { parseXmlFragment } from "./xml-fragment.ts";

/** The rules of XML, where every element has a place of its own in the source, and its tags alone say where it ends. */
export const xmlLanguage: DocumentLanguage = {
  replace: replacements,
  insert: insertions,
  fill: fillings,
  remove: removals,
  permanentElements: (root) => root.children.filter((node) => node instanceof SourceElement),
  normalise: () => atHand(undefined), // nothing is gained
};

function* replacements(
  document: SourceDocument,
  elements: readonly SourceElement[],
  xml: string,
  check: CheckReplacement,
): SlicedWork<readonly Placement[]> {
  const placements: Placement[] = [];
  for (const element of outermost(elements)) {
    const fragment = yield* parseXmlFragment(xml, document, element.parent);
    if (isRootElement(element)) requireOneElement(fragment);
    check(element, fragment);
    placements.push({ ...placeOf(element), text: xml, fragment, removes: [element] });
  }
  return placements;
}

function* insertions(
  document: SourceDocument,
  elements: readonly SourceElement[],
  xml: string,
  position: InsertPosition,
): SlicedWork<readonly Placement[]> {
  const placements: Placement[] = [];
  const isInside = position === "afterbegin" || position === "beforeend";
  for (const element of elements) {
    if (isInside) refuseVoid(element);
    else requireParent(element);
    if (xml.trim() === "") continue;
    const fragment = yield* parseXmlFragment(xml, document, isInside ? element : element.parent);
    if (isInside && isTagOnly(element)) placements.push(openedTag(document, element, fragment));
    else placements.push(addition({ element, position }, fragment));
  }
  // Of elements that end at one place the inner one, which comes later in the document, gets its content first.
  return placements.reverse().sort((a, b) => a.start - b.start);
}

function* fillings(
  document: SourceDocument,
  elements: readonly SourceElement[],
  markupFor: (element: SourceElement) => string,
): SlicedWork<readonly Placement[]> {
  const placements: Placement[] = [];
  for (const element of outermost(elements)) {
    refuseVoid(element);
    const xml = markupFor(element);
    const fragment = yield* parseXmlFragment(xml, document, element);
    if (!isTagOnly(element)) {
      const { contentEnd: end } = element;
      placements.push({ ...addition({ element, position: "afterbegin" }, fragment), end, empties: element });
    } else if (xml !== "") placements.push(openedTag(document, element, fragment));
  }
  return placements;
}

function removals(_document: SourceDocument, elements: readonly SourceElement[]): SlicedWork<readonly Placement[]> {
  const placements = outermost(elements).map((element) => {
    if (isRootElement(element)) {
      throw new DocumentError("INVALID_TARGET", "Every document has a root element; it cannot be removed.");
    }
    return { ...placeOf(element), text: "", removes: [element] };
  });
  return atHand(placements);
}

function addition(adds: AdjacentPlace, fragment: Fragment): Placement {
  const { element, position } = adds;
  const { start: before, end: behind } = placeOf(element);
  const places = {
    beforebegin: before,
    afterbegin: element.contentStart,
    beforeend: element.contentEnd,
    afterend: behind,
  };
  const start = places[position];
  return { start, end: start, text: fragment.html, fragment, adds };
}

function placeOf(element: SourceElement): { readonly start: number; readonly end: number } {
  const span = elementSpan(element);
  if (!span) throw new TypeError("an element of an XML document has no place in its source");
  return { start: span.start, end: span.end };
}

function isRootElement({ parent }: SourceElement): boolean {
  return parent?.type === "root" && parent.parent === null;
}

/** One root stays one root. */
function requireOneElement({ steps, tags: [first] }: Fragment): void {
  const isOne = steps.every(
    ({ kind, tag, data, parent }) =>
      parent !== undefined || tag === first || kind === "comment" || (kind === "text" && data.trim() === ""),
  );
  if (first && isOne) return;
  throw new DocumentError("INVALID_TARGET", "The root element can only be replaced by one element.");
}
