import type { Doctype } from "./doctype.ts";
import { asciiLowerCase } from "./text.ts";

/** A start or end tag. One object serves all tags of a source: what is to stay must be copied. */
export interface Tag {
  readonly name: TagName;
  readonly isEndTag: boolean;
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

/** The name of a tag; all tags of one name share it. */
export interface TagName {
  /** In lower case. */
  readonly name: string;
  /** Index in tables of all known names; {@link unknownTag} for every other name. */
  readonly id: number;
}

/** The id of names that HTML does not know, such as those of custom elements. */
const unknownTag = 0;

// Every name that a rule of the parser mentions, and those that pages use most.
const known =
  `a abbr address annotation-xml applet area article aside audio b base basefont bdi bdo bgsound big blockquote
  body br button canvas caption center cite code col colgroup data datalist dd del desc details dfn dialog dir div dl dt em
  embed fieldset figcaption figure font footer foreignobject form frame frameset g h1 h2 h3 h4 h5 h6 head header hgroup hr
  html i iframe image img input ins kbd keygen label legend li link listing main malignmark map mark marquee math menu meta
  meter mglyph mi mn mo ms mtext nav nobr noembed noframes noscript object ol optgroup option output p param path picture
  plaintext pre progress q rb rp rt rtc ruby s samp script search section select selectedcontent slot small source span
  strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul use
  var video wbr xmp`.split(/\s+/);

export const tagCount: number = known.length + 1;

export const tagNames: ReadonlyMap<string, TagName> = new Map(
  known.map((name, index) => [name, { name, id: index + 1 }]),
);

const slots = 1024;
const bySum: TagName[][] = Array.from({ length: slots }, () => []);
for (const tag of tagNames.values()) bySum[sumOf(tag.name, 0, tag.name.length)]?.push(tag);

/**
 * Finds the names of tags in a source. A known name is recognised where it stands, without making a string of it; other
 * names are kept, up to a number, so that the elements of a tree share them.
 */
export class TagNameReader {
  readonly #source: string;
  readonly #others = new Map<string, TagName>();

  constructor(source: string) {
    this.#source = source;
  }

  read(start: number, end: number): TagName {
    for (const tag of bySum[sumOf(this.#source, start, end)] ?? []) {
      if (stands(tag.name, this.#source, start, end)) return tag;
    }
    return this.#readOther(start, end);
  }

  #readOther(start: number, end: number): TagName {
    const name = asciiLowerCase(this.#source.slice(start, end)).replaceAll("\0", "\ufffd");
    const found = this.#others.get(name);
    if (found) return found;
    // A slice would keep the whole source in memory as long as there is an element of that name.
    const tag = { name: name.split("").join(""), id: unknownTag };
    if (this.#others.size < slots) this.#others.set(name, tag);
    return tag;
  }
}

function sumOf(text: string, start: number, end: number): number {
  let sum = end - start;
  for (let i = start; i < end; i += 1) sum = (Math.imul(sum, 31) + (text.charCodeAt(i) | 0x20)) & (slots - 1);
  return sum;
}

function stands(name: string, source: string, start: number, end: number): boolean {
  if (name.length !== end - start) return false;
  for (let i = 0; i < name.length; i += 1) {
    const code = source.charCodeAt(start + i);
    const isUpperCase = code >= 0x41 && code <= 0x5a;
    if ((isUpperCase ? code | 0x20 : code) !== name.charCodeAt(i)) return false;
  }
  return true;
}
