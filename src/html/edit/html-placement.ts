import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { elementSpan, isTagOnly, pageElements } from "../document/element-span.ts";
import { isHtmlElement, type RootNode, SourceElement } from "../document/html-nodes.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { losesFirstLine } from "../document/tag-rules.ts";
import { contentOf } from "../document/tree-walk.ts";
import { DocumentError } from "../document-error.ts";
import type { InsertPosition } from "./edits.ts";
import { normalise } from "./normalise.ts";
import {
  type AdjacentPlace,
  type CheckReplacement,
  type DocumentLanguage,
  endTagsAt,
  firstTagOf,
  insertionPoint,
  nextOf,
  openedTag,
  outermost,
  type Placement,
  parentAt,
  previousOf,
  refuseVoid,
  requireParent,
} from "./placement.ts";
import { type Fragment, fragmentsOf } from "./well-formed.ts";

/** The rules of HTML, where tags may be left out, and an element may have no place of its own in the source. */
export const htmlLanguage: DocumentLanguage = {
  replace: replacements,
  insert: insertions,
  fill: fillings,
  remove: removals,
  permanentElements,
  normalise,
};

function permanentElements(root: RootNode): readonly SourceElement[] {
  return Object.values(pageElements(root));
}

function* replacements(
  document: SourceDocument,
  matches: readonly SourceElement[],
  html: string,
  check: CheckReplacement,
): SlicedWork<readonly Placement[] | undefined> {
  const page = permanentElements(document.root);
  const fragmentIn = fragmentsOf(html);
  const elements = outermost(matches);
  const replaced = new Set<unknown>(elements);
  const placements: Placement[] = [];
  for (const element of elements) {
    yield;
    const fragment = yield* fragmentIn(element.parent);
    if (page.includes(element)) requireSameElement(element, fragment);
    check(element, fragment);
    const span = elementSpan(element);
    if (!span) return undefined;
    const { start, end } = span;
    const firstTag = firstTagOf(fragment);
    const previous = previousOf(element);
    // What is put in place of the element before leaves nothing open; and the same start tag closes what it closed so
    // far.
    const isClosed = replaced.has(previous) || firstTag === element.name;
    const endTags = isClosed ? "" : endTagsAt(previous, start, firstTag);
    const line = element.parent instanceof SourceElement ? firstLineAt(element.parent, start, fragment.html) : "";
    const before = endTags + line;
    const text = before + fragment.html;
    placements.push({ start, end, text, fragment, fragmentStart: before.length, removes: [element] });
  }
  // Error recovery may order the document otherwise than the source.
  return placements.sort((a, b) => a.start - b.start);
}

/** `html`, `head` and `body` are on every page: each gives way to another one of its kind only. */
function requireSameElement({ name }: SourceElement, { html, tags, steps }: Fragment): void {
  const [tag] = tags;
  const isFirst = tag?.name === name && html.slice(0, tag.start).trim() === "";
  const end = steps.findIndex((step) => step.kind === "end" && step.tag === tag);
  if (isFirst && steps.slice(end + 1).every(({ data, kind }) => kind === "text" && data.trim() === "")) return;
  throw new DocumentError("INVALID_TARGET", `<${name}> can only be replaced by another <${name}> element.`);
}

function* insertions(
  document: SourceDocument,
  matches: readonly SourceElement[],
  html: string,
  position: InsertPosition,
): SlicedWork<readonly Placement[] | undefined> {
  const fragmentIn = fragmentsOf(html);
  const place = insertionsAt[position];
  const isInside = position === "afterbegin" || position === "beforeend";
  const placements: Placement[] = [];
  for (const element of matches) {
    yield;
    if (isInside) refuseVoid(element);
    else requireParent(element);
    if (html.trim() === "") continue;
    const fragment = yield* fragmentIn(isInside ? element : element.parent);
    const placement =
      isInside && isOpenable(element) ? openedTag(document, element, fragment) : place(document, element, fragment);
    if (!placement) return undefined;
    placements.push(placement);
  }
  // Of elements that end at one place the inner one, which comes later in the document, gets its content first.
  return placements.reverse().sort((a, b) => a.start - b.start);
}

function* fillings(
  document: SourceDocument,
  matches: readonly SourceElement[],
  markupFor: (element: SourceElement) => string,
): SlicedWork<readonly Placement[] | undefined> {
  const { html: root } = pageElements(document.root);
  const placements: Placement[] = [];
  for (const element of outermost(matches)) {
    yield;
    refuseVoid(element);
    if (element === root) throw new DocumentError("INVALID_TARGET", "Every page has <head> and <body>; change these.");
    const html = markupFor(element);
    const fragment = yield* fragmentsOf(html)(element);
    if (isOpenable(element)) {
      if (html !== "") placements.push(openedTag(document, element, fragment));
      continue;
    }
    const { contentStart: start, contentEnd: end } = elementSpan(element) ?? { contentStart: -1, contentEnd: -1 };
    if (start === -1) return undefined;
    placements.push({ ...inserted({ element, position: "afterbegin" }, start, "", fragment), end, empties: element });
  }
  return placements.sort((a, b) => a.start - b.start);
}

