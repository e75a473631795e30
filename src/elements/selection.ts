import type { Client } from "../event-loop/fair-queue.ts";
import { atOnce, inFairSlices, type SlicedWork, settled } from "../event-loop/sliced-work.ts";
import { DocumentError } from "../html/document-error.ts";
import {
  compileSelector,
  indexing,
  type SelectorList,
  type SourceDocument,
  type SourceElement,
  selection,
  type TreeParent,
} from "../html/engine.ts";
import { selectorCandidates } from "../http/selector-range.ts";
import type { Access, JudgedElements, Right } from "../server/access.ts";
import type { FileOptions } from "../server/site.ts";
import { dialects } from "./element-reply.ts";

export type SelectionOptions = Pick<
  FileOptions,
  "dialect" | "maxMatches" | "maxSelectorLength" | "maxSelectorCompounds" | "maxSelectionSteps"
>;

/** Finds the elements that a selector selects, in document order. */
export type FindElements = (document: SourceDocument, selector: string) => Promise<readonly SourceElement[]>;

/** What finds elements for a request. With `work`, all selections together may take as many steps as one. */
export function finderOf(options: SelectionOptions, client: Client, work?: { steps: number }): FindElements {
  const { maxMatches, maxSelectionSteps } = options;
  const { choose } = dialects[options.dialect];
  const limits = { maxMatches, maxSelectionSteps, ...(work && { work }) };
  return async (document, selector) => {
    const list = parsedSelector(selector, options);
    const begin = () => selection(document, list, limits);
    await inFairSlices(indexing(document, list), client); // shared by all, and kept
    return choose(await inFairSlices(begin(), client, work ? undefined : begin));
  };
}

/** The text as it stands, or percent-decoded where only that parses. */
function parsedSelector(
  selector: string,
  { maxSelectorLength, maxSelectorCompounds: maxCompounds }: SelectionOptions,
): SelectorList {
  let firstError: unknown;
  for (const text of selectorCandidates(selector)) {
    try {
      return compileSelector(text, { maxSelectorLength, maxCompounds });
    } catch (error) {
      firstError ??= error;
    }
  }
  throw firstError;
}

/** Pieces of a thousand steps each take well below a millisecond. */
const stepsOfPiece = 1000;

/**
 * Elements of a document as the rules of an {@link Access} see them. Nothing is selected unless a rule asks. Each
 * answer is work in pieces, done once: an announcement of a change asks the same for each of many listeners.
 */
export class ChosenElements implements JudgedElements {
  /** `undefined` once they are closed. */
  #held: { readonly document: SourceDocument; readonly find: () => SlicedWork<readonly SourceElement[]> } | undefined;
  readonly #maxSelectionSteps: number;
  readonly #answers = new Map<string, () => boolean>();
  /** Answers that an access which is being asked has to wait for. */
  #unfinished: SlicedWork<unknown>[] | undefined;

  /** `elements` are given, or found when a rule asks. */
  constructor(
    document: SourceDocument,
    elements: readonly SourceElement[] | (() => SlicedWork<readonly SourceElement[]>),
    maxSelectionSteps: number,
  ) {
    this.#held = { document, find: typeof elements === "function" ? elements : () => settled(elements) };
    this.#maxSelectionSteps = maxSelectionSteps;
  }

  areAmong(selector: string): boolean {
    return this.#answer(`are among ${selector}`, () => this.#areAmong(selector));
  }

  touch(selector: string): boolean {
    return this.#answer(`touch ${selector}`, () => this.#touch(selector));
  }

  /** Whether an access permits a right to all of them, when it is the client's turn. Few looks at a time take long. */
  isGiven(access: Access, right: Right, path: string, client: Client, kind?: "look"): boolean | Promise<boolean> {
    const begin = () => this.areGiven(access, right, path);
    return inFairSlices(begin(), client, kind && begin);
  }

  /** Where answers take longer, the access gets `false` for them, and is asked again once they are known. */
  *areGiven(access: Access, right: Right, path: string): SlicedWork<boolean> {
    for (;;) {
      const unfinished: SlicedWork<unknown>[] = [];
      this.#unfinished = unfinished;
      try {
        const isPermitted = access.permitsElements(right, path, this);
        if (unfinished.length === 0) return isPermitted;
      } finally {
        this.#unfinished = undefined;
      }
      yield;
      for (const work of unfinished) yield* work;
    }
  }

  /** Finds out ahead what these will ask when it is to be known whether they may read the elements. */
  *answerAhead(readers: readonly Access[], path: string, client: Client): SlicedWork<void> {
    for (const access of readers) {
      try {
        yield* settled(this.isGiven(access, "read", path, client));
      } catch {} // it throws that again when it is asked
    }
  }

  /** Lets the page go: its tree may become part of another. Only what was asked before still has an answer. */
  close(): void {
    this.#held = undefined;
  }

  get #asked() {
    if (!this.#held) throw new Error("the page was edited since, and this was not asked of its elements before");
    return this.#held;
  }

  #answer(question: string, work: () => SlicedWork<boolean>): boolean {
    const known = this.#answers.get(question);
    if (known) return known();
    const learning = this.#learn(question, work);
    if (!this.#unfinished) return atOnce(learning)();
    const piece = learning.next();
    if (piece.done) return piece.value();
    this.#unfinished.push(learning);
    return false;
  }

  /** Remembers an answer, or that it is too costly. */
  *#learn(question: string, work: () => SlicedWork<boolean>): SlicedWork<() => boolean> {
    let answer: () => boolean;
    try {
      const isSo = yield* work();
      answer = () => isSo;
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      answer = () => {
        throw error;
      };
    }
    this.#answers.set(question, answer);
    return answer;
  }

  *#areAmong(selector: string): SlicedWork<boolean> {
    const selected = yield* this.#selected(selector);
    for (const element of yield* this.#asked.find()) if (!selected.has(element)) return false;
    return true;
  }

  *#touch(selector: string): SlicedWork<boolean> {
    const selected = yield* this.#selected(selector);
    const holders = yield* withAncestors(selected);
    let steps = 0;
    for (const element of yield* this.#asked.find()) {
      if (holders.has(element)) return true;
      for (let each: TreeParent | null = element.parent; each; each = each.parent) {
        if (selected.has(each)) return true;
        if (++steps % stepsOfPiece === 0) yield;
      }
    }
    return false;
  }

  *#selected(selector: string): SlicedWork<ReadonlySet<TreeParent>> {
    const limits = { maxSelectionSteps: this.#maxSelectionSteps, maxMatches: Number.POSITIVE_INFINITY };
    const found = new Set<TreeParent>();
    for (const element of yield* selection(this.#asked.document, compileSelector(selector), limits)) {
      found.add(element);
      if (found.size % stepsOfPiece === 0) yield;
    }
    return found;
  }
}

function* withAncestors(elements: ReadonlySet<TreeParent>): SlicedWork<ReadonlySet<TreeParent>> {
  const found = new Set<TreeParent>();
  for (const element of elements) {
    for (let each: TreeParent | null = element; each && !found.has(each); each = each.parent) {
      found.add(each);
      if (found.size % stepsOfPiece === 0) yield;
    }
  }
  return found;
}
