import type { FileOptions } from "../files/file-request.ts";
import type { ParseLimits } from "../html/document/parse-budget.ts";

/** The options of a file handler that bound what is parsed, as the parser knows them. */
export function parseLimits({ maxDocumentDepth }: Pick<FileOptions, "maxDocumentDepth">): ParseLimits {
  return { maxDepth: maxDocumentDepth };
}
