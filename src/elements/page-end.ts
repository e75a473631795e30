import type { HtmlDocument } from "./html-document.ts";
import { pageElements } from "./page-elements.ts";

/** What may follow the content of `body` without being content, or none that anyone points at. */
const closing = /\s+|<\/(?:body|html)\s*>|<!--[\s\S]*?-->/gi;

/** Where the content of the page ends: before `</body></html>`, unless there is content behind them. */
export function endOfPage({ root, source }: HtmlDocument): number {
  const end = pageElements(root).body?.contentEnd ?? -1;
  return end !== -1 && isClosing(source.slice(end)) ? end : source.length;
}

/** Whether text behind the content of the page is nothing but end tags, white space and comments. */
export function isClosing(text: string): boolean {
  return text.replace(closing, "") === "";
}
