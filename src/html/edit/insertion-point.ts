import { elementSpan, isTagOnly } from "../document/element-span.ts";
import { SourceElement } from "../document/html-nodes.ts";
import { pageElements } from "../document/page-elements.ts";
import { isClosing } from "../document/page-end.ts";
import type { SourceDocument } from "../document/source-document.ts";

/**
 * Where content is added at the end of an element: before its end tag, or where the element ends when that was left out.
 * `undefined` where the source has no such place. `html`, `head` and `body` have one even when they are implied; what is
 * added to `html` goes to the end of the page, which is its `body`.
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
