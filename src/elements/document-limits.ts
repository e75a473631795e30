import type { ParseLimits } from "../html/document/parse-budget.ts";
import type { FileOptions } from "../server/site.ts";

/** The options of a file handler that bound what is parsed, as the parser knows them. */
export function parseLimits({
  maxDocumentDepth: maxDepth,
  maxParseSteps,
}: Pick<FileOptions, "maxDocumentDepth" | "maxParseSteps">): ParseLimits {
  return { maxDepth, maxParseSteps };
}
