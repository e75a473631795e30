import type { RootNode, SourceElement } from "../document/html-nodes.ts";
import type { DocumentKind } from "../document/source-document.ts";
import type { ElementIndex } from "./element-index.ts";
import type { Direction } from "./selector-names.ts";
import type { SelectorList } from "./selector-tree.ts";
import type { SiblingPositions } from "./sibling-positions.ts";
import type { EvaluationSteps } from "./tree-steps.ts";

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
  readonly childPositions: SiblingPositions;
  readonly typePositions: SiblingPositions;
  readonly memory: ElementMemory;
  /** The test of `:is(list)`. */
  matches(list: SelectorList): (element: SourceElement) => boolean;
  /** The test of `:has(list)`. */
  contains(list: SelectorList): (element: SourceElement) => boolean;
}

/** What costs a walk over the tree to find out, and is asked of many elements. */
export interface ElementMemory {
  /** What the page says of itself. */
  language?: string;
  readonly languages: Map<SourceElement, string>;
  readonly directions: Map<SourceElement, Direction>;
  /** The options of each `select`. */
  readonly options: Map<SourceElement, readonly SourceElement[]>;
  forms?: FormState;
}

/** What is known of the forms of a document, found in one walk. */
export interface FormState {
  /** The first submit button of each form. */
  readonly defaultButtons: ReadonlySet<SourceElement>;
  readonly radios: ReadonlyMap<SourceElement, RadioGroup>;
  /** Found when asked for. */
  readonly selectedOptions: Map<SourceElement, SourceElement | null>;
}

/** Radio buttons of one name in one form. */
export interface RadioGroup {
  /** Of those that say `checked` only the last one stays so. */
  checked: SourceElement | undefined;
}
