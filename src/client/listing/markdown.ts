import { micromark } from "micromark";
import { gfmTable, gfmTableHtml } from "micromark-extension-gfm-table";

/** Markdown as HTML that is safe: markup in it is escaped, and links to scripts are left out. */
export function rendered(text: string): string {
  return micromark(text, { extensions: [gfmTable()], htmlExtensions: [gfmTableHtml()] });
}
