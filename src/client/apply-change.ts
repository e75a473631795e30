import type { PageChange } from "./change.ts";
import { dom } from "./dom.ts";

/** Where a browser parses what is added differently from what is there: only the whole file tells what became of them. */
const unpredictable = "html,head,table,template,noscript";
/**
 * What may be open where the file has `</noscript>`. To the server, as to a page, the content of `noscript` is text. In a copy,
 * where scripts do not run, it is elements: the tag does not end an open `<li>`, which then holds all that follows, and `<b>`
 * goes on behind it.
 */
const openInNoscript = "body noscript:last-child :not(img),body noscript :not(img,p,iframe):last-child";

/**
 * Makes a change of elements in a copy of the file. Gives `false`, with the copy in no particular state, where it cannot be
 * known from the message what the file has become: then it has to be read.
 */
export function applyChange(copy: Document, change: Omit<PageChange, "own">): boolean {
  const { kind, selector = "", matches, html = "" } = change;
  const selected = find(copy, selector);
  if (!selected || selected.length !== matches || dom(copy).querySelector(openInNoscript)) return false;

  const isAppended = kind === "elements-appended";
  for (const element of selected) {
    if (isAppended) {
      if (dom(element).matches(unpredictable)) return false;
      dom(element).insertAdjacentHTML("beforeend", html);
    } else if (dom(copy).contains(element)) {
      // Otherwise it has gone with an outer one.
      if (kind !== "elements-deleted") {
        const parent = dom(element).parentElement;
        if (element === dom(copy).body || (parent && dom(parent).matches(unpredictable))) return false;
        dom(element).insertAdjacentHTML("beforebegin", html);
      }
      dom(element).remove();
    }
  }
  dom(copy).normalize(); // text beside text is one text when the file is read
  return !dom(copy).querySelector(openInNoscript); // nor one that was added
}

/** As the server reads a selector: as it stands, and if that does not parse, percent-decoded. */
function find(copy: Document, selector: string): NodeListOf<Element> | undefined {
  for (const decode of [String, decodeURIComponent]) {
    try {
      return dom(copy).querySelectorAll(decode(selector));
    } catch {
      // Not read that way.
    }
  }
  return undefined;
}
