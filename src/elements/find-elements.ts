import type { ElementRequest } from "../files/file-request.ts";
import type { SourceElement } from "../html/document/html-nodes.ts";
import type { SourceDocument } from "../html/document/source-document.ts";
import { compileSelector, selectElements } from "../html/selector/select.ts";
import { dialects } from "./dialect.ts";

/** Finds the elements that a request is about in a document, in document order. */
export type FindElements = (document: SourceDocument) => Promise<readonly SourceElement[]>;

/** Prepares the selector of a request. Throws 400 `INVALID_SELECTOR`. */
export function elementFinder({ selector, options }: ElementRequest): FindElements {
  const dialect = dialects[options.dialect];
  const { maxSelectorLength, maxSelectorCompounds: maxCompounds, maxMatches, maxSelectionMs } = options;
  const compiled = compileSelector(selector, { maxSelectorLength, maxCompounds });
  return async (document) => dialect.choose(selectElements(document, compiled, { maxMatches, maxSelectionMs }));
}
