import type { ElementRequest } from "../files/file-request.ts";
import { entityTag } from "../http/entity-tag.ts";
import { evaluatePreconditions, preconditionFailed, type Validators } from "../http/preconditions.ts";
import { elementBytes } from "./element-reply.ts";
import { elementTag } from "./element-tag.ts";
import type { SourceElement } from "./html-nodes.ts";
import type { LoadedDocument } from "./load-document.ts";

/**
 * Judges the conditions of a request (RFC 9110 §13) by the elements that it is about; `If-Match` may name the document's
 * tag as well. Throws 412 `PRECONDITION_FAILED` with the current tag of the elements.
 */
export function judgePreconditions(
  { exchange, options }: ElementRequest,
  { document, stat }: LoadedDocument,
  elements: readonly SourceElement[],
): "proceed" | "not-modified" {
  let etag: string | undefined;
  const current: Validators = {
    modified: stat.modified,
    // A hash of the elements, for the few that ask.
    get etag() {
      etag ??= elementTag(elementBytes(document, elements, options.maxFileSize));
      return etag;
    },
  };
  const documentTags = [entityTag(stat.version)];
  const verdict = evaluatePreconditions(exchange.method, exchange.headers, current, documentTags);
  if (verdict === "failed") throw preconditionFailed(current);
  return verdict;
}
