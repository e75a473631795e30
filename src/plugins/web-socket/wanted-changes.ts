import { HttpError } from "../../http/http-error.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Position } from "../live/broadcast.ts";
import { positionOf, readFeedQuery, wantedPath } from "../live/feed-query.ts";
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

/** Whether a handshake offers our subprotocol. Hot reload connects to `/` by its own, others by none. */
export function offersStreamItems(exchange: Exchange): boolean {
  const offered = exchange.header("sec-websocket-protocol")?.split(",") ?? [];
  return offered.some((each) => each.trim() === streamItemProtocol);
}

/** The changes of a document. Its URL may have a query of its own, and any subprotocol is accepted. */
export function changesOfDocument(path: string, offered: readonly string[]): WantedChanges {
  const protocol = offered.includes(streamItemProtocol) ? streamItemProtocol : offered[0];
  return { path, position: "now", isStreamItem: true, protocol };
}

/** The changes that the query asks for, in the format that the client offers. */
export async function changesOfQuery(
  exchange: Exchange,
  offered: readonly string[],
  feedName: string,
): Promise<WantedChanges> {
  const query = readFeedQuery(exchange.search);
  const isStreamItem = offered.includes(streamItemProtocol);
  if (isStreamItem && query.since !== undefined) {
    throw new HttpError(400, "INVALID_QUERY", "Stream items have no ids that `since` could name.");
  }
  const protocol = isStreamItem ? streamItemProtocol : undefined;
  return { path: await wantedPath(exchange, query), position: positionOf(query, feedName), isStreamItem, protocol };
}
