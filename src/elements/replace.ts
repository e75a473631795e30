import { Buffer } from "node:buffer";
import { decodeHtml } from "../html/document/source-document.ts";
import { invalidHtml } from "../html/document-error.ts";
import { languageOf } from "../html/edit/apply-edit.ts";
import type { Reply } from "../server/reply.ts";
import { editElements } from "./edit-elements.ts";
import { dialects } from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";

/** That of HTML, which is less than what `trim` takes away. */
const whiteSpace: ReadonlySet<string> = new Set(["\t", "\n", "\f", "\r", " "]);

/** PUT of elements: every match, the outermost where they nest, gives way to the content of the request (206). */
export function replaceElements(request: ElementRequest): Promise<Reply> {
  const { exchange, options, bodies } = request;
  const { checkReplacement } = dialects[options.dialect];
  return editElements(request, {
    read: async () => {
      const sent = decodeHtml(await bodies.read(exchange, Math.min(options.maxDocumentSize, options.maxFileSize)));
      return withoutFinalLineBreak(sent);
    },
    editOf(html) {
      if (html.trim() === "") throw invalidHtml("it is empty; to remove elements, use DELETE", 1, 1);
      return {
        kind: "replaced",
        html,
        place: (document, matches) => languageOf(document).replace(document, matches, html, checkReplacement),
        content: async ({ placements }) => Buffer.from(placements.map(({ fragment }) => fragment?.html ?? "").join("")),
      };
    },
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
