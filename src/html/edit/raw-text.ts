import { ErrorCodes, type ParserError, type Token, type TokenHandler, Tokenizer, TokenizerMode } from "parse5";
import { invalidHtml } from "./invalid-html.ts";
import type { Fragment, FragmentStep } from "./well-formed.ts";

/** Elements whose content is text to the tokenizer (HTML Standard, 13.2.6.4). With scripting, `noscript` is one too. */
export const textContents: Readonly<Record<string, (typeof TokenizerMode)[keyof typeof TokenizerMode]>> = {
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  noscript: TokenizerMode.RAWTEXT,
  script: TokenizerMode.SCRIPT_DATA,
  plaintext: TokenizerMode.PLAINTEXT,
};

/** Whether an HTML element holds text only, no markup. */
export function holdsText(name: string): boolean {
  return Object.hasOwn(textContents, name);
}

/**
 * Reads what is to be added to the text of a `script`, `style`, `title`, `textarea`... Throws `INVALID_HTML` where it
 * would end the element early.
 */
export function parseRawText(text: string, elementName: string): Fragment {
  const check = new RawTextCheck(elementName);
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: true }, check);
  tokenizer.state = textContents[elementName] ?? TokenizerMode.RAWTEXT;
  tokenizer.lastStartTagName = elementName;
  tokenizer.write(text, true);
  return { html: text, tags: [], steps: check.steps };
}

class RawTextCheck implements TokenHandler {
  readonly steps: FragmentStep[] = [];
  readonly #elementName: string;

  constructor(elementName: string) {
    this.#elementName = elementName;
  }

  onCharacter({ chars, location }: Token.CharacterToken): void {
    const { startLine: line = 1, startCol: column = 1 } = location ?? {};
    this.steps.push({ kind: "text", data: chars, line, column });
  }

  onNullCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token);
  }

  onWhitespaceCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token);
  }

  onEndTag({ location }: Token.TagToken): void {
    const { startLine = 1, startCol = 1 } = location ?? {};
    throw invalidHtml(`it would end the <${this.#elementName}> early`, startLine, startCol);
  }

  onParseError({ code, startLine, startCol }: ParserError): void {
    if (code !== ErrorCodes.eofInTag) return;
    throw invalidHtml(`it would end the <${this.#elementName}> early`, startLine, startCol);
  }

  onStartTag(): void {}
  onComment(): void {}
  onDoctype(): void {}
  onEof(): void {}
}
