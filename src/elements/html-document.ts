import { Buffer, isUtf8 } from "node:buffer";
import { html, Parser, serialize, serializeOuter } from "parse5";
import { HttpError } from "../http-error.ts";
import { settleSpans } from "./element-span.ts";
import {
  type RootNode,
  SourceElement,
  TemplateElement,
  TextNode,
  type TreeChild,
  type TreeNode,
} from "./html-nodes.ts";
import { HtmlTreeAdapter, type HtmlTreeTypes, treeReader } from "./html-tree.ts";
import { pageElements } from "./page-elements.ts";

/**
 * How the bytes of a document became characters. One that is not UTF-8 is read byte by byte, so that every byte comes
 * back as it was; its ASCII characters, and with them all markup, are the same in both.
 */
export type DocumentEncoding = "utf8" | "latin1";

/** An HTML document: its source and the tree that the HTML Standard makes of it. */
export interface HtmlDocument {
  /** The characters that the offsets of the elements count, without a byte order mark. */
  readonly source: string;
  readonly encoding: DocumentEncoding;
  readonly hasByteOrderMark: boolean;
  readonly root: RootNode;
  /** Estimate of the memory it holds, in bytes. */
  readonly memoryBytes: number;
}

/** Bounds of what is parsed. */
export interface ParseLimits {
  /** How many elements may be open at once. @default 512 */
  readonly maxDepth?: number;
}

// V8 keeps such a text in two bytes a character.
const beyondLatin1 = /[^\x00-\xff]/;

// What may follow the content of `body` besides comments; white space does become content, but nobody points at it.
const closing = /\s+|<\/(?:body|html)\s*>/iy;

const ascii = /^[\x00-\x7f]*$/;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Beyond it, a document is an attack on the stack, or a template loop; browsers stop at 512 as well. */
const defaultMaxDepth = 512;

/** Memory of a tree, measured with Node 20 on 258 real pages: per element with its attributes, and per other node. */
const elementMemoryBytes = 400;
const nodeMemoryBytes = 150;

/** Parses a document from its bytes. Throws 422 `DOCUMENT_TOO_DEEP`. */
export function parseHtml(bytes: Uint8Array, limits: ParseLimits = {}): HtmlDocument {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hasByteOrderMark = buffer.subarray(0, 3).equals(byteOrderMark);
  const encoding = isUtf8(buffer) ? "utf8" : "latin1";
  const source = buffer.toString(encoding, hasByteOrderMark ? 3 : 0);
  return parseSource(source, { encoding, hasByteOrderMark }, limits);
}

/** Parses an edited source of a document; it keeps the encoding and the byte order mark. */
export function parseSource(
  source: string,
  { encoding, hasByteOrderMark }: Pick<HtmlDocument, "encoding" | "hasByteOrderMark">,
  { maxDepth = defaultMaxDepth }: ParseLimits = {},
): HtmlDocument {
  const tree = new HtmlTreeAdapter(maxDepth, () => {
    throw new HttpError(422, "DOCUMENT_TOO_DEEP", `The document nests elements more than ${maxDepth} levels deep.`);
  });
  const root = Parser.parse<HtmlTreeTypes>(source, { treeAdapter: tree, sourceCodeLocationInfo: true });
  settleSpans(tree, endOfPage(root, source));
  return { source, encoding, hasByteOrderMark, root, memoryBytes: compact(root, source) };
}

/** The bytes of an edited source of a document; those of its unedited source are the bytes it was parsed from. */
export function documentBytes(document: HtmlDocument, source: string = document.source): Uint8Array {
  const bytes = Buffer.from(source, document.encoding);
  return document.hasByteOrderMark ? Buffer.concat([byteOrderMark, bytes]) : bytes;
}

/** Refuses text that the document cannot hold: in one that is not UTF-8, only ASCII is certain to mean what it says. */
export function requireEncodable({ encoding }: HtmlDocument, text: string): void {
  if (encoding === "utf8" || ascii.test(text)) return;
  throw new HttpError(422, "NOT_UTF8", "The document is not valid UTF-8, so that only ASCII text can be put into it.");
}

/** Whether an element is one of HTML, not of SVG or MathML. */
export function isHtmlElement({ namespace }: SourceElement): boolean {
  return namespace === html.NS.HTML;
}

/** The next node in document order that lies below `root`; descends into elements, not into template contents. */
export function nextNode(node: TreeNode, root: TreeNode): TreeChild | null {
  const firstChild = "children" in node ? node.children[0] : undefined;
  if (firstChild) return firstChild;
  let current = node;
  while (current !== root) {
    if (current.next) return current.next;
    if (!current.parent) return null;
    current = current.parent;
  }
  return null;
}

/** Visits every node below `root`, those in template contents last. */
export function forEachNode(root: RootNode, visit: (node: TreeChild) => void): void {
  const roots = [root];
  for (let current = roots.pop(); current; current = roots.pop()) {
    for (let node = nextNode(current, current); node; node = nextNode(node, current)) {
      visit(node);
      if (node instanceof TemplateElement) roots.push(node.content);
    }
  }
}

/** An element's outer HTML as a browser serialises it. */
export function outerHtml(element: SourceElement): string {
  return serializeOuter<HtmlTreeTypes>(element, { treeAdapter: treeReader });
}

/** A whole tree as a browser serialises it. */
export function documentHtml(root: RootNode): string {
  return serialize<HtmlTreeTypes>(root, { treeAdapter: treeReader });
}

/** Where the content of the page ends: before `</body></html>`, unless there is content behind them. */
function endOfPage(root: RootNode, source: string): number {
  const contentEnd = pageElements(root).body?.contentEnd ?? -1;
  return contentEnd !== -1 && isClosing(source, contentEnd) ? contentEnd : source.length;
}

function isClosing(source: string, start: number): boolean {
  let position = start;
  while (position < source.length) {
    closing.lastIndex = position;
    const end = source.startsWith("<!--", position)
      ? source.indexOf("-->", position + 4) + 3
      : matchEnd(closing, source);
    if (end <= position) return false;
    position = end;
  }
  return true;
}

function matchEnd(pattern: RegExp, source: string): number {
  return pattern.test(source) ? pattern.lastIndex : -1;
}

/**
 * Goes over the finished tree once. Text comes from the parser as a rope of its words: where it reads as the source does,
 * a slice of the source takes its place. Returns an estimate of the memory that all of it holds, in bytes.
 */
function compact(root: RootNode, source: string): number {
  let bytes = beyondLatin1.test(source) ? source.length * 2 : source.length;
  forEachNode(root, (node) => {
    bytes += node instanceof SourceElement ? elementMemoryBytes : nodeMemoryBytes;
    if (node instanceof TextNode) useSource(node, source);
  });
  return bytes;
}

function useSource(text: TextNode, source: string): void {
  if (text.startIndex === null || text.endIndex === null) return;
  const raw = source.slice(text.startIndex, text.endIndex + 1);
  if (raw === text.data) text.data = raw;
}
