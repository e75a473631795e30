import { demand, patiently, type SlicedWork } from "../../event-loop/sliced-work.ts";
import { SourceElement } from "../document/html-nodes.ts";
import type { SelectorToken } from "./selector-tokens.ts";
import type { AnPlusB } from "./selector-tree.ts";
import type { EvaluationSteps } from "./tree-steps.ts";

/** The siblings that are counted together, and an element's index among them. */
interface Place {
  readonly index: number;
  readonly group: readonly SourceElement[];
}

/** Which siblings are counted together: those with the same key. `null`: it is not counted. It may `demand` work. */
type GroupKey = (element: SourceElement) => string | null;

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

const integer = /^[+-]?\d+$/;
const signed = /^[+-]\d+$/;
const unsigned = /^\d+$/;
/** `2n`, `-n-1`, `n-`: a step, and an offset or the sign of one that follows. */
const stepPattern = /^([+-]?\d*)n(?:(-\d+)|(-))?$/i;

/** The most tokens that it takes: `+n - 3`. */
export const longestAnPlusB = 6;

/** What was read, and how many tokens it took. */
interface ReadAnPlusB extends AnPlusB {
  readonly length: number;
}

/** Reads the An+B microsyntax (CSS Syntax 3, §6) at the beginning of `tokens`; `undefined` where it is not one. */
export function readAnPlusB(tokens: readonly SelectorToken[]): ReadAnPlusB | undefined {
  const [first, second] = tokens;
  if (!first) return undefined;
  const name = first.kind === "ident" ? first.value.toLowerCase() : "";
  if (name === "even") return { step: 2, offset: 0, length: 1 };
  if (name === "odd") return { step: 2, offset: 1, length: 1 };
  if (first.kind === "number" && integer.test(first.value)) return { step: 0, offset: Number(first.value), length: 1 };

  // `+` and a name are two tokens; `-n` is a name.
  const hasPlus = first.kind === "delim" && first.value === "+";
  const token = hasPlus ? second : first;
  const isStep = token?.kind === "ident" || (token?.kind === "dimension" && !hasPlus);
  const match = isStep ? stepPattern.exec(token.value) : null;
  if (!match) return undefined;
  const [, digits = "", attached, sign] = match;
  if (hasPlus && digits !== "") return undefined;
  const step = /\d/.test(digits) ? Number(digits) : Number(`${digits}1`);
  const length = hasPlus ? 2 : 1;
  if (attached !== undefined) return { step, offset: Number(attached), length };
  const offset = readOffset(tokens.slice(length), sign);
  return offset && { step, offset: offset.value, length: length + offset.length };
}

/** `+ 3` after `n`; or `3` after `n-`, where there has to be one. */
function readOffset(
  tokens: readonly SelectorToken[],
  sign: string | undefined,
): { value: number; length: number } | undefined {
  const position = tokens[0]?.kind === "space" ? 1 : 0;
  const token = tokens[position];
  if (sign !== undefined) {
    if (token?.kind !== "number" || !unsigned.test(token.value)) return undefined;
    return { value: -Number(token.value), length: position + 1 };
  }
  if (token?.kind === "number" && signed.test(token.value)) {
    return { value: Number(token.value), length: position + 1 };
  }
  if (token?.kind !== "delim" || !/^[+-]$/.test(token.value)) return { value: 0, length: 0 };
  const rest = readOffset(tokens.slice(position + 1), "-");
  if (!rest) return undefined;
  return { value: token.value === "-" ? rest.value : -rest.value, length: position + 1 + rest.length };
}
