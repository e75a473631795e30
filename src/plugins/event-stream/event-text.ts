import type { Change, FeedPosition } from "../../server/change-feed.ts";
import { changeText, gapText, helloText } from "../live/change-message.ts";

/** What a reader sends back as `Last-Event-ID`. */
const lastEventId = /^([\w-]+):(\d{1,15})$/;

/** Milliseconds after which a browser whose connection ended tries again. */
const retry = 2_000;

/** A comment, which readers ignore. */
export const heartbeat: Buffer = Buffer.from(":\n\n");

/**
 * The first event. It has an id only for a reader that begins here: one that is told what it missed would otherwise
 * miss that for good if the connection broke in between.
 */
export function helloEvent(feed: FeedPosition, isBeginning: boolean, path: string | undefined): Buffer {
  const id = isBeginning ? feed.lastId : undefined;
  return Buffer.from(`retry: ${retry}\n${event(feed.name, "hello", helloText(feed, path), id)}`);
}

export function gapEvent({ name, lastId }: FeedPosition): Buffer {
  return Buffer.from(event(name, "gap", gapText, lastId));
}

export function changeEvent(change: Change, feedName: string): Buffer {
  return Buffer.from(event(feedName, "change", changeText(change), change.id));
}

/** JSON has no line ends, which would end the field. */
function event(feedName: string, name: string, data: string, id: number | undefined): string {
  const idField = id === undefined ? "" : `id: ${feedName}:${id}\n`;
  return `${idField}event: ${name}\ndata: ${data}\n\n`;
}

/** Reads the `Last-Event-ID` of a browser that comes back; `undefined` for what no feed has given out. */
export function readLastEventId(text: string): { readonly feed: string; readonly since: number } | undefined {
  const [, feed, id] = lastEventId.exec(text) ?? [];
  return feed === undefined || id === undefined ? undefined : { feed, since: Number(id) };
}
