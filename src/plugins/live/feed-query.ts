import { invalidQuery, isCanonicalPath, onlyValue } from "../../http/request-target.ts";
import { documentKind } from "../../http/selector-range.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Position } from "./broadcast.ts";

/** What a client says in its query about the changes that it wants. */
export interface FeedQuery {
  /** Path of a file, or of a directory with all below it; without a slash at the end. `undefined` for everything. */
  readonly path: string | undefined;
  /** Path of a URL: in place of `path`, that of the document that a GET finds there. */
  readonly document: string | undefined;
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
  const document = onlyValue(parameters, "document");
  const since = onlyValue(parameters, "since");
  for (const [name, value] of Object.entries({ path, document })) {
    if (value !== undefined && !isCanonicalPath(value))
      throw invalidQuery(name, "a path from the root, such as /docs/");
  }
  if (since !== undefined && !wholeNumber.test(since)) throw invalidQuery("since", "the id of a change");
  return {
    path: path?.replace(/\/$/, ""),
    document,
    since: since === undefined ? undefined : Number(since),
    feed: onlyValue(parameters, "feed"),
  };
}

export async function wantedPath(exchange: Exchange, { path, document }: FeedQuery): Promise<string | undefined> {
  if (document === undefined) return path;
  const { access } = exchange;
  const found = (await documentOf(exchange, document)) ?? document;
  // Under which name it lies is for its readers.
  return access.permitsPath("read", found) || access.permitsElements("read", found, "any") ? found : document;
}

/** The document that a GET of a path finds, or would find once it is there; `undefined` where no document can be. */
export async function documentOf({ site, headers }: Exchange, path: string): Promise<string | undefined> {
  const found = await site.documentAt(path, headers.accept);
  if (found !== undefined) return found;
  const [index] = [site.options.index].flat();
  const named = path.endsWith("/") && index ? path + index : path;
  return documentKind(named) && named;
}

/** Where a client joins that knows the change `since`. In another feed that id is another change. */
export function positionOf({ since, feed }: Pick<FeedQuery, "since" | "feed">, feedName: string): Position {
  if (since === undefined) return "now";
  return feed === undefined || feed === feedName ? since : "unknown";
}
