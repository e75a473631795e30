import { AttributeScanner } from "./attributes.ts";
import { readDoctype } from "./doctype.ts";
import {
  endOfRawText,
  endOfScript,
  isBlank,
  normalised,
  type RawTextEnd,
  readReference,
  referenceText,
} from "./text.ts";
import { type ContentModel, type Tag, TagNameReader, type TokenSink } from "./tokens.ts";

/** Longer text and comments are read in stretches: 16 MiB of them must not hold the event loop. */
const stretch = 64 * 1024;
/** Whether a longer name is allowed is asked before it is read to its end. */
const longName = 64 * 1024 + 1;

const commentEnd = /--!?>/g;
const bogusCommentEnd = />/g;
const specialInRcdata = /[&\0]/g;
const specialInRawText = /\0/g;

/** The tokenizer of the HTML Standard (13.2.5). Makes no strings that may never be asked for; stops at any token. */
export class Tokenizer {
  /** Where the next token begins. */
  position = 0;
  isDone = false;
  readonly #source: string;
  readonly #sink: TokenSink;
  readonly #names: TagNameReader;
  readonly #attributes: AttributeScanner;
  readonly #tag: { -readonly [Field in keyof Tag]: Tag[Field] };
  #content: ContentModel = "data";
  /** What finds the end of the text that the content model makes. */
  #rawTextEnd: RawTextEnd | undefined;
  /** Where that text ends, or up to where it is known to go. */
  #textEnd = -1;
  #isTextEndFound = false;
  /** A comment whose end was not found in the stretches that were read. */
  #comment: LongComment | undefined;

  constructor(source: string, sink: TokenSink) {
    this.#source = source;
    this.#sink = sink;
    this.#names = new TagNameReader(source);
    this.#attributes = new AttributeScanner(source);
    const name = this.#names.read(0, 0);
    this.#tag = { name, isEndTag: false, start: 0, end: 0, attributeCount: 0, isSelfClosing: false };
  }

  /** Whether the next token is read as markup or text of a page. */
  get isInMarkup(): boolean {
    return this.#content === "data" && this.#comment === undefined;
  }

  /** Says how the content of the element is read that a start tag just made. */
  enter(content: ContentModel, elementName: string): void {
    const { position } = this;
    const source = this.#source;
    this.#content = content;
    this.#isTextEndFound = content === "plaintext" || content === "cdata";
    if (content === "plaintext") this.#textEnd = source.length;
    else if (content === "cdata") this.#textEnd = indexOrEnd(source, source.indexOf("]]>", position));
    else {
      this.#textEnd = position;
      this.#rawTextEnd =
        content === "script" ? endOfScript(source, position) : endOfRawText(source, position, elementName);
    }
  }

