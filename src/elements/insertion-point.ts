import type { Document } from "domhandler";
import { elementSpan, isTagOnly } from "./element-span.ts";
import type { HtmlDocument } from "./html-document.ts";
import { SourceElement } from "./html-tree.ts";

/**
 * Where content is added at the end of an element: before its end tag, or where the element ends when that was left out.
 * `undefined` where the source has no such place. `html`, `head` and `body` have one even when they are implied; what is
 * added to `html` goes to the end of the page, which is its `body`.
 */
export function insertionPoint(document: HtmlDocument, element: SourceElement): number | undefined {
  const page = pageElements(document.root);
  if (element === page.html || element === page.body) return page.body && endOfBody(document, page.body);
  if (element === page.head && !elementSpan(element)) return endOfImpliedHead(document, page.head, page.body);
  if (isTagOnly(element)) return undefined;
  return elementSpan(element)?.contentEnd;
}

/** `html`, `head` and `body` of a page; one with a `frameset` has no `body`. */
export function pageElements(root: Document): Partial<Record<"html" | "head" | "body", SourceElement>> {
  const html = root.children.find((node) => node instanceof SourceElement);
  const found: Partial<Record<"html" | "head" | "body", SourceElement>> = html ? { html } : {};
  for (const node of html?.children ?? []) {
    if (!(node instanceof SourceElement)) continue;
    if (node.name === "head") found.head ??= node;
    if (node.name === "body") found.body ??= node;
  }
  return found;
}

/** Content after `</body>` still belongs to `body`; what is added then goes after that content. */
function endOfBody({ source }: HtmlDocument, body: SourceElement): number | undefined {
  const span = elementSpan(body);
  if (span) return span.contentEnd;
  const last = body.children.findLast(
    (node) => node instanceof SourceElement || ("data" in node && node.data.trim() !== ""),
  );
  if (!last) return source.length;
  return last.endIndex === null ? undefined : last.endIndex + 1;
}

/** Before the first thing that is not in the head: `<body>`, or what opened it. */
function endOfImpliedHead({ source }: HtmlDocument, head: SourceElement, body?: SourceElement): number | undefined {
  const lastInHead = head.children.findLast((node) => node instanceof SourceElement);
  if (lastInHead) return lastInHead.endIndex === null ? undefined : lastInHead.endIndex + 1;
  const opener = body && elementSpan(body) ? body : body?.children.find((node) => node.startIndex !== null);
  return opener?.startIndex ?? source.length;
}
