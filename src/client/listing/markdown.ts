// Runs in a worker: for some texts micromark takes time that grows with their square; the page must not stand still.
import { micromark } from "micromark";
import { gfmTable, gfmTableHtml } from "micromark-extension-gfm-table";

/** What a page lays out in a moment; a table of a few kilobytes can become millions of cells. */
const mostTags = 5_000;
const deepest = 64;

/** Markdown as safe HTML: markup is escaped, links to scripts are left out. `undefined` if it is too much to show. */
export function rendered(text: string): string | undefined {
  const html = micromark(text, { extensions: [gfmTable()], htmlExtensions: [gfmTableHtml()] });
  return isTooMuch(html) ? undefined : html;
}

function isTooMuch(html: string): boolean {
  let tags = 0;
  let depth = 0;
  for (const [, isEnd, isEmpty] of html.matchAll(/<(\/?)[^>]*?(\/?)>/g)) {
    if (isEnd) depth -= 1;
    else if (!isEmpty) depth += 1;
    tags += 1;
    if (tags > mostTags || depth > deepest) return true;
  }
  return false;
}

if ("WorkerGlobalScope" in globalThis) {
  addEventListener("message", ({ data }) => postMessage({ html: rendered(data) }));
}
