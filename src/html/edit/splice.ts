/** Characters `start` to `end` of a source give way to `text`. An insertion has `start` equal to `end`. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies replacements that do not overlap, in the order of the source, in one pass. */
export function splice(source: string, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let position = 0;
  for (const { start, end, text } of replacements) {
    if (start < position || end < start) throw new RangeError(`replacement ${start}-${end} overlaps the one before`);
    parts.push(source.slice(position, start), text);
    position = end;
  }
  parts.push(source.slice(position));
  return parts.join("");
}
