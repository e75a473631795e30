import { LRUCache } from "lru-cache";
import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { RootNode, SourceElement } from "../document/html-nodes.ts";
import { DocumentError } from "../document-error.ts";
import { elementIndex } from "./element-index.ts";
import { Evaluation, type SelectableDocument } from "./evaluation.ts";
import { parseSelector, type SelectorLimits } from "./selector-parser.ts";
import type { SelectorList } from "./selector-tree.ts";
import { EvaluationSteps } from "./tree-steps.ts";

/** A selector that was parsed, ready to be evaluated over documents. */
export interface ParsedSelector {
  readonly list: SelectorList;
}

/** Bounds of an evaluation. */
export interface SelectionLimits {
  /** The most work that it may be: nodes visited, and characters compared, 64 of them as one step. @default 20000000 */
  readonly maxSelectionSteps?: number;
  /** The most elements that may match. @default 10000 */
  readonly maxMatches?: number;
}

/** Pages ask for the same selectors again and again; the number bounds what strangers can fill the memory with. */
const compiled = new LRUCache<string, ParsedSelector>({ max: 500 });

/** Prepares a selector. Throws `INVALID_SELECTOR` for what a browser's `querySelectorAll` throws on. */
export function compileSelector(selector: string, limits: SelectorLimits = {}): ParsedSelector {
  const key = `${limits.maxSelectorLength} ${limits.maxCompounds} ${selector}`;
  const known = compiled.get(key);
  if (known) return known;
  const parsed = { list: parseSelector(selector, limits) };
  compiled.set(key, parsed);
  return parsed;
}

/** Selectors that a tree remembers, and the most elements of each: no more than a small part of the memory of a page. */
const mostSelectors = 8;
const mostElements = 256;

/** What was found within a number of steps. */
interface Found {
  readonly elements: readonly SourceElement[];
  readonly maxSelectionSteps: number;
}

/** What selectors have found. A tree does not change, and is asked for the same again; an edit asks twice before it writes. */
const foundIn = new WeakMap<RootNode, Map<ParsedSelector, Found>>();

/**
 * Finds the elements that `document.querySelectorAll(selector)` gives in a browser, in document order. Throws
 * `SELECTOR_TOO_COSTLY` and `TOO_MANY_MATCHES` beyond the limits.
 */
export function* selection(
  document: SelectableDocument,
  selector: ParsedSelector,
  limits: SelectionLimits = {},
): SlicedWork<readonly SourceElement[]> {
  const { maxSelectionSteps = 20_000_000, maxMatches = 10_000 } = limits;
  const known = foundIn.get(document.root)?.get(selector);
  const isKnown = known?.maxSelectionSteps === maxSelectionSteps;
  const found = isKnown ? known.elements : yield* evaluated(document, selector, maxSelectionSteps);
  if (found.length > maxMatches) {
    const details = `The selector matches ${found.length} elements; ${maxMatches} are allowed.`;
    throw new DocumentError("TOO_MANY_MATCHES", details);
  }
  return found;
}

function* evaluated(
  document: SelectableDocument,
  selector: ParsedSelector,
  maxSelectionSteps: number,
): SlicedWork<readonly SourceElement[]> {
  const { root } = document;
  const index = yield* elementIndex(root);
  const elements = yield* new Evaluation(document, index, new EvaluationSteps(maxSelectionSteps)).select(selector.list);
  if (elements.length > mostElements) return elements;
  const remembered = foundIn.get(root) ?? new Map<ParsedSelector, Found>();
  if (remembered.size === mostSelectors) remembered.clear();
  remembered.set(selector, { elements, maxSelectionSteps });
  foundIn.set(root, remembered);
  return elements;
}
