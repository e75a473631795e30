import { Buffer } from "node:buffer";
import { TimeSlice } from "../event-loop/time-slice.ts";
import type { ElementRequest } from "../files/file-request.ts";
import { elementSpan } from "../html/document/element-span.ts";
import type { SourceElement } from "../html/document/html-nodes.ts";
import { serialisedParts } from "../html/document/serialise.ts";
import type { SourceDocument } from "../html/document/source-document.ts";
import { documentKind } from "../http/content-type.ts";
import { HttpError } from "../http/http-error.ts";
import { knownHttpError } from "../server/error-reply.ts";
import type { Reply, ReplyHeaders } from "../server/reply.ts";
import type { FileOptions } from "../server/site.ts";
import { dialects } from "./dialect.ts";

const unit = /^\s*selector=\s*/i;

/** How many times the largest document elements that nest may be together, so that making a reply takes a moment. */
const mostRepeated = 4;

const partsAtOnce = 256;

/** The options that bound a reply. */
export type ReplyLimits = Pick<FileOptions, "maxFileSize" | "maxDocumentSize">;

/** The answer where no element matches. */
export function noMatchReply({ options }: ElementRequest): Reply {
  return dialects[options.dialect].noMatch(matchHeaders(0));
}

/** Header fields of a 206 with elements, and of a 304 in its place. */
export function elementHeaders(request: ElementRequest, matches?: number): ReplyHeaders {
  const { exchange, options, path, contentTypeOf } = request;
  const received = exchange.headers.range?.replace(unit, "").trim() ?? "";
  return {
    "content-type": documentKind(path) === "xml" ? contentTypeOf(path) : "text/html; charset=utf-8",
    "content-range": dialects[options.dialect].contentRange(received),
    ...matchHeaders(matches),
    ...(options.untrustedContent && { "content-security-policy": "sandbox" }),
  };
}

/** Header fields of every reply about elements. `matches` is left out for a user who may not read the elements. */
export function matchHeaders(matches?: number): ReplyHeaders {
  const count = matches === undefined ? {} : { "x-selector-matches": String(matches) };
  return { ...count, vary: "Range, Authorization", "cache-control": "no-cache" }; // a cache may keep a 204 otherwise
}

/** The same error, telling also how many elements matched; not to somebody who may not know. */
export function withMatches(thrown: unknown, matches: number): unknown {
  const error = knownHttpError(thrown);
  if (!error || error.status === 401 || error.status === 403) return thrown;
  const { status, code, message, cause } = error;
  const headers = { vary: "Accept, Range, Authorization", ...error.headers, "x-selector-matches": String(matches) };
  return new HttpError(status, code, message, { headers, cause });
}

/**
 * The elements as they stand in the file, one behind the other; those without characters of their own as a browser
 * serialises them. Throws 413 `RESULT_TOO_LARGE`: elements that nest are repeated, up to once for each level.
 */
export async function elementBytes(
  document: SourceDocument,
  elements: readonly SourceElement[],
  limits: ReplyLimits,
): Promise<Uint8Array> {
  const maxLength = Math.min(limits.maxFileSize, limits.maxDocumentSize * mostRepeated);
  const parts: string[] = [];
  const slice = new TimeSlice();
  let length = 0;
  for (const element of elements) {
    for (const part of elementParts(document, element)) {
      length += part.length;
      if (length > maxLength) {
        throw new HttpError(413, "RESULT_TOO_LARGE", `The elements have more than ${maxLength} bytes together.`);
      }
      parts.push(part);
      if (parts.length % partsAtOnce === 0 && slice.isOver) await slice.renew();
    }
  }
  return Buffer.from(parts.join(""), document.encoding);
}

function elementParts(document: SourceDocument, element: SourceElement): Iterable<string> {
  const span = elementSpan(element);
  if (span) return [document.source.slice(span.start, span.end)];
  return serialisedParts(document, element, document.encoding === "latin1" ? asByte : undefined);
}

/** In a document that is not UTF-8, what is no byte can only be written as a reference. */
function asByte(character: string): string {
  return character <= "\xff" ? character : `&#${character.codePointAt(0)};`;
}
