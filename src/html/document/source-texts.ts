import type { TimeSlice } from "../../event-loop/time-slice.ts";
import type { TextNode } from "./html-nodes.ts";

/** A rope is made flat when it has so many pieces, and one for so many characters: a rope of words is twice their size. */
const fewestPieces = 64;
const charactersForPiece = 64;

/**
 * The texts of a tree that is being built. They come in words; where they read as the source does, they become slices of
 * it, which take no memory of their own, and elsewhere flat strings.
 */
export class SourceTexts {
  readonly #source: string;
  readonly #ropes = new Set<TextNode>();
  #growing: TextNode | undefined;
  #pieces = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** `words`, which end at `endOffset` of the source, were just added to a text. Sets where the text stands. */
  added(text: TextNode, words: string, startOffset: number, endOffset: number): void {
    const start = endOffset - words.length;
    const isNext = text.endIndex === null ? startOffset === start : text.endIndex + 1 === start;
    text.startIndex ??= startOffset;
    text.endIndex = endOffset - 1;
    if (isNext && !this.#ropes.has(text) && this.#source.startsWith(words, start)) {
      text.data = this.#source.slice(text.startIndex, endOffset);
      return;
    }
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
