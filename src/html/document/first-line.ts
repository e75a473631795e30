import { isHtmlElement } from "./html-document.ts";
import type { SourceElement } from "./html-nodes.ts";

/** The parser takes a line end directly behind these start tags for no content (HTML Standard, 13.2.6.4.7). */
export const losingFirstLine: ReadonlySet<string> = new Set(["pre", "listing", "textarea"]);

/** Whether an element loses a line end at the beginning of its content. */
export function losesFirstLine(element: SourceElement): boolean {
  return losingFirstLine.has(element.name) && isHtmlElement(element);
}

/** The line end that must stand at `offset`, right behind the start tag of `parent`, so that the one in `text` counts. */
export function firstLineAt(parent: SourceElement, offset: number, text: string): string {
  return offset === parent.contentStart && losesFirstLine(parent) && /^[\r\n]/.test(text) ? "\n" : "";
}
