import type { Client } from "../event-loop/fair-queue.ts";
import type { SlicedWork } from "../event-loop/sliced-work.ts";
import { SourceElement } from "../html/document/html-nodes.ts";
import { TreeWalk } from "../html/document/tree-walk.ts";
import type { AppliedEdit } from "../html/edit/apply-edit.ts";
import type { Access, ChangedElements } from "../server/access.ts";
import type { ChangeFeed } from "../server/change-feed.ts";
import { ChosenElements } from "./selection.ts";

/**
 * The elements of an edit, by which listeners decide whether their clients may hear of it. Where they name these clients
 * beforehand, their rules are asked while both trees are there, so that the old one can become part of the new one.
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

  /** The elements, where somebody judges by them; known after {@link judgeAfter}. */
  get elements(): ChangedElements | undefined {
    return this.#elements;
  }

  /**
   * Asks ahead about the elements before the edit. With others in a list it is never asked later: the trees between them would
   * have to stay in memory.
   */
  async judgeBefore(isInList = false): Promise<void> {
    this.#isInList = isInList;
    if (isInList) this.#isAskedLater = false;
    await this.#before.answerAhead(this.#readers, this.#path, this.#client);
  }

  /** Whether nobody needs the tree of the page any more. Listeners may have come since they were asked last. */
  releaseTree(): boolean {
    const judges = this.#changes.judgesElements(this.#path);
    if (judges === true || (judges && this.#readers.length === 0)) this.#isAskedLater = !this.#isInList;
    return !this.#isAskedLater;
  }

  /** Asks ahead about what stands there after the edit. */
  async judgeAfter(applied: AppliedEdit, maxSelectionSteps: number): Promise<void> {
    if (!this.#isAskedLater && this.#readers.length === 0) return;
    const after = new ChosenElements(applied.document, () => placedElements(applied), maxSelectionSteps);
    this.#elements = { before: this.#before, after };
    if (this.#isAskedLater) return;
    await after.answerAhead(this.#readers, this.#path, this.#client);
    this.#before.close();
    after.close();
  }
}

/** Pieces of a thousand nodes each take well below a millisecond. */
const stepsOfPiece = 1000;

/** The elements that an edit has left or put in the place of those that it was about, in the new document. */
export function* placedElements({ document, placements, elements }: AppliedEdit): SlicedWork<readonly SourceElement[]> {
  const isBeside = placements.some(({ adds }) => adds?.position === "beforebegin" || adds?.position === "afterend");
  if (elements.length > 0 && !isBeside) return elements; // they are still there, and hold what was added
  const isSupplied = suppliedPlaces(placements);
  const placed: SourceElement[] = [];
  const walk = new TreeWalk(document.root);
  let steps = 0;
  for (let goesOn = walk.advance(); goesOn; ) {
    if (++steps % stepsOfPiece === 0) yield;
    const { node } = walk;
    if (node instanceof SourceElement && !walk.isAtEnd && isSupplied(node.startIndex ?? -1)) {
      placed.push(node);
      goesOn = walk.skip(); // what it holds came with it
    } else goesOn = walk.advance();
  }
  return placed;
}

/** Whether a place in the edited source lies in what was supplied. */
function suppliedPlaces(placements: AppliedEdit["placements"]): (index: number) => boolean {
  let delta = 0;
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { start, end, text } of placements) {
    starts.push(start + delta);
    ends.push(start + delta + text.length);
    delta += text.length - (end - start);
  }
  return (index) => {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= index) low = middle + 1;
      else high = middle;
    }
    return low > 0 && index < (ends[low - 1] as number);
  };
}