  /** Reads one token, or one stretch of text or of a comment. */
  advance(): void {
    if (this.#comment) this.#readCommentStretch(this.#comment);
    else if (this.position >= this.#source.length) this.#finish();
    else if (this.#content === "data") this.#readData();
    else this.#readContent();
  }

  #finish(): void {
    if (this.#content === "cdata") this.#sink.unfinished?.("cdata", this.position);
    this.isDone = true;
    this.#sink.end();
  }

  #readData(): void {
    const source = this.#source;
    const start = this.position;
    const limit = Math.min(start + stretch, source.length);
    let position = start;
    let hasCarriageReturn = false;
    let code = 0x20;
    for (; position < limit; position += 1) {
      code = source.charCodeAt(position);
      if (code === 0x3c || code === 0x26 || code === 0) break;
      if (code === 0x0d) hasCarriageReturn = true;
    }
    if (position > start) this.#emitText(start, position, hasCarriageReturn);
    if (position >= limit) return;
    if (code === 0x3c) this.#readMarkup(position);
    else this.#readSpecial(position, code, true);
  }

  /** Text with neither references nor NULs. A line end that it breaks into two halves is one line end. */
  #emitText(start: number, end: number, hasCarriageReturn: boolean): void {
    const source = this.#source;
    const isBroken = source.charCodeAt(end - 1) === 0x0d && source.charCodeAt(end) === 0x0a;
    this.position = isBroken ? end + 1 : end;
    if (hasCarriageReturn) this.#sink.characters(normalised(source.slice(start, this.position)), start, this.position);
    else this.#sink.text(start, end);
  }

  /** A reference or a NUL. */
  #readSpecial(position: number, code: number, isData: boolean): void {
    const sink = this.#sink;
    if (code === 0x26) {
      const length = readReference(this.#source, position, "text");
      this.position = position + Math.max(length, 1);
      if (length === 0) sink.text(position, position + 1);
      else sink.characters(referenceText(), position, this.position);
      return;
    }
    this.position = position + 1;
    if (isData) sink.nul(position);
    else sink.characters("\ufffd", position, this.position);
  }

  /** At a `<`. */
  #readMarkup(start: number): void {
    const code = this.#source.charCodeAt(start + 1);
    if (isLetter(code)) this.#readTag(start, start + 1, false);
    else if (code === 0x2f) this.#readEndTag(start);
    else if (code === 0x21) this.#readDeclaration(start);
    else if (code === 0x3f) this.#readBogusComment(start, start + 1);
    else {
      if (start + 1 >= this.#source.length) this.#sink.unfinished?.("tag name", start);
      this.#sink.text(start, start + 1);
      this.position = start + 1;
    }
  }

  #readEndTag(start: number): void {
    const code = this.#source.charCodeAt(start + 2);
    if (isLetter(code)) this.#readTag(start, start + 2, true);
    else if (code === 0x3e) {
      this.#sink.unfinished?.("end tag name", start);
      this.position = start + 3;
    } else if (start + 2 >= this.#source.length) {
      this.#sink.unfinished?.("tag name", start);
      this.#sink.text(start, start + 2);
      this.position = start + 2;
    } else this.#readBogusComment(start, start + 2);
  }

