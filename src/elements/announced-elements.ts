import type { Client } from "../event-loop/fair-queue.ts";
import type { SlicedWork } from "../event-loop/sliced-work.ts";
import { type AppliedEdit, placedElements } from "../html/engine.ts";
import type { Access, ChangedElements } from "../server/access.ts";
import type { ChangeFeed } from "../server/change-feed.ts";
import { ChosenElements } from "./selection.ts";

/**
 * The elements of an edit, by which listeners decide whether their clients may hear of it. Where they name these
 * clients beforehand, their rules are asked while both trees are there, so that the old one can become part of the new
 * one.
 */
export class AnnouncedElements {
  readonly #changes: ChangeFeed;
  readonly #path: string;
  readonly #before: ChosenElements;
  readonly #client: Client;
  /** Whose rules are asked ahead. */
  readonly #readers: readonly Access[];
  #isAskedLater: boolean;
  #isInList = false;
  #elements: ChangedElements | undefined;

  /** `before`: what the selector selects. */
  constructor(changes: ChangeFeed, path: string, before: ChosenElements, client: Client) {
    const judges = changes.judgesElements(path);
    this.#changes = changes;
    this.#path = path;
    this.#before = before;
    this.#client = client;
    this.#readers = typeof judges === "object" ? judges : [];
    this.#isAskedLater = judges === true;
  }

  /** Whether listeners may ask anything of the elements from now on, so that both trees have to stay as they are. */
  get isAskedLater(): boolean {
    return this.#isAskedLater;
  }

  /** The elements, if a rule judges by them; known after {@link judgeAfter}. */
  get elements(): ChangedElements | undefined {
    return this.#elements;
  }

  /** Asks about the elements before the edit. In a list it is never asked later: trees would stay in memory. */
  judgeBefore(isInList = false): SlicedWork<void> {
    this.#isInList = isInList;
    if (isInList) this.#isAskedLater = false;
    return this.#before.answerAhead(this.#readers, this.#path, this.#client);
  }

  /** Whether the tree of the page is no longer needed. Listeners may have come since they were asked last. */
  releaseTree(): boolean {
    const judges = this.#changes.judgesElements(this.#path);
    if (judges === true || (judges && this.#readers.length === 0)) this.#isAskedLater = !this.#isInList;
    return !this.#isAskedLater;
  }

  /** Asks ahead about what stands there after the edit, if it was one. Only those who ask later hold the pages. */
  *judgeAfter(applied: AppliedEdit | undefined, maxSelectionSteps: number): SlicedWork<void> {
    if (applied && (this.#isAskedLater || this.#readers.length > 0)) {
      const after = new ChosenElements(applied.document, () => placedElements(applied), maxSelectionSteps);
      this.#elements = { before: this.#before, after };
      if (this.#isAskedLater) return;
      yield* after.answerAhead(this.#readers, this.#path, this.#client);
      after.close();
    }
    this.#before.close();
  }
}
