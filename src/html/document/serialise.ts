import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { elementSpan, endOfPage, textOnPage } from "./element-span.ts";
import {
  CommentNode,
  DoctypeNode,
  isHtmlElement,
  RootNode,
  SourceElement,
  TextNode,
  type TreeNode,
} from "./html-nodes.ts";
import type { SourceDocument } from "./source-document.ts";
import { losesFirstLine, voidElements } from "./tag-rules.ts";
import { contentOf, TreeWalk } from "./tree-walk.ts";

// HTML Standard, 13.3 "Serializing HTML fragments": the text of these stands as it is. `noscript` as with scripting.
const unescaped = new Set(["style", "script", "xmp", "iframe", "noembed", "noframes", "plaintext", "noscript"]);

const references: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "\u00a0": "&nbsp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#13;",
};
const isHighSurrogate = /[\ud800-\udbff]/;
const specialInText = /[&\u00a0<>\r]/g;
const specialInValue = /[&\u00a0<>"\r]/g;

/** How a text is written, in which what has to be a reference is one already. */
export type Encode = (text: string) => string;

/** Parts that are joined at once: to join a million takes 100 ms. */
const partsAtOnce = 256;
/** Characters that are changed, or joined, at once. */
const stretch = 64 * 1024;

/** Joins very many parts, while others have their turn. */
export function* joined(parts: Iterable<string>): SlicedWork<string> {
  const pieces: string[] = [];
  let some: string[] = [];
  let length = 0;
  for (const part of parts) {
    length += part.length;
    if (some.push(part) < partsAtOnce && length < stretch) continue;
    pieces.push(some.join(""));
    some = [];
    length = 0;
    yield;
  }
  return pieces.join("") + some.join("");
}

/**
 * A whole document, or the outer HTML of an element, as the HTML Standard serialises it; and in a few places better, so
 * that it reads as the same tree again: line ends behind `<pre>`, carriage returns, the doctype as it was written, the
 * white space behind the page, and nothing behind a `plaintext`, which has no end. `encode` changes what is written.
 */
export function* serialisedParts(
  { source }: Pick<SourceDocument, "source">,
  root: TreeNode,
  encode?: Encode,
): Generator<string> {
  const write = (text: string, special: RegExp): string => {
    const referring = text.replace(special, (found) => references[found] ?? "");
    return encode ? encode(referring) : referring;
  };
  const end = root instanceof RootNode ? endOfPage({ root, source }) : Number.POSITIVE_INFINITY;
  if (root instanceof SourceElement) yield* startTag(root, write);
  const walk = new TreeWalk(root);
  while (walk.advance()) {
    const { node, isAtEnd } = walk;
    if (node instanceof SourceElement) {
      if (isAtEnd && node.name === "plaintext" && isHtmlElement(node)) return;
      if (isAtEnd) yield endTag(node);
      else yield* startTag(node, write);
    } else if (node instanceof TextNode) {
      const data = textOnPage(node, end, source);
      const { parent } = node;
      if (parent instanceof SourceElement && isHtmlElement(parent) && unescaped.has(parent.name)) yield data;
      else for (const each of stretchesOf(data)) yield write(each, specialInText);
    } else if (node instanceof CommentNode) {
      yield `<!--${node.data}-->`;
    } else if (node instanceof DoctypeNode) {
      yield doctype(node, source);
    }
  }
  if (root instanceof SourceElement) yield endTag(root);
  if (end < source.length && source.endsWith("\n")) yield "\n";
}

/** An element as it stands in the source, or serialised where its characters there are not all of it. */
export function outerHtmlParts(document: SourceDocument, element: SourceElement): Iterable<string> {
  const span = document.formattedFromBefore.has(element) ? undefined : elementSpan(element);
  if (span) return [document.source.slice(span.start, span.end)];
  if (document.encoding !== "latin1") return serialisedParts(document, element);
  // In a document that is not UTF-8, other characters than bytes can only be written as references.
  return serialisedParts(document, element, (text) => text.replace(/[^\x00-\xff]/gu, reference));
}

export function reference(character: string): string {
  return `&#${character.codePointAt(0)};`;
}

/** A text in which single characters are replaced, while others have their turn. */
export function* replaced(text: string, pattern: RegExp, replacement: (found: string) => string): SlicedWork<string> {
  const parts: string[] = [];
  for (const part of stretchesOf(text)) {
    if (parts.length > 0) yield;
    parts.push(part.replace(pattern, replacement));
  }
  return parts.join("");
}

/** The parts of a text, with whole characters. */
function stretchesOf(text: string): readonly string[] {
  if (text.length <= stretch) return [text];
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = start + stretch;
    const isBroken = end < text.length && isHighSurrogate.test(text.charAt(end - 1));
    const part = text.slice(start, isBroken ? end - 1 : end);
    parts.push(part);
    start += part.length;
  }
  return parts;
}

function startTag(element: SourceElement, write: (text: string, special: RegExp) => string): readonly string[] {
  const parts: string[] = [];
  let tag = `<${element.name}`;
  for (const [name, value] of Object.entries(element.attribs)) {
    tag += ` ${name}="`;
    for (const each of stretchesOf(value)) {
      tag += write(each, specialInValue);
      if (tag.length < stretch) continue;
      parts.push(tag);
      tag = "";
    }
    tag += '"';
  }
  const [first] = contentOf(element);
  const line = losesFirstLine(element) && first instanceof TextNode && first.data.startsWith("\n") ? "\n" : "";
  parts.push(`${tag}>${line}`);
  return parts;
}

function endTag(element: SourceElement): string {
  return isHtmlElement(element) && voidElements.has(element.name) ? "" : `</${element.name}>`;
}

function doctype({ name, startIndex, endIndex }: DoctypeNode, source: string): string {
  if (startIndex === null || endIndex === null) return `<!DOCTYPE ${name}>`;
  return source.slice(startIndex, endIndex + 1);
}
