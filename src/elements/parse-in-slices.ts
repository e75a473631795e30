import { Parser, type ParserOptions, type TokenHandler, Tokenizer, type TokenizerOptions } from "parse5";
import { TimeSlice } from "../time-slice.ts";
import type { RootNode } from "./html-nodes.ts";
import type { HtmlTreeAdapter, HtmlTreeTypes } from "./html-tree.ts";

/** So many characters are parsed without looking at the clock: 2 to 5 ms on real pages. Most documents are shorter. */
const pieceLength = 64 * 1024;
/** Markup that costs a thousand times as much as real pages is parsed in pieces that hold the event loop no longer. */
const shortestPiece = 1024;

/**
 * Has parse5 make a tree of `source`, and gives way to everyone else every few milliseconds. The tree and its offsets are
 * those of one go: the tokenizer continues in the middle of a token, a character reference, a line end.
 */
export async function parseInSlices(source: string, tree: HtmlTreeAdapter): Promise<RootNode> {
  const parser = new Parser<HtmlTreeTypes>({ treeAdapter: tree, sourceCodeLocationInfo: true });
  const slice = new TimeSlice();
  let length = pieceLength;
  for (let position = 0; ; ) {
    const end = position + length;
    parser.tokenizer.write(source.slice(position, end), end >= source.length);
    if (end >= source.length) return parser.document;
    position = end;
    if (slice.isOver) {
      await slice.renew();
    }
  }
}
