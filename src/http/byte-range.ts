import type { ByteSpan } from "../storage/storage.ts";

// Parts of one reply. Players and PDF readers ask for a handful; thousands of tiny ones are an attack (CVE-2011-3192).
const maxSpans = 16;

/**
 * Reads `Range: bytes=...` for a file of `size` bytes (RFC 9110 §14.1.2): the spans to send, in the requested order,
 * joined where they overlap or touch. `"ignore"`: another unit, a value that breaks the grammar, or more than 16 spans,
 * so that the whole file is the answer. `"unsatisfiable"`: none of the ranges lies within the file (416).
 */
export function parseByteRange(header: string, size: number): "ignore" | "unsatisfiable" | readonly ByteSpan[] {
  if (!/^bytes=/i.test(header)) return "ignore";
  const ranges = header
    .slice("bytes=".length)
    .split(",")
    .map((range) => range.trim())
    .filter(Boolean)
    .map(readRange);
  if (ranges.length === 0 || !ranges.every((range) => range !== undefined)) return "ignore";
  // The last bytes of an empty file are all of it, but no Content-Range can say so.
  if (size === 0 && ranges.some(({ first, last }) => first === undefined && last !== 0)) return "ignore";

  const spans = joined(ranges.map((range) => spanOf(range, size)).filter((span) => span !== undefined));
  if (spans.length === 0) return "unsatisfiable";
  return spans.length > maxSpans ? "ignore" : spans;
}

/** `Content-Range` of one part (RFC 9110 §14.4). */
export function contentRange(span: ByteSpan, size: number): string {
  return `bytes ${span.start}-${span.end}/${size}`;
}

/** `5-9`, `5-` or, without a `first`, the last bytes: `-5`. */
interface AskedRange {
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** `undefined` for what breaks the grammar; also for `9-5`, which makes the whole field invalid (RFC 9110 §14.1.1). */
function readRange(text: string): AskedRange | undefined {
  const [, from, to] = /^(\d*)-(\d*)$/.exec(text) ?? [];
  if (from === undefined || to === undefined || (from === "" && to === "")) return undefined;
  const first = from === "" ? undefined : Number(from);
  const last = to === "" ? undefined : Number(to);
  return first !== undefined && last !== undefined && first > last ? undefined : { first, last };
}

/** The part of a file that a range means; `undefined` where it lies beyond. */
function spanOf({ first, last = Number.POSITIVE_INFINITY }: AskedRange, size: number): ByteSpan | undefined {
  const start = first ?? Math.max(0, size - last); // more last bytes than there are mean all of them
  const end = first === undefined ? size - 1 : Math.min(last, size - 1);
  return start <= end ? { start, end } : undefined;
}

/** Spans that overlap or touch as one, which stands where the first of them was asked for. */
function joined(spans: readonly ByteSpan[]): readonly ByteSpan[] {
  if (spans.length === 1) return spans;
  const sorted = spans.map((span, place) => ({ ...span, place })).sort((a, b) => a.start - b.start);
  const groups: { start: number; end: number; place: number }[] = [];
  for (const span of sorted) {
    const group = groups.at(-1);
    if (!group || span.start > group.end + 1) groups.push(span);
    else {
      group.end = Math.max(group.end, span.end);
      group.place = Math.min(group.place, span.place);
    }
  }
  return groups.sort((a, b) => a.place - b.place).map(({ start, end }) => ({ start, end }));
}
