import type { ContentModel } from "../tokenizer/tokens.ts";
import { isHtmlElement, type SourceElement } from "./html-nodes.ts";

// HTML Standard, 13.1.2.4 "Optional tags", and the start tags that close an open element in 13.2.6.
const closesParagraph =
  `address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp`.split(
    /\s+/,
  );

const cells = ["td", "th"];
const rowGroups = ["tbody", "thead", "tfoot"];
const columns = ["caption", "colgroup"];

const closedByStartTag = new Map<string, Set<string>>();
close(["p"], closesParagraph);
close(["li"], ["li"]);
close(["dt", "dd"], ["dt", "dd"]);
close(["option"], ["option", "optgroup", "hr"]);
close(["optgroup"], ["optgroup", "hr"]);
close(["rb", "rt", "rtc", "rp"], ["rb", "rt", "rtc", "rp"]);
close(cells, [...cells, "tr", ...rowGroups]);
close(["tr"], ["tr", ...rowGroups]);
close(rowGroups, rowGroups);
close(columns, [...columns, "tr", ...rowGroups]);

const optionalEndTags: ReadonlySet<string> = new Set(
  ["p", "li", "dt", "dd", "option", "optgroup", "rb", "rt", "rtc", "rp", "tr", "html", "head", "body"].concat(
    cells,
    rowGroups,
    columns,
  ),
);

/** Elements of HTML that consist of a start tag only (HTML Standard, 13.1.2), the obsolete ones included. */
export const voidElements: ReadonlySet<string> = new Set(
  "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split(" "),
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
  return closedByStartTag.get(startTag)?.has(openName) ?? false;
}

/** Whether the end tag of an HTML element may be left out. */
export function hasOptionalEndTag(name: string): boolean {
  return optionalEndTags.has(name);
}

function close(openNames: readonly string[], startTags: readonly string[]): void {
  for (const startTag of startTags) {
    const closed = closedByStartTag.get(startTag) ?? new Set();
    for (const name of openNames) closed.add(name);
    closedByStartTag.set(startTag, closed);
  }
}

/** The parser takes a line end directly behind these start tags for no content (HTML Standard, 13.2.6.4.7). */
export const losingFirstLine: ReadonlySet<string> = new Set(["pre", "listing", "textarea"]);

/** Whether an element loses a line end at the beginning of its content. */
export function losesFirstLine(element: SourceElement): boolean {
  return losingFirstLine.has(element.name) && isHtmlElement(element);
}
