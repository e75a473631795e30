import { Parser, type Token, Tokenizer } from "parse5";
import { TimeSlice } from "../../event-loop/time-slice.ts";
import type { RootNode } from "./html-nodes.ts";
import type { HtmlTreeAdapter, HtmlTreeTypes } from "./html-tree.ts";
import type { ParseBudget } from "./parse-budget.ts";

/** So many characters are parsed without a look at the clock: 1 to 3 ms of a real page. */
const pieceLength = 32 * 1024;
/** So many nodes are made without one: 5,000 characters of `<p><font size=1><p><font size=2>...` make 130,000 nodes. */
const nodesAtOnce = 512;

/**
 * Has parse5 make a tree of `source`, and gives way to everyone else every few milliseconds. The tree and its offsets are
 * those of one go: the tokenizer continues in the middle of a token, of a character reference, of a line end.
 */
export async function parseInSlices(
  source: string,
  tree: HtmlTreeAdapter,
  budget: ParseBudget,
  piece: number = pieceLength,
): Promise<RootNode> {
  const options = { treeAdapter: tree, sourceCodeLocationInfo: true };
  const parser = new TellingParser(options, tree);
  const tokenizer = new PausingTokenizer(options, parser, budget);
  parser.tokenizer = tokenizer;

  const slice = new TimeSlice();
  let position = 0;
  do {
    if (tokenizer.isPaused) tokenizer.resume();
    else {
      // What belongs to an unfinished token is copied for each piece: in pieces that grow with it, that stays linear.
      const end = position + Math.max(piece, tokenizer.preprocessor.html.length >> 6);
      tokenizer.write(source.slice(position, end), end >= source.length);
      budget.addCharacters(Math.min(end, source.length) - position);
      position = end;
    }
    budget.checkTag(tokenizer.pendingAttributes, tokenizer.pendingNameLength);
    if (slice.isOver) await slice.renew();
  } while (tokenizer.isPaused || position < source.length);
  return parser.document;
}

/** Tells the tree where the tag begins that it is about to get, and which tags came to nothing. */
class TellingParser extends Parser<HtmlTreeTypes> {
  readonly #tree: HtmlTreeAdapter;

  constructor(options: { readonly treeAdapter: HtmlTreeAdapter }, tree: HtmlTreeAdapter) {
    super(options);
    this.#tree = tree;
  }

  override onStartTag(tag: Token.TagToken): void {
    this.#tree.beginTag(tag);
    super.onStartTag(tag);
    this.#tree.endTag(tag);
  }
}

/** Stops behind a tag when many nodes were made since it was resumed. */
class PausingTokenizer extends Tokenizer {
  readonly #budget: ParseBudget;
  #pauseAt = nodesAtOnce;

  constructor(
    options: { readonly sourceCodeLocationInfo: boolean },
    parser: Parser<HtmlTreeTypes>,
    budget: ParseBudget,
  ) {
    super(options, parser);
    this.#budget = budget;
  }

  get isPaused(): boolean {
    return this.paused;
  }

  /** How many attributes the tag has that is being read. */
  get pendingAttributes(): number {
    const token = this.currentToken;
    return token && "attrs" in token ? token.attrs.length : 0;
  }

  /** How long the name of a tag or an attribute is that is being read. */
  get pendingNameLength(): number {
    const token = this.currentToken;
    const name = token && "tagName" in token ? token.tagName : "";
    return Math.max(name.length, this.currentAttr.name.length);
  }

  protected override emitCurrentTagToken(): void {
    this.#budget.addTag(this.pendingAttributes);
    super.emitCurrentTagToken();
    if (this.#budget.nodes < this.#pauseAt) return;
    this.#pauseAt = this.#budget.nodes + nodesAtOnce;
    this.pause();
  }
}
