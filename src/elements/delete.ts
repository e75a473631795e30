import { languageOf } from "../html/edit/apply-edit.ts";
import type { Reply } from "../server/reply.ts";
import { editElements } from "./edit-elements.ts";
import type { ElementRequest } from "./element-request.ts";

/** DELETE of elements: every match, the outermost where they nest, is removed (204). */
export function deleteElements(request: ElementRequest): Promise<Reply> {
  return editElements(request, {
    read: async () => "",
    editOf: (html) => ({
      kind: "deleted",
      html,
      place: (document, matches) => languageOf(document).remove(document, matches),
      content: async () => undefined,
    }),
  });
}
