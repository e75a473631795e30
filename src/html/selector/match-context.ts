import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { RootNode, SourceElement } from "../document/html-nodes.ts";
import type { DocumentKind } from "../document/source-document.ts";
import type { ElementIndex } from "./element-index.ts";
import type { SelectorList } from "./selector-tree.ts";
import type { EvaluationSteps } from "./tree-steps.ts";

export type ElementList = readonly SourceElement[];

/** What the parts of a selector know of the document in which they are evaluated. */
export interface MatchContext {
  readonly root: RootNode;
  /** What the offsets of the elements count in. */
  readonly source: string;
  readonly kind: DocumentKind;
  /** Ids and classes match in any case. */
  readonly isQuirks: boolean;
  readonly index: ElementIndex;
  readonly steps: EvaluationSteps;
  /** Known once a selector has asked for it. */
  forms?: FormState;
  /** Those of some elements that match one of a list, in the same order. */
  among(elements: ElementList, list: SelectorList): SlicedWork<ElementList>;
  /** The elements from which one of a list of relative selectors leads to something. */
  leadingTo(list: SelectorList): SlicedWork<ReadonlySet<SourceElement>>;
}

/** The state of the forms of a document as the page says, before they are filled in. */
export interface FormState {
  /** The first submit button of each form. */
  readonly defaultButtons: ReadonlySet<SourceElement>;
  readonly radios: ReadonlyMap<SourceElement, RadioGroup>;
  /** Of each `select` that takes just one. */
  readonly selectedOptions: ReadonlySet<SourceElement | undefined>;
}

/** Radio buttons of one name in one form. */
export interface RadioGroup {
  /** Of those that say `checked` only the last one stays so. */
  checked: SourceElement | undefined;
}

/** Those of some elements that pass a test, in the same order. */
export function* where(
  elements: ElementList,
  test: (element: SourceElement) => boolean,
  steps: EvaluationSteps,
): SlicedWork<ElementList> {
  const found: SourceElement[] = [];
  for (const element of elements) {
    if (steps.isSliceOver()) yield;
    steps.spend();
    if (test(element)) found.push(element);
  }
  return found;
}
