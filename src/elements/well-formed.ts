import { isUtf8 } from "node:buffer";
import { ErrorCodes, type ParserError, type Token, type TokenHandler, Tokenizer, TokenizerMode } from "parse5";
import { HttpError } from "../http-error.ts";
import { isHtmlElement } from "./html-document.ts";
import { SourceElement, type TreeParent } from "./html-nodes.ts";
import { hasOptionalEndTag, isClosedBy, voidElements } from "./optional-tags.ts";

/** A start tag of supplied HTML. */
export interface FragmentTag {
  /** Lower-case. */
  readonly name: string;
  readonly start: number;
  readonly line: number;
  readonly column: number;
  /** Offset of the end tag; `undefined` where there is none, or it was left out. */
  endTag?: number;
}

/** HTML that a client supplied, found to be well-formed. */
export interface Fragment {
  /** As supplied; end tags left out at the very end are added. */
  readonly html: string;
  /** All start tags, in order. */
  readonly tags: readonly FragmentTag[];
}

/** What an incomplete piece of markup at the end is, in words. */
const unterminated: Partial<Record<ErrorCodes, string>> = {
  [ErrorCodes.eofBeforeTagName]: "a tag is not complete",
  [ErrorCodes.eofInTag]: "a tag or an attribute is not closed",
  [ErrorCodes.eofInComment]: "a comment is not closed",
  [ErrorCodes.eofInCdata]: "a CDATA section is not closed",
  [ErrorCodes.eofInDoctype]: "a doctype is not closed",
  [ErrorCodes.eofInScriptHtmlCommentLikeText]: "a comment in a script is not closed",
  [ErrorCodes.missingEndTagName]: "an end tag has no name",
};

/** Elements whose content is text to the tokenizer (HTML Standard, 13.2.6.4). With scripting, `noscript` is one too. */
const textContents: Readonly<Record<string, (typeof TokenizerMode)[keyof typeof TokenizerMode]>> = {
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

/** SVG and MathML elements in which HTML stands again. */
const integrationPoints = new Set([
  "foreignobject",
  "desc",
  "title",
  "mi",
  "mo",
  "mn",
  "ms",
  "mtext",
  "annotation-xml",
]);

/** Whether an HTML element holds text only, no markup. */
export function holdsText(name: string): boolean {
  return Object.hasOwn(textContents, name);
}

/** The text of a request's content. Throws 400 `INVALID_HTML` for what is not UTF-8 or holds NUL. */
export function decodeHtml(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw invalidHtml("it is not valid UTF-8", 1, 1);
  const html = new TextDecoder().decode(bytes);
  const nul = html.indexOf("\0");
  if (nul >= 0) {
    const before = html.slice(0, nul).split("\n");
    throw invalidHtml("it contains a NUL character", before.length, (before.at(-1)?.length ?? 0) + 1);
  }
  return html;
}

/** Where a fragment is to stand. In SVG and MathML, `<path/>` closes itself. */
export type FragmentContext = "html" | "foreign";

/** The context that an element makes for its content. */
export function contextIn(parent: TreeParent | null): FragmentContext {
  const isForeign = parent instanceof SourceElement && !isHtmlElement(parent);
  return isForeign && !integrationPoints.has(parent.name.toLowerCase()) ? "foreign" : "html";
}

/**
 * Checks that HTML is a well-formed fragment: every start tag that needs an end tag has it, in order, and there is
 * nothing stray or unterminated. Throws 400 `INVALID_HTML` with line and column.
 */
export function parseFragment(html: string, context: FragmentContext = "html"): Fragment {
  const check = new FragmentCheck(context);
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: true }, check);
  tokenizer.inForeignNode = context === "foreign";
  check.tokenizer = tokenizer;
  tokenizer.write(html, true);
  return { html: html + check.missingEndTags, tags: check.tags };
}

/** A function that parses `html` for a place in a tree, once for each context. */
export function fragmentsOf(html: string): (parent: TreeParent | null) => Fragment {
  const fragments: Partial<Record<FragmentContext, Fragment>> = {};
  return (parent) => {
    const context = contextIn(parent);
    fragments[context] ??= parseFragment(html, context);
    return fragments[context];
  };
}

