import type { Change, FeedPosition } from "../../server/change-feed.ts";

/** Writes a change of the feed of this name in the format of some clients. */
export type Encode = (change: Change, feed: string) => Buffer;

/** What clients are told of a change; not its size. */
const told = [
  ...["id", "kind", "method", "host", "path", "selector", "matches", "html", "edits", "etag", "user"],
  ...["requestId", "time"],
] as const satisfies readonly (keyof Change)[];

/** A change as JSON on one line; members that it does not have are left out. */
export function changeText(change: Change): string {
  return JSON.stringify({ type: "change", ...Object.fromEntries(told.map((name) => [name, change[name]])) });
}

/** That a page was changed, and by which request: nothing of its content, nor who did it. */
export function withoutContent({ id, kind, method, host, path, requestId, time }: Change): Change {
  return { id, kind, method, host, path, requestId, time };
}

/** The first message: which feed this is, how far it has come, and the path of the changes that the client gets. */
export function helloText({ name, lastId }: FeedPosition, path: string | undefined): string {
  return JSON.stringify({ type: "hello", feed: name, id: lastId, path });
}

/** Tells a client that it has missed changes, so that what it shows may be out of date. */
export const gapText: string = JSON.stringify({ type: "gap" });
