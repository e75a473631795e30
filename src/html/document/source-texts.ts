import type { TimeSlice } from "../../event-loop/sliced-work.ts";
import type { TextRun } from "../tree-construction/text-run.ts";
import type { TextNode } from "./html-nodes.ts";

/** A rope is made flat when it has so many pieces, and one for so many characters: a rope of words is twice their size. */
const fewestPieces = 64;
const charactersForPiece = 64;

/**
 * The texts of a tree that is being built. Where they read as the source does, they are slices of it, which take no memory
 * of their own, and elsewhere flat strings.
 */
export class SourceTexts {
  readonly #source: string;
  readonly #ropes = new Set<TextNode>();
  #growing: TextNode | undefined;
  #pieces = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** A new text does not read as the source does. */
  add(text: TextNode): void {
    this.#ropes.add(text);
  }

  /** More characters follow in a text. */
  extend(text: TextNode, { data, start, end, isVerbatim }: TextRun): void {
    const isNext = text.endIndex !== null && text.endIndex + 1 === start;
    text.endIndex = end - 1;
    if (isNext && isVerbatim && !this.#ropes.has(text)) {
      text.data = this.#source.slice(text.startIndex ?? start, end);
      return;
    }
    text.data += data;
    this.#ropes.add(text);
    this.#pieces = text === this.#growing ? this.#pieces + 1 : 1;
    this.#growing = text;
    if (this.#pieces < Math.max(fewestPieces, text.data.length / charactersForPiece)) return;
    flatten(text);
    this.#pieces = 0;
  }

  /** Called once all texts are there. */
  async settle(slice: TimeSlice): Promise<void> {
    for (const text of this.#ropes) {
      flatten(text);
      if (slice.isOver) await slice.renew();
    }
    this.#ropes.clear();
  }
}

/** V8 joins the pieces of a string when one of its characters is asked for. */
function flatten({ data }: TextNode): void {
  data.charCodeAt(0);
}
