import { atOnce } from "../../src/event-loop/sliced-work.ts";
import type { SourceElement } from "../../src/html/document/html-nodes.ts";
import type { SourceDocument } from "../../src/html/document/source-document.ts";
import { DocumentError } from "../../src/html/document-error.ts";
import { compileSelector, type SelectionLimits, selection } from "../../src/html/selector/select.ts";
import type { SelectorList } from "../../src/html/selector/selector-tree.ts";
import { elementsOf } from "./pages.ts";

/** What a selector gives: the numbers of the elements in a walk over the document, or that it is refused. */
export type Selected = readonly number[] | "refused";

/** Some elements of real pages are so deep, and so many, that their selectors exceed the limits of a request. */
export const wideLimits = {
  maxCompounds: 1000,
  maxSelectorLength: 100_000,
  maxMatches: 1_000_000,
  maxSelectionSteps: 1_000_000_000,
} as const;

/** The elements that a selector gives, in one go. */
export function selectElements(
  document: SourceDocument,
  selector: SelectorList,
  limits?: SelectionLimits,
): readonly SourceElement[] {
  return atOnce(selection(document, selector, limits));
}

/** What selectors give over one document. */
export function selectorOver(document: SourceDocument): (selector: string) => Selected {
  const numbers = new Map(elementsOf(document).map((element, index) => [element, index]));
  return (selector) => {
    try {
      const found = selectElements(document, compileSelector(selector, wideLimits), wideLimits);
      return found.map((element) => numbers.get(element) ?? -1);
    } catch (error) {
      if (error instanceof DocumentError && error.code === "INVALID_SELECTOR") return "refused";
      throw error;
    }
  };
}
