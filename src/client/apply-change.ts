import type { PageChange } from "./change.ts";

/** Where a browser parses what is added differently from what is there: only the whole file tells what became of them. */
const unpredictable = "html, head, table, template, noscript";

/**
 * Makes a change of elements in a copy of the file. Gives `false`, with the copy in no particular state, where it cannot be
 * known from the message what the file has become: then it has to be read.
 */
export function applyChange(copy: Document, change: Omit<PageChange, "own">): boolean {
  const { kind, selector = "", matches, html = "" } = change;
  const selected = find(copy, selector);
  if (!selected || selected.length !== matches) return false;

  const isAppended = kind === "elements-appended";
  for (const element of selected) {
    if (isAppended) {
      if (element.matches(unpredictable)) return false;
      element.insertAdjacentHTML("beforeend", html);
    } else if (copy.contains(element)) {
      // Otherwise it has gone with an outer one.
      if (kind === "elements-deleted") element.remove();
      else if (element === copy.body || element.parentElement?.matches(unpredictable)) return false;
      else element.outerHTML = html;
    }
  }
  copy.normalize(); // text beside text is one text when the file is read
  return true;
}

/** As the server reads a selector: as it stands, and if that does not parse, percent-decoded. */
function find(copy: Document, selector: string): NodeListOf<Element> | undefined {
  for (const read of [String, decodeURIComponent]) {
    try {
      return copy.querySelectorAll(read(selector));
    } catch {
      // Not read that way.
    }
  }
  return undefined;
}
