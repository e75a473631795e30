import { Buffer, isAscii, isUtf8 } from "node:buffer";
import { DocumentError, invalidHtml } from "../document-error.ts";
import type { HtmlParse } from "../tree-construction/parser-state.ts";
import type { RootNode, SourceElement } from "./html-nodes.ts";

/**
 * How the bytes of a document became characters. One that is not UTF-8 is read byte by byte, so that every byte comes
 * back as it was; its ASCII characters, and with them all markup, are the same in both.
 */
type DocumentEncoding = "utf8" | "latin1";

/** The characters of a file, and what makes bytes of them again. */
export interface DocumentSource {
  /** The characters that the offsets of the elements count, without a byte order mark. */
  readonly source: string;
  readonly encoding: DocumentEncoding;
  readonly hasByteOrderMark: boolean;
}

export type DocumentKind = "html" | "xml";

/**
 * A document: its source, and a tree whose elements know where they stand in it. HTML and XML are both this; all that
 * reads, selects and edits goes by the tree and its offsets, and does not ask which it is. Where the two differ:
 *
 * - parsing: `html-document.ts` and `xml-document.ts` (saxes), behind `parse-document.ts`;
 * - edits: what is supplied is checked by `well-formed.ts` or `xml-fragment.ts`; `element-placement.ts` asks the kind;
 * - selectors: names have case in XML, and HTML's own rules do not hold there.
 */
export interface SourceDocument extends DocumentSource {
  readonly kind: DocumentKind;
  readonly root: RootNode;
  /** Elements whose characters alone are not all of them, see `elementsFormattedFromBefore`. */
  readonly formattedFromBefore: ReadonlySet<SourceElement>;
  /** From where an edited source can be parsed; of HTML only. */
  readonly parse?: HtmlParse | undefined;
  readonly sourceBytes: number;
  /** Estimate of the memory it holds, in bytes. */
  readonly memoryBytes: number;
}

/** A tree, and the estimate of its memory in bytes. */
export interface ParsedTree extends Pick<SourceDocument, "root" | "formattedFromBefore" | "parse"> {
  readonly treeBytes: number;
}

// V8 keeps such a text in two bytes a character.
const beyondLatin1 = /[^\x00-\xff]/;

const ascii = /^[\x00-\x7f]*$/;

const byteOrderMark: Uint8Array = Buffer.from([0xef, 0xbb, 0xbf]);

/** The characters of a file. Throws `UNSUPPORTED_ENCODING` for UTF-16, whose markup is not ASCII. */
export function readSource(bytes: Uint8Array): DocumentSource {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [first, second] = buffer;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new DocumentError("UNSUPPORTED_ENCODING", "The document is UTF-16; elements are read and changed in UTF-8.");
  }
  const hasByteOrderMark = buffer.subarray(0, 3).equals(byteOrderMark);
  // In one go, whatever the length; from ASCII it takes half as long.
  if (isAscii(buffer)) return { source: buffer.toString("latin1"), encoding: "utf8", hasByteOrderMark };
  const encoding = isUtf8(buffer) ? "utf8" : "latin1";
  return { source: buffer.toString(encoding, hasByteOrderMark ? 3 : 0), encoding, hasByteOrderMark };
}

export function sourceDocument(
  { source, encoding, hasByteOrderMark }: DocumentSource,
  { root, treeBytes, formattedFromBefore, parse }: ParsedTree,
  kind: DocumentKind,
): SourceDocument {
  const sourceBytes = beyondLatin1.test(source) ? source.length * 2 : source.length;
  return {
    source,
    encoding,
    hasByteOrderMark,
    kind,
    root,
    formattedFromBefore,
    parse,
    sourceBytes,
    memoryBytes: sourceBytes + treeBytes,
  };
}

/** The bytes of a document; of one that was not edited, those it was parsed from. */
export function documentBytes(document: DocumentSource): Uint8Array {
  const bytes = Buffer.from(document.source, document.encoding);
  return document.hasByteOrderMark ? Buffer.concat([byteOrderMark, bytes]) : bytes;
}

/** Whether its bytes read as this document: one without its only invalid bytes is UTF-8 again. */
export function readsAsParsed(document: DocumentSource): boolean {
  return document.encoding === "utf8" || !isUtf8(documentBytes(document));
}

/** Refuses text that the document cannot hold: in one that is not UTF-8, only ASCII is certain to mean what it says. */
export function requireEncodable({ encoding }: DocumentSource, text: string): void {
  if (encoding === "utf8" || ascii.test(text)) return;
  throw new DocumentError("NOT_UTF8", "The document is not valid UTF-8, so that only ASCII text can be put into it.");
}

/** A place in a text, as an editor shows it; both count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Lines and columns of offsets that never go back. */
export class LineCounter {
  readonly #source: string;
  readonly #lineEnd = /\r\n?|\n/g;
  #line = 1;
  #lineStart = 0;
  #nextLine: number;

  constructor(source: string) {
    this.#source = source;
    this.#nextLine = this.#findNextLine();
  }

  at(offset: number | null): Place {
    const position = offset ?? 0;
    while (this.#nextLine <= position) {
      this.#line += 1;
      this.#lineStart = this.#nextLine;
      this.#nextLine = this.#findNextLine();
    }
    return { line: this.#line, column: Math.max(position - this.#lineStart, 0) + 1 };
  }

  #findNextLine(): number {
    return this.#lineEnd.test(this.#source) ? this.#lineEnd.lastIndex : Number.POSITIVE_INFINITY;
  }
}

/** The text of a request's content. Throws `INVALID_HTML` for what is not UTF-8 or holds NUL. */
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
