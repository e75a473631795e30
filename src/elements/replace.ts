import { Buffer } from "node:buffer";
import type { Reply } from "../server/reply.ts";
import { editElements, elementsReply } from "./edit-elements.ts";
import type { ElementRequest } from "./element-request.ts";

/** That of HTML, which is less than what `trim` takes away. */
const whiteSpace: ReadonlySet<string> = new Set(["\t", "\n", "\f", "\r", " "]);

/** PUT of elements: every match, the outermost where they nest, gives way to the content of the request (206). */
export function replaceElements(request: ElementRequest): Promise<Reply> {
  const { selector } = request;
  return editElements(request, {
    kind: "elements-replaced",
    selector,
    edits: (html) => [{ op: "replace", selector, html: withoutFinalLineBreak(html) }],
    content: async ({ only }) =>
      Buffer.from(only?.placements.map(({ fragment }) => fragment?.html ?? "").join("") ?? ""),
    reply: (done, content = new Uint8Array()) => elementsReply(request, done, content),
  });
}

/**
 * Without the line break that editors put behind the last tag. It would lie outside of the element, where no GET of the
 * element finds it again: each time that it is saved, the page would grow by one more.
 */
function withoutFinalLineBreak(html: string): string {
  let end = html.length;
  while (end > 0 && whiteSpace.has(html.charAt(end - 1))) end -= 1;
  const hasLineBreak = /[\n\r]/.test(html.slice(end));
  return hasLineBreak && html.charAt(end - 1) === ">" ? html.slice(0, end) : html;
}
