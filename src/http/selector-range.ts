import { Buffer } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { HttpError } from "./http-error.ts";

const selectorUnit = /^selector=/i;
const bytesUnit = /^bytes=/i;
// Node joins fields of one name with a comma.
const anySelectorUnit = /(?:^|,)[ \t]*selector=/i;

// A name such as `.html` has no extension.
const htmlName = /[^/]\.html?$/i;
const xmlName = /[^/]\.(?:xhtml|xml|svg)$/i;

/**
 * What a `Range` field asks for. `"other"` is an unknown unit or a malformed value: a read answers with the whole file
 * (RFC 9110 §14.2); a write refuses it, since a client that meant a part must never overwrite the whole.
 */
type RangeHeader =
  | { readonly unit: "none" }
  | { readonly unit: "bytes"; readonly value: string }
  | { readonly unit: "selector"; readonly selector: string }
  | { readonly unit: "other" };

/** How to parse a file when a request asks for its elements; `undefined` for a file without elements. */
export function documentKind(path: string): "html" | "xml" | undefined {
  if (htmlName.test(path)) return "html";
  return xmlName.test(path) ? "xml" : undefined;
}

/**
 * Reads a `Range` field (RFC 9110 §14.2), given how often it was sent. Throws 400 `INVALID_SELECTOR` for an empty
 * selector or one that is not UTF-8, and 400 `INVALID_RANGE` for several fields one of which is a selector.
 */
export function parseRange(value: string | undefined, count: number): RangeHeader {
  if (value === undefined) return { unit: "none" };
  if (count > 1) {
    if (!anySelectorUnit.test(value)) return { unit: "other" };
    throw new HttpError(400, "INVALID_RANGE", "Send one Range header; list several selectors with commas.");
  }
  if (isSelectorRange(value)) return { unit: "selector", selector: readSelector(value) };
  return bytesUnit.test(value) ? { unit: "bytes", value } : { unit: "other" };
}

/** Whether a `Range` field is a selector, perhaps an invalid one. */
export function isSelectorRange(value: string | undefined): value is string {
  return value !== undefined && selectorUnit.test(value);
}

/** The selector of such a field as it was received, its bytes as latin1. */
export function receivedSelector(value: string): string {
  // Not `trim`: in CSS a no-break space is part of a name. Blanks behind a field are not part of its value.
  return value.slice("selector=".length).replace(/^[ \t]+/, "");
}

/** Whether a `Range` field, or one of several, asks for elements, even in a malformed way. */
export function asksForElements(value: string | undefined): boolean {
  return value !== undefined && anySelectorUnit.test(value);
}

/** The readings of a selector, tried in this order: unchanged, as `[href="%20"]` means that, then percent-decoded. */
export function selectorCandidates(selector: string): readonly string[] {
  if (!selector.includes("%")) return [selector];
  try {
    return [selector, decodeURIComponent(selector)];
  } catch {
    return [selector];
  }
}

function readSelector(value: string): string {
  const selector = utf8Header(receivedSelector(value));
  if (selector === undefined) throw new HttpError(400, "INVALID_SELECTOR", "The selector is not valid UTF-8.");
  if (selector === "") throw new HttpError(400, "INVALID_SELECTOR", "The selector is empty.");
  return selector;
}

// A byte order mark at the start is part of the value: dropping it would make two different names one.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const ascii = /^[\x00-\x7f]*$/;
const beyondLatin1 = /[^\x00-\xff]/;

/** The text of a header value that was sent as UTF-8, whose bytes Node reads as latin1; `undefined` for other bytes. */
export function utf8Header(value: string): string | undefined {
  if (ascii.test(value)) return value;
  // Not a string of bytes. As bytes it would be cut to its low halves: U+012F would turn into "/".
  if (beyondLatin1.test(value)) return undefined;
  try {
    return utf8.decode(Buffer.from(value, "latin1"));
  } catch {
    return undefined; // The decoder's only complaint is invalid UTF-8.
  }
}

/** Whether an OPTIONS asks what may be done by selector (`Prefer: return=representation`, RFC 7240 §4.2). */
export function asksForSelectors({ prefer = "", accept = "" }: IncomingHttpHeaders): boolean {
  const wantsParts = /(?:^|[,\s])multipart\/mixed(?:$|[;,\s])/i.test(accept);
  return wantsParts && /(?:^|[,\s])return=representation(?:$|[;,\s])/i.test(String(prefer));
}