  #readTag(start: number, nameStart: number, isEndTag: boolean): void {
    const source = this.#source;
    const attributes = this.#attributes;
    let nameEnd = nameStart + 1;
    const longNameEnd = nameStart + longName;
    for (let code = source.charCodeAt(nameEnd); !endsTagName(code); code = source.charCodeAt(nameEnd)) {
      nameEnd += 1;
      if (nameEnd === longNameEnd) this.#sink.checkTag?.(0, longName, 0, 0); // before there are megabytes of it
    }
    let count = 0;
    attributes.begin(nameEnd);
    this.#sink.checkTag?.(0, nameEnd - nameStart, 0, 0);
    while (attributes.next()) {
      count += 1;
      this.#sink.checkTag?.(
        count,
        attributes.nameEnd - attributes.nameStart,
        attributes.valueStart,
        attributes.valueEnd,
      );
    }
    if (attributes.position < 0) {
      this.#sink.checkTag?.(count + 1, source.length - attributes.nameStart, 0, 0);
      this.#sink.unfinished?.("tag", start);
      this.position = source.length;
      return;
    }
    const tag = this.#tag;
    tag.name = this.#names.read(nameStart, nameEnd);
    tag.isEndTag = isEndTag;
    tag.start = start;
    tag.end = attributes.position + 1;
    tag.attributeCount = count;
    tag.isSelfClosing = attributes.isSelfClosing;
    this.position = tag.end;
    if (isEndTag) this.#sink.endTag(tag);
    else this.#sink.startTag(tag);
  }

  /** At `<!`. */
  #readDeclaration(start: number): void {
    const source = this.#source;
    if (source.startsWith("--", start + 2)) this.#readComment(start);
    else if (source.slice(start + 2, start + 9).toLowerCase() === "doctype") this.#readDoctype(start);
    else if (this.#sink.allowsCdata && source.startsWith("[CDATA[", start + 2)) {
      this.position = start + 9;
      this.enter("cdata", "");
    } else this.#readBogusComment(start, start + 2);
  }

  #readComment(start: number): void {
    const source = this.#source;
    const dataStart = start + 4;
    // `<!-->` and `<!--->` are over before they begin.
    const abrupt = source.startsWith(">", dataStart) ? 1 : source.startsWith("->", dataStart) ? 2 : 0;
    if (abrupt > 0) {
      this.position = dataStart + abrupt;
      this.#sink.comment("", start, this.position);
      return;
    }
    this.position = dataStart;
    this.#readCommentStretch({ start, pieces: [], isBogus: false });
  }

  #readCommentStretch(comment: LongComment): void {
    const source = this.#source;
    const from = this.position;
    const part = source.slice(from, from + stretch);
    const end = comment.isBogus ? bogusCommentEnd : commentEnd;
    end.lastIndex = 0;
    const found = end.exec(part);
    const isAtEnd = from + part.length >= source.length;
    if (!found && !isAtEnd) {
      // The end may lie across the boundary, and so may a line end.
      const rest = /[-!\r]*$/.exec(part.slice(-3))?.[0].length ?? 0;
      const length = part.length - rest;
      comment.pieces.push(normalised(part.slice(0, length)));
      this.position = from + length;
      this.#comment = comment;
      return;
    }
    if (!found && !comment.isBogus) this.#sink.unfinished?.("comment", comment.start);
    const last = found ? part.slice(0, found.index) : comment.isBogus ? part : part.replace(/--!?$|-$/, "");
    comment.pieces.push(normalised(last));
    this.position = found ? from + end.lastIndex : source.length;
    this.#comment = undefined;
    this.#sink.comment(comment.pieces.join(""), comment.start, this.position);
  }

  #readBogusComment(start: number, dataStart: number): void {
    this.position = dataStart;
    this.#readCommentStretch({ start, pieces: [], isBogus: true });
  }

  #readDoctype(start: number): void {
    const source = this.#source;
    const found = source.indexOf(">", start + 9);
    const isComplete = found !== -1;
    const end = isComplete ? found : source.length;
    this.position = isComplete ? end + 1 : end;
    if (!isComplete) this.#sink.unfinished?.("doctype", start);
    this.#sink.doctype(readDoctype(source.slice(start + 9, end), isComplete), start, this.position);
  }

  /** Within an element that holds text only, or a CDATA section. */
  #readContent(): void {
    const source = this.#source;
    const start = this.position;
    if (start >= this.#textEnd && !this.#isTextEndFound) this.#searchTextEnd();
    if (start >= this.#textEnd) {
      const isCdata = this.#content === "cdata";
      this.#content = "data";
      if (isCdata) this.position = start + 3;
      else this.#readEndTag(start);
      return;
    }
    const part = source.slice(start, Math.min(this.#textEnd, start + stretch));
    const special = this.#content === "rcdata" ? specialInRcdata : specialInRawText;
    special.lastIndex = 0;
    const length = special.exec(part)?.index ?? part.length;
    if (length > 0) this.#emitText(start, start + length, part.includes("\r"));
    else this.#readSpecial(start, source.charCodeAt(start), this.#content === "cdata");
  }

  #searchTextEnd(): void {
    const to = Math.min(this.position + stretch, this.#source.length);
    const found = this.#rawTextEnd?.search(to);
    this.#textEnd = found ?? to;
    this.#isTextEndFound = found !== undefined || to === this.#source.length;
  }
}

interface LongComment {
  readonly start: number;
  readonly pieces: string[];
  /** Whether it ends with the next `>`, as `<!x>` and `<?x>` do. */
  readonly isBogus: boolean;
}

function indexOrEnd(source: string, index: number): number {
  return index < 0 ? source.length : index;
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function endsTagName(code: number): boolean {
  return code === 0x3e || code === 0x2f || isBlank(code) || Number.isNaN(code);
}
