import { HttpError } from "../../http/http-error.ts";
import { documentKind } from "../../http/selector-range.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Position } from "../live/broadcast.ts";
import { positionOf, readFeedQuery } from "../live/feed-query.ts";
import { streamItemProtocol } from "./stream-item.ts";

/** The changes that a client wants, and their format. */
export interface WantedChanges {
  /** See `Audience.path`. */
  readonly path: string | undefined;
  readonly position: Position;
  readonly isStreamItem: boolean;
  /** The subprotocol that is agreed on. */
  readonly protocol: string | undefined;
}

/** The document that a client connects to by its own URL, if it is one. A directory stands for its index file. */
export function addressedDocument({ path, site }: Exchange): string | undefined {
  const [index] = [site.options.index].flat();
  if (path.endsWith("/") && !index) return undefined;
  const document = path.endsWith("/") ? `${path}${index}` : path;
  return documentKind(document) === undefined ? undefined : document;
}

/** Whether a handshake is for a document. A subprotocol of others is theirs: hot reload connects to `/` by one. */
export function isForDocument(exchange: Exchange): boolean {
  const offered = exchange.header("sec-websocket-protocol");
  const isOurs = offered === undefined || offered.split(",").some((each) => each.trim() === streamItemProtocol);
  return isOurs && addressedDocument(exchange) !== undefined;
}

/** The changes of a document. Its URL may have a query of its own, and any subprotocol is accepted. */
export function changesOfDocument(path: string, offered: readonly string[]): WantedChanges {
  const protocol = offered.includes(streamItemProtocol) ? streamItemProtocol : offered[0];
  return { path, position: "now", isStreamItem: true, protocol };
}

/** The changes that the query asks for, in the format that the client offers. */
export function changesOfQuery(search: string, offered: readonly string[], feedName: string): WantedChanges {
  const query = readFeedQuery(search);
  const isStreamItem = offered.includes(streamItemProtocol);
  if (isStreamItem && query.since !== undefined) {
    throw new HttpError(400, "INVALID_QUERY", "Stream items have no ids that `since` could name.");
  }
  const protocol = isStreamItem ? streamItemProtocol : undefined;
  return { path: query.path, position: positionOf(query, feedName), isStreamItem, protocol };
}
