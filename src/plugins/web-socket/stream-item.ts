import type { Edit } from "../../html/edit/edits.ts";
import { escapeHtml } from "../../http/escape-html.ts";
import { encodePath } from "../../http/request-target.ts";
import type { Change } from "../../server/change-feed.ts";

/** Subprotocol of clients that want changes as microdata. */
export const streamItemProtocol = "stream-item";

const itemType = "http://rustybeam.net/StreamItem";

/**
 * What a change is to clients of stream items, as HTML microdata: what was done, where, to which elements, and what was
 * supplied for them, as the content of a `template`, in which a `tr` and an unfinished `li` stay what they are. One
 * item, or for a list of edits one for each, in their order. What PUT, POST or DELETE of a selector does has that
 * method; all else has PATCH, and the fields of the edit as further properties.
 */
export function streamItems({ method, path, selector, html, edits, requestId }: Change): readonly string[] {
  const url = encodePath(path);
  if (!edits) return [itemOf({ method, url, selector }, html)];
  return edits.map(({ matches, ...edit }) => {
    const method = methodOf(edit);
    const { html, selector, ...fields }: Partial<Record<string, string | number>> = edit;
    const more = method === "PATCH" ? fields : {};
    return itemOf({ method, url, selector, ...more, requestId }, html?.toString());
  });
}

function methodOf(edit: Edit): string {
  if (edit.op === "replace") return "PUT";
  if (edit.op === "remove") return "DELETE";
  return edit.op === "insert" && edit.position === "beforeend" ? "POST" : "PATCH";
}

function itemOf(properties: Readonly<Record<string, string | number | undefined>>, html: string | undefined): string {
  const texts = Object.entries(properties).flatMap(([name, value]) =>
    value === undefined ? [] : [text(name, String(value))],
  );
  // As text where it would not stay inside of its element, such as what was added to a script.
  const isText = html !== undefined && !isContained(html);
  const content =
    html === undefined ? "" : isText ? text("content", html) : `<template itemprop="content">${html}</template>`;
  return `<div itemscope itemtype="${itemType}">${texts.join("")}${content}</div>`;
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
