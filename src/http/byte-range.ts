import rangeParser from "range-parser";
import type { ByteSpan } from "../storage/storage.ts";

// Parts of one reply. Players and PDF readers ask for a handful; thousands of tiny ones are an attack (CVE-2011-3192).
const maxSpans = 16;

/**
 * Reads `Range: bytes=...` for a file of `size` bytes (RFC 9110 §14.1.2): the spans to send, in the requested order.
 * Spans that overlap or touch are joined.
 *
 * `"ignore"` means: answer with the whole file. That is for another unit, a value that breaks the grammar, or more than
 * 16 spans. `"unsatisfiable"` means 416: none of the ranges lies within the file.
 */
export function parseByteRange(header: string, size: number): "ignore" | "unsatisfiable" | readonly ByteSpan[] {
  if (!/^bytes=/i.test(header)) return "ignore";
  const ranges = header.slice("bytes=".length).split(",").map(trim).filter(Boolean);
  if (ranges.length === 0 || !ranges.every(isWellFormed)) return "ignore";
  // The last bytes of an empty file are all of it, but no Content-Range can say so.
  if (size === 0 && ranges.some(isSuffix)) return "ignore";

  const spans = rangeParser(size, `bytes=${ranges.map((range) => withinFile(range, size)).join(",")}`, {
    combine: true,
  });
  if (spans === -1) return "unsatisfiable";
  if (spans === -2 || spans.length > maxSpans) return "ignore";
  return [...spans];
}

/** `Content-Range` of one part (RFC 9110 §14.4). */
export function contentRange(span: ByteSpan, size: number): string {
  return `bytes ${span.start}-${span.end}/${size}`;
}

/** `Content-Range` of a 416 reply: how long the file is. */
export function unsatisfiedRange(size: number): string {
  return `bytes */${size}`;
}

function trim(range: string): string {
  return range.trim();
}

// range-parser skips a backward range (`5-2`) and goes on; the RFC calls the whole header invalid then.
function isWellFormed(range: string): boolean {
  const [, first, last] = /^(\d*)-(\d*)$/.exec(range) ?? [];
  if (first === undefined || last === undefined) return false;
  if (first === "" || last === "") return first !== last;
  return Number(first) <= Number(last);
}

function isSuffix(range: string): boolean {
  return range.startsWith("-") && Number(range) !== 0;
}

// range-parser calls `-500` of a file of 100 bytes unsatisfiable; the RFC says that it is the whole file.
function withinFile(range: string, size: number): string {
  return range.startsWith("-") && Number(range.slice(1)) > size ? `-${size}` : range;
}
