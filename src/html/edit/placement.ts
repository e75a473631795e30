import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { elementSpan, isClosing, isTagOnly, pageElements } from "../document/element-span.ts";
import { isHtmlElement, SourceElement, type TreeChild, type TreeParent } from "../document/html-nodes.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { isClosedBy, voidElements } from "../document/tag-rules.ts";
import { DocumentError, invalidHtml } from "../document-error.ts";
import type { InsertPosition } from "./edits.ts";
import type { Fragment } from "./well-formed.ts";

export interface AdjacentPlace {
  readonly element: SourceElement;
  readonly position: InsertPosition;
}

/** A change of the source, and what it is to do to the tree. */
export interface Placement extends Replacement {
  /** Elements that go; what is supplied stands in place of the first. */
  readonly removes?: readonly SourceElement[];
  /** Where the supplied HTML goes. */
  readonly adds?: AdjacentPlace;
  /** The element whose content goes; what is supplied is its content then. */
  readonly empties?: SourceElement;
  /** An element whose start tag changes, and the attributes that it has then. */
  readonly tags?: { readonly element: SourceElement; readonly attributes: Readonly<Record<string, string>> };
  readonly fragment?: Fragment;
  /** Where in `text` the fragment begins. @default 0 */
  readonly fragmentStart?: number;
}

/**
 * Finds the changes of the source that change elements of a document, in its order; empty if there is nothing to do.
 * `undefined` where an element has no characters of its own. Throws what is wrong with the request.
 */
export type Place = (
  document: SourceDocument,
  elements: readonly SourceElement[],
  maxLength: number,
) => SlicedWork<readonly Placement[] | undefined>;

/** Throws where an element may not give way to a fragment. */
export type CheckReplacement = (element: SourceElement, fragment: Fragment) => void;

export interface PlacedFragment {
  readonly fragment: Fragment;
  /** Where in the edited source it begins. */
  readonly offset: number;
  /** What it is content of. */
  readonly parent: TreeParent | null;
}

export interface TreeEdit {
  /** Elements that give way to a fragment, or to nothing. */
  readonly instead: ReadonlyMap<SourceElement, PlacedFragment | undefined>;
  /** Fragments that are put to elements. */
  readonly added: Readonly<Record<InsertPosition, ReadonlyMap<unknown, readonly PlacedFragment[]>>>;
  /** Elements whose content goes. */
  readonly emptied: ReadonlySet<unknown>;
  /** The attributes of elements whose start tag changes. */
  readonly attributes: ReadonlyMap<unknown, Readonly<Record<string, string>>>;
}

/** What placements, in the order of the source, are to do to the tree. */
export function treeEdit(placements: readonly Placement[]): TreeEdit {
  const instead = new Map<SourceElement, PlacedFragment | undefined>();
  const added = { beforebegin: new Map(), afterbegin: new Map(), beforeend: new Map(), afterend: new Map() };
  const emptied = new Set<SourceElement>();
  const attributes = new Map<SourceElement, Readonly<Record<string, string>>>();
  let delta = 0;
  for (const { start, end, text, removes = [], adds, empties, tags, fragment, fragmentStart = 0 } of placements) {
    const offset = start + delta + fragmentStart;
    delta += text.length - (end - start);
    const [first] = removes;
    const placed = fragment && { fragment, offset, parent: adds ? parentAt(adds) : (first?.parent ?? null) };
    for (const element of removes) instead.set(element, element === first ? placed : undefined);
    if (empties) emptied.add(empties);
    if (tags) attributes.set(tags.element, tags.attributes);
    if (!adds || !placed) continue;
    const there: Map<SourceElement, PlacedFragment[]> = added[adds.position];
    there.set(adds.element, [...(there.get(adds.element) ?? []), placed]);
  }
  return { instead, added, emptied, attributes };
}

/** What the content of a place becomes content of. */
export function parentAt({ element, position }: AdjacentPlace): TreeParent | null {
  return position === "afterbegin" || position === "beforeend" ? element : element.parent;
}

/** Throws where nothing can stand before or behind an element. */
export function requireParent({ name, parent }: SourceElement): void {
  if (parent instanceof SourceElement) return;
  throw new DocumentError("INVALID_TARGET", `Nothing can stand beside <${name}>, which holds the whole page.`);
}

/** Throws where an element cannot have content. */
export function refuseVoid(element: SourceElement): void {
  const { name } = element;
  if (isHtmlElement(element) && voidElements.has(name)) throw invalidHtml(`a <${name}> cannot have content`, 1, 1);
}

/** `<circle/>` becomes `<circle>...</circle>`. */
export function openedTag({ source }: SourceDocument, element: SourceElement, fragment: Fragment): Placement {
  const { contentStart } = element;
  const start = source.lastIndexOf("/", contentStart);
  const [tagName = ""] = /[^\s/>]+/.exec(source.slice((element.startIndex ?? 0) + 1, contentStart)) ?? [];
  const text = `>${fragment.html}</${tagName}>`;
  return { start, end: contentStart, text, fragment, fragmentStart: 1, adds: { element, position: "beforeend" } };
}

/** How long the source will be. */
export function splicedLength(source: string, placements: readonly Replacement[]): number {
  return placements.reduce((length, { start, end, text }) => length + text.length - (end - start), source.length);
}

