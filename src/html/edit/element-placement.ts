import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { elementSpan, isTagOnly, pageElements } from "../document/element-span.ts";
import { isHtmlElement, SourceElement, type TreeParent } from "../document/html-nodes.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { losesFirstLine } from "../document/tag-rules.ts";
import { contentOf } from "../document/tree-walk.ts";
import { DocumentError } from "../document-error.ts";
import type { InsertPosition } from "./edits.ts";
import {
  type AdjacentPlace,
  type CheckReplacement,
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
import { xmlFragmentsOf } from "./xml-fragment.ts";

// Where edits of elements change the source. In HTML, tags may be left out, and an element may lack a place of its own;
// in XML, every element has one, and its tags alone say where it ends. Placements are in the order of the source;
// `undefined` where an element has no characters of its own. Each throws a `DocumentError` for what is wrong with the
// request.

/** The elements that every document has, and that therefore cannot be removed. */
export function permanentElements({ kind, root }: SourceDocument): readonly SourceElement[] {
  return kind === "html"
    ? Object.values(pageElements(root))
    : root.children.filter((node) => node instanceof SourceElement);
}

function fragmentsIn(document: SourceDocument, markup: string): ReturnType<typeof fragmentsOf> {
  return document.kind === "html" ? fragmentsOf(markup) : xmlFragmentsOf(markup, document);
}

/** Every element, the outermost where they nest, gives way to `markup`. */
export function* replaceElements(
  document: SourceDocument,
  matches: readonly SourceElement[],
  markup: string,
  check: CheckReplacement,
): SlicedWork<readonly Placement[] | undefined> {
  const permanent = permanentElements(document);
  const fragmentIn = fragmentsIn(document, markup);
  const elements = outermost(matches);
  const replaced = new Set<unknown>(elements);
  const placements: Placement[] = [];
  for (const element of elements) {
    yield;
    const fragment = yield* fragmentIn(element.parent);
    if (permanent.includes(element)) requireReplacement(document, element, fragment);
    check(element, fragment);
    const span = elementSpan(element);
    if (!span) return undefined;
    const { start, end } = span;
    const firstTag = firstTagOf(fragment);
    const previous = previousOf(element);
    // What replaces the element before leaves nothing open, and the same start tag closes what it closed so far.
    const isClosed = replaced.has(previous) || firstTag === element.name;
    const endTags = isClosed ? "" : endTagsAt(previous, start, firstTag);
    const before = endTags + firstLineAt(document, element.parent, start, fragment.html);
    const text = before + fragment.html;
    placements.push({ start, end, text, fragment, fragmentStart: before.length, removes: [element] });
  }
  // Error recovery may order the document otherwise than the source.
  return placements.sort((a, b) => a.start - b.start);
}

/** `html`, `head` and `body` give way to another one of their kind only, the root of XML to one element. */
function requireReplacement({ kind }: SourceDocument, { name }: SourceElement, { html, tags, steps }: Fragment): void {
  const [first] = tags;
  const isNamed = kind === "xml" || (first?.name === name && html.slice(0, first.start).trim() === "");
  const isOne = steps.every(
    ({ kind: what, tag, data, parent }) =>
      parent !== undefined ||
      tag === first ||
      (what === "comment" && kind === "xml") ||
      (what === "text" && data.trim() === ""),
  );
  if (first && isNamed && isOne) return;
  const [what, by] = kind === "html" ? [`<${name}>`, `another <${name}> element`] : ["The root element", "one element"];
  throw new DocumentError("INVALID_TARGET", `${what} can only be replaced by ${by}.`);
}

/** `markup` is added to every element at a position; blank markup nowhere. */
export function* insertMarkup(
  document: SourceDocument,
  matches: readonly SourceElement[],
  markup: string,
  position: InsertPosition,
): SlicedWork<readonly Placement[] | undefined> {
  const fragmentIn = fragmentsIn(document, markup);
  const isInside = position === "afterbegin" || position === "beforeend";
  const placements: Placement[] = [];
  for (const element of matches) {
    yield;
    if (isInside) refuseVoid(element);
    else requireParent(element);
    if (markup.trim() === "") continue;
    const fragment = yield* fragmentIn(isInside ? element : element.parent);
    const isOpened = isInside && isOpenable(document, element);
    const place = isOpened ? openedTag : insertionsAt[position];
    const placement = place(document, element, fragment);
    if (!placement) return undefined;
    placements.push(placement);
  }
  // Of elements that end at one place the inner one, which comes later in the document, gets its content first.
  return placements.reverse().sort((a, b) => a.start - b.start);
}

/** What is in every element, the outermost where they nest, gives way to markup. */
export function* fillElements(
  document: SourceDocument,
  matches: readonly SourceElement[],
  markupFor: (element: SourceElement) => string,
): SlicedWork<readonly Placement[] | undefined> {
  const { html } = partsOf(document);
  const fragments = new Map<string, ReturnType<typeof fragmentsOf>>();
  const placements: Placement[] = [];
  for (const element of outermost(matches)) {
    yield;
    refuseVoid(element);
    if (element === html) throw new DocumentError("INVALID_TARGET", "Every page has <head> and <body>; change these.");
    const markup = markupFor(element);
    const fragmentIn = fragments.get(markup) ?? fragmentsIn(document, markup);
    fragments.set(markup, fragmentIn);
    const fragment = yield* fragmentIn(element);
    if (isOpenable(document, element)) {
      if (markup !== "") placements.push(openedTag(document, element, fragment));
      continue;
    }
    const { contentStart: start, contentEnd: end } = elementSpan(element) ?? { contentStart: -1, contentEnd: -1 };
    if (start === -1) return undefined;
    const placement = inserted(document, { element, position: "afterbegin" }, start, "", fragment);
    placements.push({ ...placement, end, empties: element });
  }
  return placements.sort((a, b) => a.start - b.start);
}

/** `html`, `head` and `body`, which have rules of their own in HTML. */
function partsOf({ kind, root }: SourceDocument): Partial<ReturnType<typeof pageElements>> {
  return kind === "html" ? pageElements(root) : {};
}

type Insertion = (document: SourceDocument, element: SourceElement, fragment: Fragment) => Placement | undefined;

const insertionsAt: Readonly<Record<InsertPosition, Insertion>> = {
  beforebegin(document, element, fragment) {
    const start = elementSpan(element)?.start;
    if (start === undefined) return undefined;
    const firstTag = firstTagOf(fragment);
    // The same start tag closes what the element closed so far.
    const endTags = firstTag === element.name ? "" : endTagsAt(previousOf(element), start, firstTag);
    return inserted(document, { element, position: "beforebegin" }, start, endTags, fragment);
  },
  afterbegin(document, element, fragment) {
    const { contentStart } = element;
    if (contentStart === -1 || !elementSpan(element)) return undefined;
    const [lostLine = ""] = losesLine(document, element)
      ? (/^(?:\r\n?|\n)/.exec(document.source.slice(contentStart, contentStart + 2)) ?? [])
      : [];
    return inserted(document, { element, position: "afterbegin" }, contentStart + lostLine.length, "", fragment);
  },
  beforeend(document, element, fragment) {
    const point = document.kind === "html" ? insertionPoint(document, element) : element.contentEnd;
    if (point === undefined) return undefined;
    const parent = parentOfAddition(document, element, fragment);
    const endTags = endTagsAt(contentOf(parent).at(-1), point, firstTagOf(fragment));
    return inserted(document, { element: parent, position: "beforeend" }, point, endTags, fragment);
  },
  afterend(document, element, fragment) {
    const end = elementSpan(element)?.end;
    if (end === undefined) return undefined;
    return inserted(
      document,
      { element, position: "afterend" },
      end,
      endTagsAt(element, end, firstTagOf(fragment)),
      fragment,
    );
  },
};

function inserted(
  document: SourceDocument,
  adds: AdjacentPlace,
  offset: number,
  endTags: string,
  fragment: Fragment,
): Placement {
  const before = endTags + firstLineAt(document, parentAt(adds), offset, fragment.html);
  return { start: offset, end: offset, text: before + fragment.html, fragment, fragmentStart: before.length, adds };
}

function isOpenable({ kind }: SourceDocument, element: SourceElement): boolean {
  return isTagOnly(element) && (kind === "xml" || !isHtmlElement(element));
}

/** What goes on in an element that the parser has put around its like; all else is added behind that. */
const goesOnIn: Readonly<Record<string, readonly string[]>> = {
  tbody: ["tr", "td", "th"],
  tr: ["td", "th"],
  colgroup: ["col"],
};

/** What is added to `html` goes to its `body`, and a row to the `tbody` that the parser has put around the rows. */
function parentOfAddition(document: SourceDocument, element: SourceElement, { tags: [tag] }: Fragment): SourceElement {
  const { html, body } = partsOf(document);
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

/** Every element, the outermost where they nest, goes. */
export function* removeElements(
  document: SourceDocument,
  matches: readonly SourceElement[],
): SlicedWork<readonly Placement[] | undefined> {
  const permanent = permanentElements(document);
  const runs: Run[] = [];
  for (const element of outermost(matches)) {
    yield;
    if (permanent.includes(element)) {
      const what = document.kind === "html" ? `page has <${element.name}>` : "document has a root element";
      throw new DocumentError("INVALID_TARGET", `Every ${what}; it cannot be removed.`);
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
  return runs.map((run) => ({ start: run.start, end: run.end, text: separator(run, document), removes: run.elements }));
}

/** What followed the removed elements must not become content of what stood before them, nor be lost. */
function separator({ elements, start, end }: Run, document: SourceDocument): string {
  const [first] = elements;
  const last = elements.at(-1);
  const next = last && nextOf(last);
  if (!first || !next) return "";
  const startsHere = next instanceof SourceElement && elementSpan(next)?.start === end;
  const endTags = endTagsAt(previousOf(first), start, startsHere ? next.name : undefined);
  return endTags + firstLineAt(document, first.parent, start, document.source[end] ?? "");
}

/** The line end needed at `offset`, right behind the start tag of `parent`, so that the one in `text` counts. */
function firstLineAt(document: SourceDocument, parent: TreeParent | null, offset: number, text: string): string {
  if (!(parent instanceof SourceElement) || offset !== parent.contentStart || !losesLine(document, parent)) return "";
  return /^[\r\n]/.test(text) ? "\n" : "";
}

function losesLine({ kind }: SourceDocument, element: SourceElement): boolean {
  return kind === "html" && losesFirstLine(element);
}
