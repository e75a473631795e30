import { escapeHtml } from "../../http/escape-html.ts";
import { encodePath } from "../../http/request-target.ts";
import type { Change } from "../../server/change-feed.ts";

/** Subprotocol of clients that want changes as microdata. */
export const streamItemProtocol = "stream-item";

const itemType = "http://rustybeam.net/StreamItem";

/**
 * A change as HTML microdata: what was done, where, to which elements, and what was supplied for them. That is the content of a
 * `template`, in which a `tr` and an unfinished `li` stay what they are.
 */
export function streamItem({ method, path, selector, html }: Change): string {
  const properties = { method, url: encodePath(path), selector };
  const texts = Object.entries(properties).flatMap(([name, value]) => (value === undefined ? [] : [text(name, value)]));
  const content = html === undefined ? "" : contentItem(html);
  return `<div itemscope itemtype="${itemType}">${texts.join("")}${content}</div>`;
}

/** As text where it would not stay inside of its element, such as what was added to a script. */
function contentItem(html: string): string {
  return isContained(html) ? `<template itemprop="content">${html}</template>` : text("content", html);
}

function text(name: string, value: string): string {
  // A parser would make a line feed of a carriage return.
  return `<span itemprop="${name}">${escapeHtml(value).replaceAll("\r", "&#13;")}</span>`;
}

const attribute = String.raw`\s+[^\s"'<>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>${"`"}]+))?`;
const rest = `(?:${attribute})*\\s*/?>`;
const rawText = "script|style|textarea|title|xmp|iframe|noembed|noframes|noscript";
/** What ends where it seems to: text, a whole comment, an element of text with its end tag, a tag. */
const piece = new RegExp(
  [
    "[^<]+",
    "<!--(?!-?>)(?:(?!--!?>)[^])*-->",
    `<(${rawText})(?=[\\s/>])(?:${attribute})*\\s*>(?:(?!</\\1|<!--)[^])*</\\1\\s*>`,
    `</?(?!(?:${rawText}|plaintext|template|frameset)[\\s/>])[a-z][^\\s/>"'=<]*${rest}`,
  ].join("|"),
  "iy",
);

/** Whether nothing in a piece of HTML reaches beyond its end, or closes what is around it. */
function isContained(html: string): boolean {
  let position = 0;
  while (position < html.length) {
    piece.lastIndex = position;
    if (!piece.test(html)) return false;
    position = piece.lastIndex;
  }
  return true;
}
