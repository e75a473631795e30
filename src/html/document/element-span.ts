import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { normalised } from "../tokenizer/text.ts";
import { isHtmlElement, type RootNode, SourceElement, type TextNode, type TreeParent } from "./html-nodes.ts";

/** Offsets in the source; an end is the offset behind the last character. */
export interface ElementSpan {
  readonly start: number;
  readonly end: number;
  /** Between the tags. Equal to `end` for an element that cannot have content. */
  readonly contentStart: number;
  /** Where the end tag begins, or the element ends where the end tag is left out. */
  readonly contentEnd: number;
}

/** Where an element stands in the source; `undefined` when it has no characters of its own. */
export function elementSpan(element: SourceElement): ElementSpan | undefined {
  const { startIndex, endIndex, contentStart, contentEnd } = element;
  if (startIndex === null || endIndex === null) return undefined;
  const end = endIndex + 1;
  return { start: startIndex, end, contentStart, contentEnd: contentEnd === -1 ? end : contentEnd };
}

/** Whether an element consists of a start tag only: `<br>`, `<circle/>`. */
export function isTagOnly(element: SourceElement): boolean {
  return element.startIndex !== null && element.contentEnd === -1;
}

export function hasEndTag({ contentEnd, endIndex }: SourceElement): boolean {
  return contentEnd !== -1 && endIndex !== null && contentEnd <= endIndex;
}

/** What stands at an offset belongs to another parent than the element that it stands in. */
export interface Displacement {
  readonly offset: number;
  readonly parent: TreeParent;
}

/** Elements that are passed without a look at the clock. */
const elementsAtOnce = 4096;

interface ParsedSource {
  /** Every element that a start tag made, in the order of the source. */
  readonly elements: readonly SourceElement[];
  /** In source order: text moved before a table, attributes of a second `<body>`, a `</b>` of what is around. */
  readonly displaced: readonly Displacement[];
}

/**
 * Takes the span from every element whose characters are not exactly its own: something in between belongs elsewhere in
 * the tree (a `div` in a `table` is put before it), or a descendant stands outside (`<b>1<p>2</b>3</p>`). Runs over the
 * elements in the order of the source once; what remains are spans that nest as the tree does.
 */
export function* settleSpans({ elements, displaced }: ParsedSource, endOfPage: number): SlicedWork<void> {
  for (let index = 0; index < elements.length; index += 1) {
    endWithPage(elements[index] as SourceElement, endOfPage);
    if (index % elementsAtOnce === elementsAtOnce - 1) yield;
  }
  const broken = new Set<SourceElement>();
  let open: SourceElement[] = [];

  const place = (parent: TreeParent | null, start: number, last: number): void => {
    let top = open.at(-1);
    while (top && lastIndexOf(top) < start) {
      open.pop();
      top = open.at(-1);
    }
    const owner = nearestInSource(parent);
    if (owner === top && (!owner || last <= lastIndexOf(owner))) return;
    const ancestors = new Set<SourceElement>();
    for (let element = owner; element; element = nearestInSource(element.parent)) {
      ancestors.add(element);
      if (start < (element.startIndex ?? 0) || last > lastIndexOf(element)) broken.add(element);
    }
    open = open.filter((element) => lastIndexOf(element) >= start);
    for (const element of open) if (!ancestors.has(element)) broken.add(element);
  };

  let nextText = 0;
  for (const element of elements) {
    const start = element.startIndex ?? 0;
    for (let text = displaced[nextText]; text && text.offset < start; text = displaced[++nextText]) {
      place(text.parent, text.offset, text.offset);
    }
    place(element.parent, start, lastIndexOf(element));
    open.push(element);
    yield;
  }
  for (const text of displaced.slice(nextText)) place(text.parent, text.offset, text.offset);

  for (const element of broken) element.forgetSpan();
}

