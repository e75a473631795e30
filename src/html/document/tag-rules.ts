import type { ContentModel } from "../tokenizer/tokens.ts";
import { words } from "../words.ts";
import { isHtmlElement, type SourceElement } from "./html-nodes.ts";

// HTML Standard, 13.1.2.4 "Optional tags", and the start tags that close an open element in 13.2.6.
const rowGroups = "tbody thead tfoot";
const closingStartTags: Readonly<Record<string, string>> = {
  p: `address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp`,
  li: "li",
  "dt dd": "dt dd",
  option: "option optgroup hr",
  optgroup: "optgroup hr",
  "rb rt rtc rp": "rb rt rtc rp",
  "td th": `td th tr ${rowGroups}`,
  tr: `tr ${rowGroups}`,
  [rowGroups]: rowGroups,
  "caption colgroup": `caption colgroup tr ${rowGroups}`,
};

/** By the names of open elements. */
const closedByStartTags: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(closingStartTags).flatMap(([names, startTags]) => {
    const closing = words(startTags);
    return names.split(" ").map((name) => [name, closing] as const);
  }),
);

const optionalEndTags: ReadonlySet<string> = new Set([...closedByStartTags.keys(), "html", "head", "body"]);

/** Elements of HTML that consist of a start tag only (HTML Standard, 13.1.2), the obsolete ones included. */
export const voidElements: ReadonlySet<string> = words(
  "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr",
);

/** Elements whose content is text to the tokenizer (HTML Standard, 13.2.6.4). With scripting, `noscript` is one too. */
export const textContents: Readonly<Record<string, ContentModel>> = {
  title: "rcdata",
  textarea: "rcdata",
  style: "rawtext",
  xmp: "rawtext",
  iframe: "rawtext",
  noembed: "rawtext",
  noframes: "rawtext",
  noscript: "rawtext",
  script: "script",
  plaintext: "plaintext",
};

/** Whether an HTML element holds text only, no markup. */
export function holdsText(name: string): boolean {
  return Object.hasOwn(textContents, name);
}

/** Whether a start tag ends an open element that directly surrounds it: `<li>` an `li`. */
export function isClosedBy(openName: string, startTag: string): boolean {
  return closedByStartTags.get(openName)?.has(startTag) ?? false;
}

export function hasOptionalEndTag(name: string): boolean {
  return optionalEndTags.has(name);
}

/** The parser takes a line end directly behind these start tags for no content (HTML Standard, 13.2.6.4.7). */
export const losingFirstLine: ReadonlySet<string> = new Set(["pre", "listing", "textarea"]);

/** Whether an element loses a line end at the beginning of its content. */
export function losesFirstLine(element: SourceElement): boolean {
  return losingFirstLine.has(element.name) && isHtmlElement(element);
}
