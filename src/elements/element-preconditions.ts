import { randomUUID } from "node:crypto";
import type { ElementRequest } from "../files/file-request.ts";
import type { SourceElement } from "../html/document/html-nodes.ts";
import { entityTag } from "../http/entity-tag.ts";
import { HttpError } from "../http/http-error.ts";
import { evaluatePreconditions, preconditionFailed } from "../http/preconditions.ts";
import { elementBytes } from "./element-reply.ts";
import { elementTag } from "./element-tag.ts";
import type { LoadedDocument } from "./load-document.ts";

const conditions = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];

/** The elements that a request is about, as far as its user may know them. */
export interface JudgedElements {
  readonly elements: readonly SourceElement[];
  /** Whether the user may read them. Otherwise no condition about their content holds, and no reply has their tag. */
  readonly isReadable: boolean;
  /** Their tag, where it is known already. */
  readonly etag?: string;
}

/**
 * Judges the conditions of a request (RFC 9110 §13) by the elements that it is about; `If-Match` may name the document's
 * tag as well. Throws 412 `PRECONDITION_FAILED`, with the current tag of the elements for a user who may read them: by a
 * tag alone, content as short as a PIN can be guessed.
 */
export async function judgePreconditions(
  { exchange, options }: ElementRequest,
  { document, stat }: LoadedDocument,
  { elements, isReadable, etag }: JudgedElements,
): Promise<"proceed" | "not-modified"> {
  const { method, headers } = exchange;
  if (conditions.every((name) => headers[name] === undefined)) return "proceed";
  const tag = isReadable ? (etag ?? elementTag(await elementBytes(document, elements, options))) : `"${randomUUID()}"`;
  const current = { etag: tag, modified: stat.modified };
  const verdict = evaluatePreconditions(method, headers, current, [entityTag(stat.version)]);
  if (verdict !== "failed") return verdict;
  const failed = preconditionFailed(current);
  throw isReadable ? failed : new HttpError(failed.status, failed.code, failed.message);
}
