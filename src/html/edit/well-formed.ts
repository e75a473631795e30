import { ErrorCodes, type ParserError, type Token, type TokenHandler, Tokenizer, type TokenizerMode } from "parse5";
import { TimeSlice } from "../../event-loop/time-slice.ts";
import { losingFirstLine } from "../document/first-line.ts";
import { isHtmlElement } from "../document/html-document.ts";
import { SourceElement, type TreeParent } from "../document/html-nodes.ts";
import { hasOptionalEndTag, isClosedBy, voidElements } from "../document/optional-tags.ts";
import type { DocumentError } from "../document-error.ts";
import { invalidHtml } from "./invalid-html.ts";
import { textContents } from "./raw-text.ts";

/** A start tag of supplied HTML. */
export interface FragmentTag {
  /** Lower-case. */
  readonly name: string;
  readonly attributes: readonly Token.Attribute[];
  readonly start: number;
  /** Offset behind the start tag. */
  readonly contentStart: number;
  readonly line: number;
  readonly column: number;
  /** Offset of the end tag; `undefined` where there is none, or it was left out. */
  endTag?: number;
}

/** One thing after the other in supplied HTML; an end is there also where the end tag was left out. */
export interface FragmentStep {
  readonly kind: "start" | "end" | "text" | "comment";
  /** The element that starts or ends here. */
  readonly tag?: FragmentTag | undefined;
  /** Of text, with character references resolved, or of a comment. */
  readonly data: string;
  /** Name of the element that it stands in, where that is in the fragment, too. */
  readonly parent?: string | undefined;
  readonly line: number;
  readonly column: number;
}

/** HTML that a client supplied, found to be well-formed. */
export interface Fragment {
  /** As supplied; end tags left out at the very end are added. */
  readonly html: string;
  /** All start tags, in order. */
  readonly tags: readonly FragmentTag[];
  /** What a tree should have of it, in order. */
  readonly steps: readonly FragmentStep[];
}

/** So many characters are read without looking at the clock. */
const pieceLength = 64 * 1024;

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

/** Where a fragment is to stand. In SVG and MathML, `<path/>` closes itself. */
export type FragmentContext = "html" | "foreign";

/** The context that an element makes for its content. */
export function contextIn(parent: TreeParent | null): FragmentContext {
  const isForeign = parent instanceof SourceElement && !isHtmlElement(parent);
  return isForeign && !integrationPoints.has(parent.name.toLowerCase()) ? "foreign" : "html";
}

/**
 * Checks that HTML is a well-formed fragment: every start tag that needs an end tag has it, in order, and there is
 * nothing stray or unterminated. Throws `INVALID_HTML` with line and column.
 */
export async function parseFragment(html: string, context: FragmentContext = "html"): Promise<Fragment> {
  const check = new FragmentCheck(context);
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: true }, check);
  tokenizer.inForeignNode = context === "foreign";
  check.tokenizer = tokenizer;
  const slice = new TimeSlice();
  for (let position = 0; position === 0 || position < html.length; position += pieceLength) {
    tokenizer.write(html.slice(position, position + pieceLength), position + pieceLength >= html.length);
    if (slice.isOver) await slice.renew();
  }
  const { tags, steps, missingEndTags } = check;
  return { html: html + missingEndTags, tags, steps };
}

/** A function that parses `html` for a place in a tree, once for each context. */
export function fragmentsOf(html: string): (parent: TreeParent | null) => Promise<Fragment> {
  const fragments: Partial<Record<FragmentContext, Promise<Fragment>>> = {};
  return (parent) => {
    const context = contextIn(parent);
    fragments[context] ??= parseFragment(html, context);
    return fragments[context];
  };
}

interface OpenTag extends FragmentTag {
  /** In SVG or MathML, where every element needs an end tag and may close itself. */
  readonly isForeign: boolean;
}

class FragmentCheck implements TokenHandler {
  readonly tags: FragmentTag[] = [];
  readonly steps: FragmentStep[] = [];
  missingEndTags: string = "";
  tokenizer: Tokenizer | undefined;
  readonly #context: FragmentContext;
  readonly #open: OpenTag[] = [];
  #skipsLineFeed = false;

  constructor(context: FragmentContext) {
    this.#context = context;
  }

  onStartTag(token: Token.TagToken): void {
    const { tagName: name, attrs: attributes, selfClosing, location } = token;
    const isForeign = this.#isForeign(name);
    if (!isForeign) this.#closeImplied(name);
    const { startOffset = 0, endOffset = 0, startLine = 1, startCol = 1 } = location ?? {};
    const tag: OpenTag = {
      name,
      attributes,
      start: startOffset,
      contentStart: endOffset,
      line: startLine,
      column: startCol,
      isForeign,
    };
    this.tags.push(tag);
    this.#step("start", "", location, tag);
    this.#skipsLineFeed = !isForeign && losingFirstLine.has(name);
    if (isForeign ? selfClosing : voidElements.has(name)) {
      this.#step("end", "", location, tag);
      return;
    }
    this.#open.push(tag);
    this.#setTokenizer(isForeign ? undefined : textContents[name]);
  }

  onEndTag({ tagName: name, location }: Token.TagToken): void {
    const { startLine = 1, startCol = 1, startOffset = 0 } = location ?? {};
    this.#skipsLineFeed = false;
    const depth = this.#open.findLastIndex((tag) => tag.name === name);
    if (depth < 0) throw invalidHtml(`</${name}> closes nothing`, startLine, startCol);
    for (let top = this.#open.at(-1); top && this.#open.length > depth + 1; top = this.#open.at(-1)) {
      if (needsEndTag(top)) throw unclosedTag(top, `before </${name}>`);
      this.#close(location);
    }
    const tag = this.#open.at(-1);
    if (tag) tag.endTag = startOffset;
    this.#close(location);
    this.#setTokenizer();
  }

  onEof(): void {
    const names: string[] = [];
    for (let top = this.#open.at(-1); top; top = this.#open.at(-1)) {
      if (needsEndTag(top)) throw unclosedTag(top, "at the end");
      names.push(`</${top.name}>`);
      this.#close(null);
    }
    this.missingEndTags = names.join("");
  }

  onDoctype({ location }: Token.DoctypeToken): void {
    throw invalidHtml("a doctype cannot stand in an element", location?.startLine ?? 1, location?.startCol ?? 1);
  }

  onParseError({ code, startLine, startCol }: ParserError): void {
    const reason = unterminated[code];
    if (reason) throw invalidHtml(reason, startLine, startCol);
  }

  onComment({ data, location }: Token.CommentToken): void {
    this.#skipsLineFeed = false;
    this.#step("comment", data, location);
  }

  onCharacter({ chars, location }: Token.CharacterToken): void {
    const data = this.#skipsLineFeed && chars.startsWith("\n") ? chars.slice(1) : chars;
    this.#skipsLineFeed = false;
    if (data !== "") this.#step("text", data, location);
  }

  onNullCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token);
  }

  onWhitespaceCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token);
  }

  #step(kind: FragmentStep["kind"], data: string, location: Token.Location | null, tag?: FragmentTag): void {
    const { startLine: line = 1, startCol: column = 1 } = location ?? {};
    this.steps.push({ kind, data, tag, parent: this.#open.at(-1)?.name, line, column });
  }

  /** The innermost open element is over. */
  #close(location: Token.Location | null): void {
    const tag = this.#open.pop();
    if (tag) this.#step("end", "", location, tag);
  }

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
      this.#close(null);
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

function unclosedTag({ name, line, column }: FragmentTag, where: string): DocumentError {
  return invalidHtml(`<${name}> is not closed ${where}`, line, column);
}
