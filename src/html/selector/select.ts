import { LRUCache } from "lru-cache";
import type { SourceElement } from "../document/html-nodes.ts";
import { DocumentError } from "../document-error.ts";
import { Evaluation, type SelectableDocument } from "./evaluation.ts";
import { EvaluationClock } from "./evaluation-clock.ts";
import { parseSelector, type SelectorLimits } from "./selector-parser.ts";
import type { SelectorList } from "./selector-tree.ts";

/** A selector that was parsed, ready to be evaluated over documents. */
export interface CompiledSelector {
  readonly list: SelectorList;
}

/** Bounds of an evaluation. */
export interface SelectionLimits {
  /** The longest that it may take, in milliseconds; the event loop stands still meanwhile. @default 250 */
  readonly maxSelectionMs?: number;
  /** The most elements that may match. @default 10000 */
  readonly maxMatches?: number;
}

/** Pages ask for the same selectors again and again; the number bounds what strangers can fill the memory with. */
const compiled = new LRUCache<string, CompiledSelector>({ max: 500 });

/** Prepares a selector. Throws `INVALID_SELECTOR` for what a browser's `querySelectorAll` throws on. */
export function compileSelector(selector: string, limits: SelectorLimits = {}): CompiledSelector {
  const key = `${limits.maxSelectorLength} ${limits.maxCompounds} ${selector}`;
  const known = compiled.get(key);
  if (known) return known;
  const parsed = { list: parseSelector(selector, limits) };
  compiled.set(key, parsed);
  return parsed;
}

/**
 * The elements that `document.querySelectorAll(selector)` gives in a browser, in document order. Throws 503
 * `SELECTOR_TOO_COSTLY` and `TOO_MANY_MATCHES` beyond the limits.
 */
export function selectElements(
  document: SelectableDocument,
  { list }: CompiledSelector,
  limits: SelectionLimits = {},
): readonly SourceElement[] {
  const { maxSelectionMs = 250, maxMatches = 10_000 } = limits;
  const found = new Evaluation(document, new EvaluationClock(maxSelectionMs)).select(list);
  if (found.length > maxMatches) {
    const details = `The selector matches ${found.length} elements; ${maxMatches} are allowed.`;
    throw new DocumentError("TOO_MANY_MATCHES", details);
  }
  return found;
}