/** Whether an element that has a start tag has lost its span. */
export function hasLostSpan({ startIndex, contentStart }: SourceElement): boolean {
  return startIndex === null && contentStart !== -1;
}

/** Elements in which formatting from before goes on, as in `<p><i>a</p><p>b`: their characters do not show it. */
export function* elementsFormattedFromBefore(
  copies: ReadonlyMap<SourceElement, number>,
): SlicedWork<ReadonlySet<SourceElement>> {
  const found = new Map<TreeParent, number>();
  for (const [copy, tagStart] of copies) {
    for (let parent = copy.parent; parent; parent = parent.parent) {
      const isKnown = (found.get(parent) ?? Number.POSITIVE_INFINITY) <= tagStart;
      const holdsTag = parent.startIndex !== null && parent.startIndex <= tagStart;
      if (isKnown || holdsTag) break;
      found.set(parent, tagStart);
    }
    yield;
  }
  return new Set([...found.keys()].filter((node) => node instanceof SourceElement));
}

/** An element never closed ends with the page: not behind `</body></html>`, which the parser counts in. */
function endWithPage(element: SourceElement, endOfPage: number): void {
  const isOpenFrameset = isHtmlElement(element) && element.name === "frameset" && element.contentEnd === -1;
  if (!isOpenFrameset && (element.contentEnd <= endOfPage || hasEndTag(element))) return;
  element.contentEnd = endOfPage;
  element.endIndex = endOfPage - 1;
}

function lastIndexOf(element: SourceElement): number {
  return element.endIndex ?? -1;
}

function nearestInSource(node: TreeParent | null): SourceElement | undefined {
  for (let current = node; current; current = current.parent) {
    if (current instanceof SourceElement && current.startIndex !== null) return current;
  }
  return undefined;
}

/** `html`, `head` and `body` of a page; one with a `frameset` has no `body`. */
export function pageElements(root: RootNode): Partial<Record<"html" | "head" | "body", SourceElement>> {
  const html = root.children.find((node) => node instanceof SourceElement);
  const found: Partial<Record<"html" | "head" | "body", SourceElement>> = html ? { html } : {};
  for (const node of html?.children ?? []) {
    if (!(node instanceof SourceElement)) continue;
    if (node.name === "head") found.head ??= node;
    if (node.name === "body") found.body ??= node;
  }
  return found;
}

// What may follow the content of `body`. White space does become content, but requests are not about it.
const closing = /(?:\s+|<\/(?:body|html)\s*>|<!--(?:-?>|[\s\S]*?--!?>))/iy;

const blanks = " \t\n\f\r";

/** Where the content of a page ends: before `</body></html>`, unless there is content behind them. */
export function endOfPage({ root, source }: { readonly root: RootNode; readonly source: string }): number {
  const end = pageElements(root).body?.contentEnd ?? -1;
  return end !== -1 && isClosing(source, end, source.length) ? end : source.length;
}

/** Whether a part of a source is nothing but end tags of the page, white space and comments. */
export function isClosing(source: string, start: number, end: number): boolean {
  let position = start;
  while (position < end) {
    closing.lastIndex = position;
    if (!closing.test(source)) return false;
    position = closing.lastIndex;
  }
  return true;
}

/** A text without the white space that it has from behind the end of the page. */
export function textOnPage({ data, startIndex, endIndex }: TextNode, endOfPage: number, source: string): string {
  if ((endIndex ?? -1) < endOfPage) return data;
  const text = withoutBlanksAtEnd(data);
  // The line break before `</body>` is content; the one behind `</html>` became part of the same text.
  const before = normalised(source.slice(startIndex ?? endOfPage, endOfPage));
  return before.length > text.length && data.startsWith(before) ? before : text;
}

export function withoutBlanksAtEnd(text: string): string {
  let end = text.length; // a pattern for blanks before `$` would take quadratic time
  while (end > 0 && blanks.includes(text[end - 1] ?? "x")) end -= 1;
  return text.slice(0, end);
}
