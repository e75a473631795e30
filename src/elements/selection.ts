import type { Client } from "../event-loop/fair-queue.ts";
import { atOnce, SlicedQueue, type SlicedWork } from "../event-loop/sliced-work.ts";
import type { SourceElement, TreeParent } from "../html/document/html-nodes.ts";
import type { SourceDocument } from "../html/document/source-document.ts";
import { compileSelector, type ParsedSelector, selection } from "../html/selector/select.ts";
import type { SelectorLimits } from "../html/selector/selector-parser.ts";
import { selectorCandidates } from "../http/selector-range.ts";
import type { Access, Right, SelectedElements } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { FileOptions } from "../server/site.ts";
import { dialects } from "./element-reply.ts";

/** The options that bound a selection. */
export type SelectionOptions = Pick<
  FileOptions,
  "dialect" | "maxMatches" | "maxSelectorLength" | "maxSelectorCompounds" | "maxSelectionSteps"
>;

/** Whose turn it is when a request parses and selects. */
export function clientOf({ address, user }: Exchange): Client {
  return { address, account: user?.name ?? "", isKnown: user !== undefined };
}

/** There is one event loop, which all selections share. */
const queue = new SlicedQueue();

/** Finds the elements that a request is about in a document, in document order. */
export type FindElements = (document: SourceDocument) => Promise<readonly SourceElement[]>;

/** Prepares the selector of a request. Throws 400 `INVALID_SELECTOR`. */
export function elementFinder(selector: string, options: SelectionOptions, client: Client): FindElements {
  const { maxSelectorLength, maxSelectorCompounds: maxCompounds, maxMatches, maxSelectionSteps } = options;
  const parsed = compileCandidates(selector, { maxSelectorLength, maxCompounds });
  const { choose } = dialects[options.dialect];
  return async (document) =>
    choose(await queue.do(selection(document, parsed, { maxMatches, maxSelectionSteps }), client));
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

/** Elements of a document as the rules of an {@link Access} see them. Nothing is selected unless a rule asks. */
export class ChosenElements implements SelectedElements {
  readonly #document: SourceDocument;
  readonly #find: () => readonly SourceElement[];
  #found: readonly SourceElement[] | undefined;
  readonly #maxSelectionSteps: number;
  /** An announcement of a change asks this for each of many listeners. */
  readonly #known = new Map<string, ReadonlySet<TreeParent>>();
  /** While permission is asked for: the first selector that is not known yet. */
  #needed: { selector?: string } | undefined;

  /** `elements` are given, or found when a rule asks. */
  constructor(
    document: SourceDocument,
    elements: readonly SourceElement[] | (() => readonly SourceElement[]),
    maxSelectionSteps: number,
  ) {
    this.#document = document;
    this.#find = typeof elements === "function" ? elements : () => elements;
    this.#maxSelectionSteps = maxSelectionSteps;
  }

  get #elements(): readonly SourceElement[] {
    this.#found ??= this.#find();
    return this.#found;
  }

  areAmong(selector: string): boolean {
    const selected = this.#selected(selector);
    return selected !== undefined && this.#elements.every((element) => selected.has(element));
  }

  touch(selector: string): boolean {
    const selected = this.#selected(selector);
    if (!selected) return false;
    const holders = withAncestors(selected);
    return this.#elements.some((element) => holders.has(element) || liesIn(element, selected));
  }

  /** Asks whether a right is given to all of them. What the rules select is selected in slices before they are asked again. */
  async isGiven(access: Access, right: Right, path: string, client: Client): Promise<boolean> {
    for (;;) {
      const needed: { selector?: string } = {};
      this.#needed = needed;
      const verdict = access.permits(right, path, this);
      this.#needed = undefined;
      const { selector } = needed;
      if (selector === undefined) return verdict;
      this.#known.set(selector, new Set(await queue.do(this.#selection(selector), client)));
    }
  }

  #selected(selector: string): ReadonlySet<TreeParent> | undefined {
    const known = this.#known.get(selector);
    if (known) return known;
    if (this.#needed) {
      this.#needed.selector ??= selector;
      return undefined;
    }
    const selected = new Set(atOnce(this.#selection(selector)));
    this.#known.set(selector, selected);
    return selected;
  }

  #selection(selector: string): SlicedWork<readonly SourceElement[]> {
    const limits = { maxSelectionSteps: this.#maxSelectionSteps, maxMatches: Number.POSITIVE_INFINITY };
    return selection(this.#document, compileSelector(selector), limits);
  }
}

/** Elements and everything that they lie in. */
function withAncestors(elements: ReadonlySet<TreeParent>): ReadonlySet<TreeParent> {
  const found = new Set<TreeParent>();
  for (const element of elements) {
    for (let each: TreeParent | null = element; each && !found.has(each); each = each.parent) found.add(each);
  }
  return found;
}

function liesIn(element: SourceElement, holders: ReadonlySet<TreeParent>): boolean {
  for (let each: TreeParent | null = element.parent; each; each = each.parent) if (holders.has(each)) return true;
  return false;
}
