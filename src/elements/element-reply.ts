import { Buffer } from "node:buffer";
import { hash, randomUUID } from "node:crypto";
import { inSlices } from "../event-loop/sliced-work.ts";
import { type Fragment, joined, outerHtmlParts, type SourceDocument, type SourceElement } from "../html/engine.ts";
import { entityTag } from "../http/entity-tag.ts";
import { HttpError } from "../http/http-error.ts";
import { evaluatePreconditions, preconditionFailed } from "../http/preconditions.ts";
import { documentKind, receivedSelector } from "../http/selector-range.ts";
import { usageLimit } from "../server/admission.ts";
import { knownHttpError } from "../server/error-reply.ts";
import type { Exchange } from "../server/exchange.ts";
import { emptyReply, type Reply, type ReplyHeaders } from "../server/reply.ts";
import type { DialectName, FileOptions } from "../server/site.ts";
import type { StoredStat } from "../storage/storage.ts";
import type { ElementRequest } from "./element-request.ts";

/** How many times the largest document elements that nest may be together, so that making a reply takes a moment. */
const mostRepeated = 4;
/** Bytes of replies that are made, or sent to clients, at once. They are counted in steps; shorter ones are not. */
const takeBytes = usageLimit(256 * 1024 * 1024);
const step = 256 * 1024;

// No version of a stored file has a colon in it, so that no document ever has such a tag.
const tagPrefix = "elements:";

/** 22 characters of base64 are 132 bits: no two contents ever share them by chance. */
const hashLength = 22;

const conditions = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];

type ReplyLimits = Pick<FileOptions, "maxFileSize" | "maxDocumentSize">;

export function noMatchReply(dialect: DialectName): Reply {
  return dialects[dialect].noMatch(matchHeaders(0));
}

/** Header fields of a 206 with elements, and of a 304 in its place. */
export function elementHeaders(
  { exchange, options, path, contentTypeOf }: Pick<ElementRequest, "exchange" | "options" | "path" | "contentTypeOf">,
  matches?: number,
): ReplyHeaders {
  const received = receivedSelector(exchange.headers.range ?? "");
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
  // Not a spread, see `withFields`. A cache may keep a 204 otherwise.
  return Object.assign(count, { vary: "Range, Authorization", "cache-control": "no-cache" });
}

/** The same error with the number of matches, unless it refuses a client that may not know it (401, 403). */
export function withMatches(thrown: unknown, matches: number): unknown {
  const error = knownHttpError(thrown);
  if (!error || error.status === 401 || error.status === 403) return thrown;
  const { status, code, message, cause, index } = error;
  const headers = { vary: "Accept, Range, Authorization", ...error.headers, "x-selector-matches": String(matches) };
  return new HttpError(status, code, message, { headers, cause, index });
}

/**
 * Judges the conditions of a request (RFC 9110 §13) by the tag of the elements that it is about, which is made only if
 * there are conditions; `If-Match` may name the document's tag as well. Throws 412 `PRECONDITION_FAILED` with the
 * current tag. Without `makeTag`, for a user who may not read the elements, no tag is right and the reply has
 * no tag: by a tag alone, content as short as a PIN can be guessed.
 */
export async function judgePreconditions(
  { method, headers }: Pick<Exchange, "method" | "headers">,
  { modified, version }: StoredStat,
  makeTag: (() => Promise<string>) | undefined,
): Promise<"proceed" | "not-modified"> {
  if (conditions.every((name) => headers[name] === undefined)) return "proceed";
  const current = { etag: makeTag ? await makeTag() : `"${randomUUID()}"`, modified };
  const verdict = evaluatePreconditions(method, headers, current, [entityTag(version)]);
  if (verdict !== "failed") return verdict;
  const failed = preconditionFailed(current);
  throw makeTag ? failed : new HttpError(failed.status, failed.code, failed.message);
}

/** The strong entity tag (RFC 9110 §8.8.3) of the elements that are answered with `content`. */
export function elementTag(content: Uint8Array): string {
  return `"${tagPrefix}${hash("sha256", content as never, "base64url").slice(0, hashLength)}"`;
}

/**
 * The elements as they stand in the file, joined; as a browser serialises them where their characters there are not all
 * of them: implied, cut by error recovery, or with formatting that begins before them. Throws 413 `RESULT_TOO_LARGE`:
 * elements that nest are repeated, up to once for each level; and of an `exchange` 503 `OVERLOADED` beyond `takeBytes`.
 */
export async function elementBytes(
  document: SourceDocument,
  elements: readonly SourceElement[],
  limits: ReplyLimits,
  exchange?: Exchange,
): Promise<Uint8Array> {
  const maxLength = Math.min(limits.maxFileSize, limits.maxDocumentSize * mostRepeated);
  function* bounded(): Generator<string> {
    let length = 0;
    let taken = step;
    for (const element of elements) {
      for (const part of outerHtmlParts(document, element)) {
        length += part.length;
        if (length > maxLength) {
          throw new HttpError(413, "RESULT_TOO_LARGE", `The elements have more than ${maxLength} bytes together.`);
        }
        for (; exchange && length > taken; taken += step) exchange.defer(takeBytes(exchange.address, step));
        yield part;
      }
    }
  }
  return Buffer.from(await inSlices(joined(bounded())), document.encoding);
}

/** Where the ways of speaking the protocol differ. */
export interface Dialect {
  /** Those of the matches that are read or changed. */
  choose(matches: readonly SourceElement[]): readonly SourceElement[];
  /** The answer where nothing matches; or throws it. */
  noMatch(headers: ReplyHeaders): Reply;
  /** The value of `Content-Range` for a selector as it was received. */
  contentRange(selector: string): string;
  /** The content of the reply to POST: the matches as they are now, or what was appended. */
  appended(matches: Uint8Array, supplied: Uint8Array): Uint8Array;
  /** Throws where an element cannot give way to a fragment. */
  checkReplacement(element: SourceElement, fragment: Fragment): void;
}

const spec: Dialect = {
  choose: (matches) => matches,
  noMatch: (headers) => emptyReply(204, headers),
  contentRange: (selector) => `selector ${selector}`,
  appended: (matches) => matches,
  checkReplacement: () => {},
};

/** The Internet-Draft "CSS Selector Range Unit", which browser clients of this protocol speak. */
const draft00: Dialect = {
  choose: (matches) => matches.slice(0, 1),
  noMatch(headers) {
    const details = "No element matches the selector.";
    throw new HttpError(416, "NO_MATCH", details, { headers: { ...headers, "content-range": "selector */" } });
  },
  contentRange: (selector) => `selector=${selector}`,
  appended: (_matches, supplied) => supplied,
  checkReplacement({ attribs }, { tags: [tag] }) {
    const { id } = attribs;
    const newId = tag?.attributes["id"];
    if (id === undefined || id === newId) return;
    throw new HttpError(409, "ID_CHANGED", `The new element must have the id of the old one, ${JSON.stringify(id)}.`);
  },
};

export const dialects: Readonly<Record<DialectName, Dialect>> = { spec, "draft-00": draft00 };
