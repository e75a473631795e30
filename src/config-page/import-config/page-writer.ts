import { escapeHtml } from "../../http/escape-html.ts";

/** The vocabulary of pages that are written; only the last word of a type counts. */
export const vocabulary = "https://example.org/schema";

export class PageWriter {
  readonly #lines: string[] = [];

  constructor(title: string) {
    this.add(0, "<!doctype html>", '<meta charset="utf-8">', `<title>${title}</title>`);
  }

  get html(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  add(depth: number, ...lines: readonly string[]): void {
    for (const line of lines) this.#lines.push("  ".repeat(depth) + line);
  }

  /** Two hyphens could end the comment. */
  comment(depth: number, text: string): void {
    this.add(depth, `<!-- ${text.replace(/-(?=-)/g, "- ").replaceAll(">", "›")} -->`);
  }

  /** A list of names and values; `attributes` belong to the list itself. */
  properties(depth: number, values: readonly (readonly [name: string, text: string])[], attributes = ""): void {
    const lines = values.map(
      ([name, text]) => `  <dt>${escapeHtml(name)}</dt> <dd itemprop="${escapeHtml(name)}">${escapeHtml(text)}</dd>`,
    );
    if (lines.length > 0) this.add(depth, `<dl${attributes}>`, ...lines, "</dl>");
  }
}
