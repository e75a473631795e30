import { emptyReply, type Reply } from "../server/reply.ts";
import { editElements } from "./edit-elements.ts";
import type { ElementRequest } from "./element-request.ts";

/** DELETE of elements: every match, the outermost where they nest, is removed (204). */
export function deleteElements(request: ElementRequest): Promise<Reply> {
  const { selector } = request;
  return editElements(request, {
    kind: "elements-deleted",
    selector,
    edits: () => [{ op: "remove", selector }],
    reply: async ({ headers }) => emptyReply(204, headers),
  });
}
