import type { Change, ChangeFeed } from "../../server/change-feed.ts";

/** Words a change for clients of one kind. */
export type Encode = (change: Change) => Buffer;

/** A change that each kind of client gets in the same bytes, made when the first one needs them. */
export class ChangeMessage {
  readonly change: Change;
  readonly #encoded = new Map<Encode, Buffer>();

  constructor(change: Change) {
    this.change = change;
  }

  /** The same buffer for all, which nobody may write to. */
  as(encode: Encode): Buffer {
    const known = this.#encoded.get(encode);
    if (known) return known;
    const bytes = encode(this.change);
    this.#encoded.set(encode, bytes);
    return bytes;
  }
}

/** A change as JSON on one line; members that it does not have are left out. */
export function changeText(change: Change): string {
  const { id, kind, method, host, path, selector, matches, html, etag, user, requestId, time } = change;
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
    etag,
    user,
    requestId,
    time,
  });
}

/** The first message: which feed this is, and how far it has come. */
export function helloText({ name, lastId }: Pick<ChangeFeed, "name" | "lastId">): string {
  return JSON.stringify({ type: "hello", feed: name, id: lastId });
}

/** Says that there are changes which the client will not hear of, so that what it shows may be out of date. */
export const gapText: string = JSON.stringify({ type: "gap" });