/** Before a text is made: 10,000 matches may each grow by megabytes. */
export function refuseTooLong(length: number, maxLength: number): void {
  if (length <= maxLength) return;
  throw new DocumentError("RESULT_TOO_LARGE", `The document would have ${length} bytes; ${maxLength} are allowed.`);
}

/** Characters `start` to `end` of a source give way to `text`. An insertion has `start` equal to `end`. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies replacements that do not overlap, in the order of the source, in one pass. */
export function splice(source: string, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let position = 0;
  for (const { start, end, text } of replacements) {
    if (start < position || end < start) throw new RangeError(`replacement ${start}-${end} overlaps the one before`);
    parts.push(source.slice(position, start), text);
    position = end;
  }
  parts.push(source.slice(position));
  return parts.join("");
}

/** The elements that do not lie in another one of them, in document order. */
export function outermost(elements: readonly SourceElement[]): SourceElement[] {
  const all = new Set<unknown>(elements);
  const inside = new Map<unknown, boolean>();
  return elements.filter((element) => !hasAncestorIn(element, all, inside));
}

/** Each ancestor is looked at once, however many elements share it. */
function hasAncestorIn(element: SourceElement, all: ReadonlySet<unknown>, inside: Map<unknown, boolean>): boolean {
  const path: unknown[] = [];
  let isInside = false;
  for (let parent = element.parent; parent; parent = parent.parent) {
    const known = all.has(parent) || inside.get(parent);
    if (known !== undefined) {
      isInside = known;
      break;
    }
    path.push(parent);
  }
  for (const ancestor of path) inside.set(ancestor, isInside);
  return isInside;
}

/** The sibling before an element, or before its implied parent, where that begins with it. */
export function previousOf(element: SourceElement): TreeChild | null {
  let current = element;
  while (!current.prev && isImplied(current.parent)) current = current.parent;
  return current.prev;
}

/** The sibling after an element, or after its implied parent, where that ends with it. */
export function nextOf(element: SourceElement): TreeChild | null {
  let current = element;
  while (!current.next && isImplied(current.parent)) current = current.parent;
  return current.next;
}

function isImplied(parent: TreeParent | null): parent is SourceElement {
  return parent instanceof SourceElement && parent.startIndex === null;
}

/**
 * The end tags that must stand at `offset` before something is put there, so that it does not end up inside of an
 * element that has no end tag: `</li>` for what is appended to the `ul` of `<ul><li>a</ul>`. `node` ends at the offset.
 * Nothing is needed where the first tag that follows closes those elements by itself.
 */
export function endTagsAt(node: TreeChild | null | undefined, offset: number, firstTag?: string): string {
  const open: string[] = [];
  for (let current = node; current instanceof SourceElement; current = current.children.at(-1)) {
    const span = elementSpan(current);
    if (!span) {
      // An implied `tbody` has no start tag of its own; it is open as long as no end tag has closed it.
      if (current.name === "tbody" || current.name === "colgroup") open.push(current.name);
      continue;
    }
    if (isTagOnly(current) || span.end !== offset || span.contentEnd !== offset) break;
    open.push(current.name);
  }
  if (firstTag !== undefined && open.every((name) => isClosedBy(name, firstTag))) return "";
  return open
    .map((name) => `</${name}>`)
    .reverse()
    .join("");
}

/** Name of the start tag with which HTML begins, if it begins with one. */
export function firstTagOf({ tags: [tag] }: Pick<Fragment, "tags">): string | undefined {
  return tag?.start === 0 ? tag.name : undefined;
}

/**
 * Where content is added at the end of an element: before its end tag, or where the element ends when that was left
 * out. `undefined` where the source has no such place. `html`, `head` and `body` have one even when they are implied;
 * what is added to `html` goes to the end of the page, which is its `body`.
 */
export function insertionPoint(document: SourceDocument, element: SourceElement): number | undefined {
  const page = pageElements(document.root);
  if (element === page.html || element === page.body) return page.body && endOfBody(document, page.body);
  if (element === page.head && !elementSpan(element)) return endOfImpliedHead(document, page.head, page.body);
  if (isTagOnly(element)) return undefined;
  return elementSpan(element)?.contentEnd;
}

/** Content after `</body>` still belongs to `body`; what is added then goes after that content. */
function endOfBody({ source }: SourceDocument, body: SourceElement): number | undefined {
  const { startIndex, contentEnd } = body;
  const last = body.children.findLast(
    (node) => node instanceof SourceElement || ("data" in node && node.data.trim() !== ""),
  );
  const isBehind = last?.endIndex != null && !isClosing(source, contentEnd, last.endIndex + 1);
  if (contentEnd !== -1 && (startIndex !== null || !isBehind)) return contentEnd;
  if (!last) return source.length;
  return last.endIndex === null ? undefined : last.endIndex + 1;
}

/** Before the first thing that is not in the head: `<body>`, or what opened it. */
function endOfImpliedHead({ source }: SourceDocument, head: SourceElement, body?: SourceElement): number | undefined {
  const lastInHead = head.children.findLast((node) => node instanceof SourceElement);
  if (lastInHead) return lastInHead.endIndex === null ? undefined : lastInHead.endIndex + 1;
  const opener = body && elementSpan(body) ? body : body?.children.find((node) => node.startIndex !== null);
  return opener?.startIndex ?? source.length;
}
