import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { TextNode } from "../document/html-nodes.ts";

/** Characters that follow each other without a tag or a comment in between. */
export interface TextRun {
  readonly data: string;
  /** Where they stand in the source. */
  readonly start: number;
  readonly end: number;
  /** Whether the source has them as they are. */
  readonly isVerbatim: boolean;
}

const maxPieces = 4096;

/** Joins the pieces in which text comes: what is one piece of the source stays one. */
export class TextCollector {
  readonly #source: string;
  #start = -1;
  #end = -1;
  #pieces: string[] | undefined;
  /** Pieces that were joined already: millions of references would be joined in one go. */
  #joined: string[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  get isEmpty(): boolean {
    return this.#start < 0;
  }

  /** Characters that stand in the source as they are. */
  addVerbatim(start: number, end: number): void {
    if (this.#start < 0) this.#start = start;
    else if (this.#pieces || start !== this.#end) this.#piecesSoFar().push(this.#source.slice(start, end));
    this.#end = end;
  }

  add(data: string, start: number, end: number): void {
    if (this.#start < 0) {
      this.#start = start;
      this.#pieces = [data];
    } else {
      const pieces = this.#piecesSoFar();
      if (pieces.length >= maxPieces) this.#joined.push(pieces.splice(0).join(""));
      pieces.push(data);
    }
    this.#end = end;
  }

  /** All of it; the collector is empty then. */
  take(): TextRun {
    const [start, end, pieces] = [this.#start, this.#end, this.#pieces];
    this.#start = -1;
    this.#pieces = undefined;
    const data = pieces ? this.#joined.splice(0).join("") + pieces.join("") : this.#source.slice(start, end);
    return { data, start, end, isVerbatim: !pieces };
  }

  #piecesSoFar(): string[] {
    this.#pieces ??= [this.#source.slice(this.#start, this.#end)];
    return this.#pieces;
  }
}

const blanksAtStart = /^[\t\n\f\r ]*/;
const blanksAt = /[\t\n\f\r ]*/y;
const notBlank = /[^\t\n\f\r ]/;

/** Whether there is nothing but white space. */
export function isBlankText({ data }: TextRun): boolean {
  return !notBlank.test(data);
}

/** A run in two: the white space at its beginning, and the rest; `undefined` for what is empty. */
export function splitBlanks(
  run: TextRun,
  source: string,
): readonly [blanks: TextRun | undefined, rest: TextRun | undefined] {
  const length = blanksAtStart.exec(run.data)?.[0].length ?? 0;
  if (length === 0) return [undefined, run];
  if (length === run.data.length) return [run, undefined];
  const { data, start, end, isVerbatim } = run;
  blanksAt.lastIndex = start;
  blanksAt.test(source);
  const middle = Math.min(blanksAt.lastIndex, end); // a line end may be two characters there
  return [
    { data: data.slice(0, length), start, end: middle, isVerbatim },
    { data: data.slice(length), start: middle, end, isVerbatim },
  ];
}

/** The white space of a run, wherever in it that stands; `undefined` where it has none. */
export function blanksOf(run: TextRun): TextRun | undefined {
  if (isBlankText(run)) return run;
  const data = run.data.replace(/[^\t\n\f\r ]+/g, "");
  return data === "" ? undefined : { ...run, data, isVerbatim: false };
}

/** A rope is made flat at this many pieces, one for this many characters: one of words takes twice their size. */
const fewestPieces = 64;
const charactersForPiece = 64;

/**
 * The texts of a tree that is being built. Where they read as the source does, they are slices of it, which take no
 * memory of their own, and elsewhere flat strings.
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
  *settle(): SlicedWork<void> {
    for (const text of this.#ropes) {
      flatten(text);
      yield;
    }
    this.#ropes.clear();
  }
}

/** V8 joins the pieces of a string when one of its characters is asked for. */
function flatten({ data }: TextNode): void {
  data.charCodeAt(0);
}
