import { escapeHtml } from "../../http/escape-html.ts";
import { encodePath } from "../../http/request-path.ts";
import type { Change } from "../../server/change-feed.ts";

/** Subprotocol of clients that want changes as microdata. */
export const streamItemProtocol = "stream-item";

const itemType = "http://rustybeam.net/StreamItem";

/**
 * A change as HTML microdata: what was done, where, to which elements, and the HTML that was supplied for it. That is text
 * here, not markup: a `tr` or an unfinished `li` outside of its place would not be read as what it is.
 */
export function streamItem({ method, path, selector, html }: Change): string {
  const properties = { method, url: encodePath(path), selector, content: html };
  const items = Object.entries(properties)
    .filter(([, value]) => value !== undefined)
    .map(([name, value = ""]) => `<span itemprop="${name}">${escapeText(value)}</span>`);
  return `<div itemscope itemtype="${itemType}">${items.join("")}</div>`;
}

/** A parser would make a line feed of a carriage return. */
function escapeText(text: string): string {
  return escapeHtml(text).replaceAll("\r", "&#13;");
}
