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

const blanksAtStart = /^[\t\n\f\r ]*/;
const blanksAt = /[\t\n\f\r ]*/y;
const notBlank = /[^\t\n\f\r ]/;

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

/** The white space of a run, wherever it stands; `undefined` if there is no white space. */
export function blanksOf(run: TextRun): TextRun | undefined {
  if (isBlankText(run)) return run;
  const data = run.data.replace(/[^\t\n\f\r ]+/g, "");
  return data === "" ? undefined : { ...run, data, isVerbatim: false };
}

/** A rope of more pieces is made flat: millions of them would be joined in one go, and take many times their size. */
const mostPieces = 4096;

/** The texts of a tree in the making: slices of the source where they read as it does, elsewhere flat strings. */
export class SourceTexts {
  readonly #source: string;
  /** Texts that do not read as the source does, and how many pieces they are made of. */
  readonly #ropes = new Map<TextNode, number>();

  constructor(source: string) {
    this.#source = source;
  }

  /** A new text does not read as the source does. */
  add(text: TextNode): void {
    this.#ropes.set(text, 1);
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
    const pieces = (this.#ropes.get(text) ?? 1) + 1;
    this.#ropes.set(text, pieces);
    if (pieces % mostPieces === 0) flatten(text);
  }

  /** Called once all texts are there. */
  *settle(): SlicedWork<void> {
    for (const text of this.#ropes.keys()) {
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
