import { Buffer } from "node:buffer";
import { decodeHtml } from "../html/document/source-document.ts";
import { languageOf } from "../html/edit/apply-edit.ts";
import type { Reply } from "../server/reply.ts";
import { editElements } from "./edit-elements.ts";
import { dialects, elementBytes } from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";

/**
 * POST to elements: the content of the request is added inside of every match, after its last child (206). Blank content
 * adds nothing: nothing is written then.
 */
export function appendToElements(request: ElementRequest): Promise<Reply> {
  const { exchange, options, bodies } = request;
  let sent = { html: "", bytes: new Uint8Array() as Uint8Array };
  return editElements(request, {
    read: async () => {
      const bytes = await bodies.read(exchange, Math.min(options.maxDocumentSize, options.maxFileSize));
      sent = { html: decodeHtml(bytes), bytes };
      return sent.html;
    },
    editOf: (html) => ({
      kind: "appended",
      html,
      place: (document, matches) => languageOf(document).append(document, matches, html),
      content: async ({ document, elements }) => {
        const supplied = html === sent.html ? sent.bytes : Buffer.from(html);
        return dialects[options.dialect].appended(await elementBytes(document, elements, options), supplied);
      },
    }),
  });
}
