import { inSlices } from "../event-loop/sliced-work.ts";
import type { ElementRequest } from "../files/file-request.ts";
import type { SourceElement } from "../html/document/html-nodes.ts";
import type { SourceDocument } from "../html/document/source-document.ts";
import { compileSelector, type ParsedSelector, selection } from "../html/selector/select.ts";
import type { SelectorLimits } from "../html/selector/selector-parser.ts";
import { selectorCandidates } from "../http/selector-range.ts";
import { dialects } from "./dialect.ts";

/** Finds the elements that a request is about in a document, in document order. */
export type FindElements = (document: SourceDocument) => Promise<readonly SourceElement[]>;

/** Prepares the selector of a request. Throws 400 `INVALID_SELECTOR`. */
export function elementFinder({ selector, options }: ElementRequest): FindElements {
  const dialect = dialects[options.dialect];
  const { maxSelectorLength, maxSelectorCompounds: maxCompounds, maxMatches, maxSelectionSteps } = options;
  const compiled = compileCandidates(selector, { maxSelectorLength, maxCompounds });
  return async (document) =>
    dialect.choose(await inSlices(selection(document, compiled, { maxMatches, maxSelectionSteps })));
}

/** The text as it stands, or percent-decoded where only that parses. */
function compileCandidates(selector: string, limits: SelectorLimits): ParsedSelector {
  let firstError: unknown;
  for (const text of selectorCandidates(selector)) {
    try {
      return compileSelector(text, limits);
    } catch (error) {
      firstError ??= error;
    }
  }
  throw firstError;
}