type Insertion = (document: SourceDocument, element: SourceElement, fragment: Fragment) => Placement | undefined;

const insertionsAt: Readonly<Record<InsertPosition, Insertion>> = {
  beforebegin(_document, element, fragment) {
    const start = elementSpan(element)?.start;
    if (start === undefined) return undefined;
    const firstTag = firstTagOf(fragment);
    // The same start tag closes what the element closed so far.
    const endTags = firstTag === element.name ? "" : endTagsAt(previousOf(element), start, firstTag);
    return inserted({ element, position: "beforebegin" }, start, endTags, fragment);
  },
  afterbegin({ source }, element, fragment) {
    const { contentStart } = element;
    if (contentStart === -1 || !elementSpan(element)) return undefined;
    const [lostLine = ""] = losesFirstLine(element)
      ? (/^(?:\r\n?|\n)/.exec(source.slice(contentStart, contentStart + 2)) ?? [])
      : [];
    return inserted({ element, position: "afterbegin" }, contentStart + lostLine.length, "", fragment);
  },
  beforeend(document, element, fragment) {
    const point = insertionPoint(document, element);
    if (point === undefined) return undefined;
    const parent = parentOfAddition(document, element, fragment);
    const endTags = endTagsAt(contentOf(parent).at(-1), point, firstTagOf(fragment));
    return inserted({ element: parent, position: "beforeend" }, point, endTags, fragment);
  },
  afterend(_document, element, fragment) {
    const end = elementSpan(element)?.end;
    if (end === undefined) return undefined;
    return inserted({ element, position: "afterend" }, end, endTagsAt(element, end, firstTagOf(fragment)), fragment);
  },
};

function inserted(adds: AdjacentPlace, offset: number, endTags: string, fragment: Fragment): Placement {
  const parent = parentAt(adds);
  const line = parent instanceof SourceElement ? firstLineAt(parent, offset, fragment.html) : "";
  const before = endTags + line;
  return { start: offset, end: offset, text: before + fragment.html, fragment, fragmentStart: before.length, adds };
}

function isOpenable(element: SourceElement): boolean {
  return isTagOnly(element) && !isHtmlElement(element);
}

/** What goes on in an element that the parser has put around its like; all else is added behind that. */
const goesOnIn: Readonly<Record<string, readonly string[]>> = {
  tbody: ["tr", "td", "th"],
  tr: ["td", "th"],
  colgroup: ["col"],
};

/**
 * What is added to `html` goes to its `body`, and a row to the `tbody` that the parser has put around the rows before
 * it, which without tags of its own ends where the table ends.
 */
function parentOfAddition({ root }: SourceDocument, element: SourceElement, { tags: [tag] }: Fragment): SourceElement {
  const { html, body } = pageElements(root);
  if (element === html && body) return body;
  let parent = element;
  for (let last = contentOf(parent).at(-1); last instanceof SourceElement; last = contentOf(parent).at(-1)) {
    if (last.contentStart !== -1 || !goesOnIn[last.name]?.includes(tag?.name ?? "")) return parent;
    parent = last;
  }
  return parent;
}

/** Elements that follow each other directly are one removal. */
interface Run {
  readonly elements: SourceElement[];
  readonly start: number;
  end: number;
}

function* removals(
  { root, source }: SourceDocument,
  matches: readonly SourceElement[],
): SlicedWork<readonly Placement[] | undefined> {
  const page = permanentElements(root);
  const runs: Run[] = [];
  for (const element of outermost(matches)) {
    yield;
    if (page.includes(element)) {
      throw new DocumentError("INVALID_TARGET", `Every page has <${element.name}>; it cannot be removed.`);
    }
    const span = elementSpan(element);
    if (!span) return undefined;
    const run = runs.at(-1);
    if (run && run.end === span.start && previousOf(element) === run.elements.at(-1)) {
      run.elements.push(element);
      run.end = span.end;
    } else {
      runs.push({ elements: [element], start: span.start, end: span.end });
    }
  }
  runs.sort((a, b) => a.start - b.start);
  return runs.map((run) => ({ start: run.start, end: run.end, text: separator(run, source), removes: run.elements }));
}

/** What followed the removed elements must not become content of what stood before them, nor be lost. */
function separator({ elements, start, end }: Run, source: string): string {
  const [first] = elements;
  const last = elements.at(-1);
  const next = last && nextOf(last);
  if (!first || !next) return "";
  const startsHere = next instanceof SourceElement && elementSpan(next)?.start === end;
  const endTags = endTagsAt(previousOf(first), start, startsHere ? next.name : undefined);
  const line = first.parent instanceof SourceElement ? firstLineAt(first.parent, start, source[end] ?? "") : "";
  return endTags + line;
}

/** The line end needed at `offset`, right behind the start tag of `parent`, so that the one in `text` counts. */
export function firstLineAt(parent: SourceElement, offset: number, text: string): string {
  return /^[\r\n]/.test(text) && offset === parent.contentStart && losesFirstLine(parent) ? "\n" : "";
}
