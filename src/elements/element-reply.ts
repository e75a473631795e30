import { Buffer } from "node:buffer";
import type { ElementRequest } from "../files/file-request.ts";
import { documentKind } from "../http/content-type.ts";
import { HttpError } from "../http-error.ts";
import type { Reply, ReplyHeaders } from "../reply.ts";
import { dialects } from "./dialect.ts";
import { elementSpan } from "./element-span.ts";
import type { HtmlDocument } from "./html-document.ts";
import type { SourceElement } from "./html-nodes.ts";
import { serialise } from "./serialise.ts";

const unit = /^\s*selector=\s*/i;

/** The answer where no element matches. */
export function noMatchReply({ options }: ElementRequest): Reply {
  return dialects[options.dialect].noMatch(matchHeaders(0));
}

/** Header fields of a 206 with elements, and of a 304 in its place. */
export function elementHeaders(request: ElementRequest, matches: number): ReplyHeaders {
  const { exchange, options, path, contentTypeOf } = request;
  const received = exchange.headers.range?.replace(unit, "").trim() ?? "";
  return {
    "content-type": documentKind(path) === "xml" ? contentTypeOf(path) : "text/html; charset=utf-8",
    "content-range": dialects[options.dialect].contentRange(received),
    ...matchHeaders(matches),
    ...(options.untrustedContent && { "content-security-policy": "sandbox" }),
  };
}

/** Header fields of every reply about elements. A cache may keep a 204 unless it is told not to. */
export function matchHeaders(matches: number): ReplyHeaders {
  return { "x-selector-matches": String(matches), vary: "Range, Authorization", "cache-control": "no-cache" };
}

/** The same error, telling also how many elements matched. */
export function withMatches(error: unknown, matches: number): unknown {
  if (!(error instanceof HttpError)) return error;
  const { status, code, message, cause } = error;
  const headers = { vary: "Accept, Range, Authorization", ...error.headers, "x-selector-matches": String(matches) };
  return new HttpError(status, code, message, { headers, cause });
}

/**
 * The elements as they stand in the file, one behind the other; those without characters of their own as a browser
 * serialises them. Throws 413 `RESULT_TOO_LARGE`: elements that nest are repeated, up to once for each level.
 */
export function elementBytes(
  document: HtmlDocument,
  elements: readonly SourceElement[],
  maxLength: number = Number.POSITIVE_INFINITY,
): Uint8Array {
  const parts: string[] = [];
  let length = 0;
  for (const element of elements) {
    const part = elementSource(document, element);
    length += part.length;
    if (length > maxLength) {
      throw new HttpError(413, "RESULT_TOO_LARGE", `The elements have more than ${maxLength} bytes together.`);
    }
    parts.push(part);
  }
  return Buffer.from(parts.join(""), document.encoding);
}

function elementSource(document: HtmlDocument, element: SourceElement): string {
  const span = elementSpan(element);
  if (span) return document.source.slice(span.start, span.end);
  return serialise(document, element, document.encoding === "latin1" ? asByte : undefined);
}

/** In a document that is not UTF-8, what is no byte can only be written as a reference. */
function asByte(character: string): string {
  return character <= "\xff" ? character : `&#${character.codePointAt(0)};`;
}
