import { type RootNode, SourceElement, type TextNode } from "./html-nodes.ts";

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

// What may follow the content of `body`. White space does become content, but nobody points at it.
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
  const before = source.slice(startIndex ?? endOfPage, endOfPage).replace(/\r\n?/g, "\n");
  return before.length > text.length && data.startsWith(before) ? before : text;
}

/** A text without the white space at its end. */
export function withoutBlanksAtEnd(text: string): string {
  let end = text.length; // a pattern for blanks before `$` would take quadratic time
  while (end > 0 && blanks.includes(text[end - 1] ?? "x")) end -= 1;
  return text.slice(0, end);
}
