import type { SelectorToken } from "./selector-tokens.ts";
import type { AnPlusB } from "./selector-tree.ts";

const integer = /^[+-]?\d+$/;
const signed = /^[+-]\d+$/;
const unsigned = /^\d+$/;
/** `2n`, `-n-1`, `n-`: a step, and an offset or the sign of one that follows. */
const stepPattern = /^([+-]?\d*)n(?:(-\d+)|(-))?$/i;

/** The most tokens that it takes: `+n - 3`. */
export const longestAnPlusB = 6;

/** What was read, and how many tokens it took. */
export interface ReadAnPlusB extends AnPlusB {
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
