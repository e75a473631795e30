import { invalidQuery, isCanonicalPath, onlyValue } from "../../http/request-target.ts";
import type { Position } from "./broadcast.ts";

/** What a client says in its query about the changes that it wants. */
export interface FeedQuery {
  /** Path of a file, or of a directory with all below it; without a slash at the end. `undefined` for everything. */
  readonly path: string | undefined;
  /** Id of the last change that the client knows. */
  readonly since: number | undefined;
  /** Name of the feed that `since` is an id of. */
  readonly feed: string | undefined;
}

const wholeNumber = /^\d{1,15}$/;

/** Reads `?path=`, `?since=` and `?feed=`; others are left alone. Throws 400 `INVALID_QUERY` for what says nothing. */
export function readFeedQuery(search: string): FeedQuery {
  const parameters = new URLSearchParams(search);
  const path = onlyValue(parameters, "path");
  const since = onlyValue(parameters, "since");
  if (path !== undefined && !isCanonicalPath(path)) {
    throw invalidQuery("path", "a path from the root, such as /docs/");
  }
  if (since !== undefined && !wholeNumber.test(since)) throw invalidQuery("since", "the id of a change");
  return {
    path: path?.replace(/\/$/, ""),
    since: since === undefined ? undefined : Number(since),
    feed: onlyValue(parameters, "feed"),
  };
}

/** Where a client joins that knows the change `since`. In another feed that id is another change. */
export function positionOf({ since, feed }: Pick<FeedQuery, "since" | "feed">, feedName: string): Position {
  if (since === undefined) return "now";
  return feed === undefined || feed === feedName ? since : "unknown";
}