/** The 400 of supplied HTML that cannot be used. */
export function invalidHtml(reason: string, line: number, column: number): HttpError {
  return new HttpError(
    400,
    "INVALID_HTML",
    `The supplied HTML is not valid: ${reason} (line ${line}, column ${column}).`,
  );
}

interface OpenTag extends FragmentTag {
  /** In SVG or MathML, where every element needs an end tag and may close itself. */
  readonly isForeign: boolean;
}

class FragmentCheck implements TokenHandler {
  readonly tags: FragmentTag[] = [];
  missingEndTags: string = "";
  tokenizer: Tokenizer | undefined;
  readonly #context: FragmentContext;
  readonly #open: OpenTag[] = [];

  constructor(context: FragmentContext) {
    this.#context = context;
  }

  onStartTag(token: Token.TagToken): void {
    const { tagName: name, selfClosing, location } = token;
    const isForeign = this.#isForeign(name);
    if (!isForeign) this.#closeImplied(name);
    const tag: OpenTag = {
      name,
      start: location?.startOffset ?? 0,
      line: location?.startLine ?? 1,
      column: location?.startCol ?? 1,
      isForeign,
    };
    this.tags.push(tag);
    if (isForeign ? selfClosing : voidElements.has(name)) return;
    this.#open.push(tag);
    this.#setTokenizer(isForeign ? undefined : textContents[name]);
  }

  onEndTag({ tagName: name, location }: Token.TagToken): void {
    const { startLine = 1, startCol = 1, startOffset = 0 } = location ?? {};
    const depth = this.#open.findLastIndex((tag) => tag.name === name);
    if (depth < 0) throw invalidHtml(`</${name}> closes nothing`, startLine, startCol);
    const unclosed = this.#open.findLast((tag, index) => index > depth && needsEndTag(tag));
    if (unclosed) throw unclosedTag(unclosed, `before </${name}>`);
    const [tag] = this.#open.splice(depth);
    if (tag) tag.endTag = startOffset;
    this.#setTokenizer();
  }

  onEof(): void {
    const unclosed = this.#open.findLast(needsEndTag);
    if (unclosed) throw unclosedTag(unclosed, "at the end");
    this.missingEndTags = this.#open
      .map(({ name }) => `</${name}>`)
      .reverse()
      .join("");
  }

  onDoctype({ location }: Token.DoctypeToken): void {
    throw invalidHtml("a doctype cannot stand in an element", location?.startLine ?? 1, location?.startCol ?? 1);
  }

  onParseError({ code, startLine, startCol }: ParserError): void {
    const reason = unterminated[code];
    if (reason) throw invalidHtml(reason, startLine, startCol);
  }

  onComment(): void {}
  onCharacter(): void {}
  onNullCharacter(): void {}
  onWhitespaceCharacter(): void {}

  #isForeign(name: string): boolean {
    return name === "svg" || name === "math" || this.#holdsForeign();
  }

  #holdsForeign(): boolean {
    const parent = this.#open.at(-1);
    if (!parent) return this.#context === "foreign";
    return parent.isForeign && !integrationPoints.has(parent.name);
  }

  #closeImplied(startTag: string): void {
    let top = this.#open.at(-1);
    while (top && !top.isForeign && isClosedBy(top.name, startTag)) {
      this.#open.pop();
      top = this.#open.at(-1);
    }
  }

  #setTokenizer(state?: (typeof TokenizerMode)[keyof typeof TokenizerMode]): void {
    if (!this.tokenizer) return;
    if (state !== undefined) this.tokenizer.state = state;
    this.tokenizer.inForeignNode = this.#holdsForeign();
  }
}

function needsEndTag(tag: OpenTag): boolean {
  return tag.isForeign || !hasOptionalEndTag(tag.name);
}

function unclosedTag({ name, line, column }: FragmentTag, where: string): HttpError {
  return invalidHtml(`<${name}> is not closed ${where}`, line, column);
}
