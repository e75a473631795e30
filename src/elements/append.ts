import { Buffer } from "node:buffer";
import type { Reply } from "../server/reply.ts";
import { editElements, elementsReply } from "./edit-elements.ts";
import { dialects, elementBytes } from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";

/**
 * POST to elements: the content of the request is added inside of every match, after its last child (206). Blank
 * content adds nothing: nothing is written then.
 */
export function appendToElements(request: ElementRequest): Promise<Reply> {
  const { selector, options } = request;
  const { appended } = dialects[options.dialect];
  return editElements(request, {
    kind: "elements-appended",
    selector,
    edits: (html) => [{ op: "insert", position: "beforeend", selector, html }],
    content: async ({ document, only }, matches) => elementBytes(document, only?.elements ?? matches, options),
    reply(done, content = new Uint8Array()) {
      const [only] = done.edits;
      const supplied = Buffer.from(only && "html" in only.edit ? only.edit.html : "");
      return elementsReply(request, done, appended(content, supplied));
    },
  });
}
