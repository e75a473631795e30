import type { SelectorReader } from "./selector-reader.ts";
import type { AnPlusB } from "./selector-tree.ts";

const integer = /^[+-]?\d+$/;
const signed = /^[+-]\d+$/;
const unsigned = /^\d+$/;
/** `2n`, `-n-1`, `n-`: a step, and an offset or the sign of one that follows. */
const stepPattern = /^([+-]?\d*)n(?:(-\d+)|(-))?$/i;

/** Reads the An+B microsyntax (CSS Syntax 3, §6); `undefined` if something else stands there. */
export function readAnPlusB(reader: SelectorReader): AnPlusB | undefined {
  const name = reader.token.kind === "ident" ? reader.token.value.toLowerCase() : "";
  if (name === "even" || name === "odd") {
    reader.next();
    return { step: 2, offset: name === "odd" ? 1 : 0 };
  }
  // `+` and a name are two tokens; `-n` is a name.
  const hasPlus = reader.take("+");
  const { kind, value } = reader.token;
  reader.next();
  if (kind === "number") return integer.test(value) && !hasPlus ? { step: 0, offset: Number(value) } : undefined;
  const isStep = kind === "ident" || (kind === "dimension" && !hasPlus);
  const match = isStep ? stepPattern.exec(value) : null;
  if (!match) return undefined;
  const [, digits = "", attached, sign] = match;
  if (hasPlus && digits !== "") return undefined;
  const step = /\d/.test(digits) ? Number(digits) : Number(`${digits}1`);
  const offset = attached === undefined ? readOffset(reader, sign) : Number(attached);
  return offset === undefined ? undefined : { step, offset };
}

/** `+ 3` after `n`; or `3` after `n-`, where there has to be one. */
function readOffset(reader: SelectorReader, sign: string | undefined): number | undefined {
  reader.skipSpace();
  const { kind, value } = reader.token;
  const isOffset = kind === "number" && (sign === undefined ? signed : unsigned).test(value);
  if (isOffset) {
    reader.next();
    return Number((sign ?? "") + value);
  }
  if (sign !== undefined) return undefined;
  return reader.take("+") || reader.take("-") ? readOffset(reader, value) : 0;
}
