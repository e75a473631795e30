import type { Doctype } from "./read-doctype.ts";
import type { TagName } from "./tag-names.ts";

/** A start or end tag. One object serves all tags of a source: what is to stay must be copied. */
export interface Tag {
  readonly name: TagName;
  /** Offset of its `<`. */
  readonly start: number;
  /** Offset behind its `>`. */
  readonly end: number;
  readonly attributeCount: number;
  readonly isSelfClosing: boolean;
}

/** What is told of a source, from its beginning to its end. All offsets are those of the source. */
export interface TokenSink {
  /** Characters that mean themselves. */
  text(start: number, end: number): void;
  /** Characters that stand for others: a reference, a carriage return, a NUL in raw text. */
  characters(data: string, start: number, end: number): void;
  /** A NUL, which is ignored or replaced, depending on where it stands. */
  nul(offset: number): void;
  startTag(tag: Tag): void;
  endTag(tag: Tag): void;
  comment(data: string, start: number, end: number): void;
  doctype(doctype: Doctype, start: number, end: number): void;
  end(): void;
  /** Whether a CDATA section would be one: in SVG and MathML only. */
  readonly allowsCdata: boolean;
  /** Bounds of a tag: attributes read by now, and length of the longest name and value. Throws beyond. */
  checkTag?(attributes: number, nameLength: number, valueStart: number, valueEnd: number): void;
  /** The source ends within what stands at an offset. */
  unfinished?(what: Unfinished, start: number): void;
}

/** What a source may end in the middle of. */
export type Unfinished = "tag" | "tag name" | "end tag name" | "comment" | "cdata" | "doctype";

/** How the content of an element is read; `data` is markup. */
export type ContentModel = "data" | "rcdata" | "rawtext" | "script" | "plaintext" | "cdata";
