import { demand, patiently, type SlicedWork } from "../../event-loop/sliced-work.ts";
import { SourceElement } from "../document/html-nodes.ts";
import type { AnPlusB } from "./selector-tree.ts";
import type { EvaluationSteps } from "./tree-steps.ts";

/** The siblings that are counted together, and an element's index among them. */
interface Place {
  readonly index: number;
  readonly group: readonly SourceElement[];
}

/** Which siblings are counted together: those with the same key. `null`: it is not counted. It may `demand` work. */
export type GroupKey = (element: SourceElement) => string | null;

/**
 * Positions of elements among their siblings. The siblings of a parent are counted once, so that `:nth-child()` takes
 * linear time over 20,000 of them.
 */
export class SiblingPositions {
  readonly #places = new Map<SourceElement, Place | null>();
  readonly #keyOf: GroupKey;
  readonly #steps: EvaluationSteps;

  constructor(keyOf: GroupKey, steps: EvaluationSteps) {
    this.#keyOf = keyOf;
    this.#steps = steps;
  }

  /** Position from the first sibling, beginning with 1; 0 for one that is not counted. */
  fromStart(element: SourceElement): number {
    const place = this.#placeOf(element);
    return place ? place.index + 1 : 0;
  }

  /** Position from the last sibling. */
  fromEnd(element: SourceElement): number {
    const place = this.#placeOf(element);
    return place ? place.group.length - place.index : 0;
  }

  #placeOf(element: SourceElement): Place | null {
    const known = this.#places.get(element);
    if (known !== undefined) return known;
    demand(this.#count(element));
    return this.#places.get(element) ?? null;
  }

  *#count({ parent }: SourceElement): SlicedWork<void> {
    const groups = new Map<string, SourceElement[]>();
    for (const child of parent?.children ?? []) {
      this.#steps.keep();
      if (this.#steps.isSliceOver()) yield;
      if (!(child instanceof SourceElement)) continue;
      const key = yield* patiently(() => this.#keyOf(child));
      if (key === null) {
        this.#places.set(child, null);
        continue;
      }
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      this.#places.set(child, { index: group.length, group });
      group.push(child);
    }
  }
}

/** Whether a position is one of `step * n + offset`, n from 0. */
export function isNth(position: number, { step, offset }: AnPlusB): boolean {
  if (position === 0) return false;
  const distance = position - offset;
  return step === 0 ? distance === 0 : distance % step === 0 && distance / step >= 0;
}
