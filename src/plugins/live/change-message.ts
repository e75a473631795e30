import type { Change, FeedPosition } from "../../server/change-feed.ts";

/** Writes a change of the feed of this name in the format of some clients. */
export type Encode = (change: Change, feed: string) => Buffer;

/** A change whose bytes are made once for each format, when they are first needed. */
export class ChangeMessage {
  readonly change: Change;
  /** Name of the feed that the change has its id of. */
  readonly feed: string;
  readonly #encoded = new Map<Encode, Buffer>();

  constructor(change: Change, feed: string) {
    this.change = change;
    this.feed = feed;
  }

  /** The same buffer for all clients. It must not be written to. */
  as(encode: Encode): Buffer {
    const known = this.#encoded.get(encode);
    if (known) return known;
    const bytes = encode(this.change, this.feed);
    this.#encoded.set(encode, bytes);
    return bytes;
  }
}

/** That a page was changed, and by which request: nothing of its content, nor who did it. */
export function withoutContent({ id, kind, method, host, path, requestId, time }: Change): Change {
  return { id, kind, method, host, path, requestId, time };
}

/** A change as JSON on one line; members that it does not have are left out. */
export function changeText(change: Change): string {
  const { id, kind, method, host, path, selector, matches, html, edits, etag, user, requestId, time } = change;
  return JSON.stringify({
    type: "change",
    id,
    kind,
    method,
    host,
    path,
    selector,
    matches,
    html,
    edits,
    etag,
    user,
    requestId,
    time,
  });
}

/** The first message: which feed this is, how far it has come, and the path of the changes that the client gets. */
export function helloText({ name, lastId }: FeedPosition, path: string | undefined): string {
  return JSON.stringify({ type: "hello", feed: name, id: lastId, path });
}

/** Tells a client that it has missed changes, so that what it shows may be out of date. */
export const gapText: string = JSON.stringify({ type: "gap" });
