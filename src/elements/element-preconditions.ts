import type { ElementRequest } from "../files/file-request.ts";
import type { SourceElement } from "../html/document/html-nodes.ts";
import { entityTag } from "../http/entity-tag.ts";
import { evaluatePreconditions, preconditionFailed } from "../http/preconditions.ts";
import { elementBytes } from "./element-reply.ts";
import { elementTag } from "./element-tag.ts";
import type { LoadedDocument } from "./load-document.ts";

const conditions = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];

/**
 * Judges the conditions of a request (RFC 9110 §13) by the elements that it is about; `If-Match` may name the document's
 * tag as well. `knownTag` spares computing theirs. Throws 412 `PRECONDITION_FAILED` with the current tag of the elements.
 */
export async function judgePreconditions(
  { exchange, options }: ElementRequest,
  { document, stat }: LoadedDocument,
  elements: readonly SourceElement[],
  knownTag?: string,
): Promise<"proceed" | "not-modified"> {
  const { method, headers } = exchange;
  if (conditions.every((name) => headers[name] === undefined)) return "proceed";
  const etag = knownTag ?? elementTag(await elementBytes(document, elements, options));
  const current = { etag, modified: stat.modified };
  const verdict = evaluatePreconditions(method, headers, current, [entityTag(stat.version)]);
  if (verdict === "failed") throw preconditionFailed(current);
  return verdict;
}
