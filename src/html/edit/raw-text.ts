import { LineCounter } from "../document/source-document.ts";
import { textContents } from "../document/tag-rules.ts";
import { invalidHtml } from "../document-error.ts";
import { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { TokenSink } from "../tokenizer/tokens.ts";
import type { Fragment, FragmentStep } from "./well-formed.ts";

/**
 * Reads what is to be added to the text of a `script`, `style`, `title`, `textarea`... Throws `INVALID_HTML` where it
 * would end the element early.
 */
export function parseRawText(text: string, elementName: string): Fragment {
  const check = new RawTextCheck(text, elementName);
  const tokenizer = new Tokenizer(text, check);
  tokenizer.enter(textContents[elementName] ?? "rawtext", elementName);
  while (!tokenizer.isDone) tokenizer.advance();
  return { html: text, tags: [], steps: check.steps };
}

class RawTextCheck implements TokenSink {
  readonly allowsCdata = false;
  readonly steps: FragmentStep[] = [];
  readonly #text: string;
  readonly #elementName: string;
  readonly #lines: LineCounter;

  constructor(text: string, elementName: string) {
    this.#text = text;
    this.#elementName = elementName;
    this.#lines = new LineCounter(text);
  }

  text(start: number, end: number): void {
    this.characters(this.#text.slice(start, end), start);
  }

  characters(data: string, start: number): void {
    this.steps.push({ kind: "text", data, ...this.#lines.at(start) });
  }

  endTag({ start }: { readonly start: number }): void {
    throw this.#early(start);
  }

  unfinished(_what: unknown, start: number): void {
    throw this.#early(start);
  }

  #early(start: number): Error {
    const { line, column } = this.#lines.at(start);
    return invalidHtml(`it would end the <${this.#elementName}> early`, line, column);
  }

  // There is no markup in such an element.
  nul(): void {}
  startTag(): void {}
  comment(): void {}
  doctype(): void {}
  end(): void {}
}
