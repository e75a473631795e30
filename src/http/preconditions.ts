import type { IncomingHttpHeaders } from "node:http";
import { matchesStrongly, matchesWeakly, tagsOfVersions } from "./entity-tag.ts";
import { parseHttpDate } from "./http-date.ts";
import { HttpError } from "./http-error.ts";

/** What identifies a version of a stored file, or of the elements of a document. */
export interface Validators {
  readonly etag: string;
  readonly modified: Date;
}

export function hasPreconditions(headers: IncomingHttpHeaders): boolean {
  return ["if-match", "if-none-match", "if-unmodified-since"].some((name) => headers[name] !== undefined);
}

/**
 * Judges the conditions in the order of RFC 9110 §13.2.2; `current` is what is stored. `extraTags` satisfy `If-Match`
 * like `current.etag`: the tag of the whole document, for a write of some of its elements.
 */
export function evaluatePreconditions(
  method: string,
  headers: IncomingHttpHeaders,
  current: Validators | undefined,
  extraTags: readonly string[] = [],
): "proceed" | "not-modified" | "failed" {
  const isRead = method === "GET" || method === "HEAD";
  const ifMatch = headers["if-match"];
  const ifUnmodifiedSince = headers["if-unmodified-since"];
  const ifNoneMatch = headers["if-none-match"];
  const ifModifiedSince = headers["if-modified-since"];

  if (ifMatch !== undefined) {
    // A client that was sent the file compressed has seen this version of it, and changes that.
    if (!isMatched(isRead ? ifMatch : tagsOfVersions(ifMatch), current, extraTags)) return "failed";
  } else if (ifUnmodifiedSince !== undefined && current && isNewer(current, ifUnmodifiedSince)) {
    return "failed";
  }

  if (ifNoneMatch !== undefined) {
    // Not the extra tags: a 304 would then vouch for elements that the client may never have seen.
    if (isNamed(ifNoneMatch, current)) return isRead ? "not-modified" : "failed";
  } else if (isRead && ifModifiedSince !== undefined) {
    if (current && isSameMoment(ifModifiedSince, current)) return "not-modified";
  }
  return "proceed";
}

/** Whether a `Range` field counts (RFC 9110 §13.1.5): no weak tag, and a date must be the `Last-Modified`. */
export function isRangeCurrent(ifRange: string | undefined, current: Validators): boolean {
  if (ifRange === undefined) return true;
  if (ifRange.startsWith('"')) return ifRange === current.etag;
  return isSameMoment(ifRange, current);
}

/** Whether a date may be told as `Last-Modified`: not after `Date` (RFC 9110 §8.8.2.1), which another clock has set. */
export function isPast(modified: Date): boolean {
  return modified.getTime() <= Date.now();
}

/** A later date is not "not modified since": an older file may have been put in the place of what the client has. */
function isSameMoment(field: string, { modified }: Validators): boolean {
  const date = parseHttpDate(field);
  return date !== undefined && seconds(date) === seconds(modified) && isPast(modified);
}

/** The 412 of a failed condition. It carries the `ETag` of what is stored now, so that the client can decide again. */
export function preconditionFailed(current: Validators | undefined): HttpError {
  const details = current
    ? "What is stored has changed, or exists already; nothing was done."
    : "Nothing is stored there; nothing was done.";
  return new HttpError(412, "PRECONDITION_FAILED", details, { headers: current ? { etag: current.etag } : {} });
}

function isMatched(ifMatch: string, current: Validators | undefined, extraTags: readonly string[]): boolean {
  if (current === undefined) return false;
  if (ifMatch === "*" || matchesStrongly(ifMatch, current.etag)) return true;
  return extraTags.some((tag) => matchesStrongly(ifMatch, tag));
}

function isNamed(ifNoneMatch: string, current: Validators | undefined): boolean {
  if (current === undefined) return false;
  return ifNoneMatch === current.etag || ifNoneMatch === "*" || matchesWeakly(ifNoneMatch, current.etag);
}

/** Whether what is stored is newer than a date field says. A condition on what is not a date is ignored. */
function isNewer({ modified }: Validators, field: string): boolean {
  const date = parseHttpDate(field);
  return date !== undefined && seconds(modified) > seconds(date);
}

/** Dates in header fields have no fractions of a second. */
function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
