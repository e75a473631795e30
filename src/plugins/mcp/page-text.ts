import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { nextNode, SourceElement, TextNode, type TreeParent } from "../../html/engine.ts";

/** Characters that are looked at in one piece. */
const pieceLength = 65_536;

interface Place {
  readonly start: number;
  end: number;
}

/** The text of a page with single spaces, and the place of each element in it. Each text is read once. */
export class PageText {
  readonly #text: string;
  readonly #places: ReadonlyMap<unknown, Place>;

  private constructor(text: string, places: ReadonlyMap<unknown, Place>) {
    this.#text = text;
    this.#places = places;
  }

  static *of(root: TreeParent): SlicedWork<PageText> {
    const pieces: string[] = [];
    const places = new Map<unknown, Place>();
    const open: SourceElement[] = [];
    let length = 0;
    let isAfterSpace = true;
    const closeUntil = (parent: unknown): void => {
      while (open.length > 0 && open.at(-1) !== parent) {
        const place = places.get(open.pop());
        if (place) place.end = length;
      }
    };
    for (let node = nextNode(root, root); node; node = nextNode(node, root)) {
      closeUntil(node.parent);
      if (node instanceof SourceElement) {
        places.set(node, { start: length, end: length });
        open.push(node);
      }
      const data = node instanceof TextNode ? node.data : "";
      for (let at = 0; at < data.length; at += pieceLength) {
        const piece = withSingleSpaces(data.slice(at, at + pieceLength));
        pieces.push(isAfterSpace && piece.startsWith(" ") ? piece.slice(1) : piece);
        length += pieces.at(-1)?.length ?? 0;
        isAfterSpace = piece.endsWith(" ");
        yield;
      }
      yield;
    }
    closeUntil(root);
    return new PageText(pieces.join(""), places);
  }

  /** The text in an element; of a long one the beginning. */
  beginningOf(element: SourceElement, most: number): string {
    const { start, end } = this.#places.get(element) ?? { start: 0, end: 0 };
    const text = this.#text.slice(start, end).trim();
    return text.length <= most ? text : `${text.slice(0, most)}…`;
  }

  /** Tells of elements, fast if in document order, whether they hold a text, regardless of case and white space. */
  holding(wanted: string): (element: SourceElement) => boolean {
    const text = inOneCase(this.#text);
    const words = inOneCase(withSingleSpaces(wanted).trim());
    /** From here on it stands there next. */
    let [from, at] = [0, -1];
    return (element) => {
      const { start, end } = this.#places.get(element) ?? { start: 0, end: -1 };
      if (start < from || start > at) {
        const found = text.indexOf(words, start);
        [from, at] = [start, found === -1 ? Number.POSITIVE_INFINITY : found];
      }
      return at + words.length <= end;
    };
  }
}

function withSingleSpaces(text: string): string {
  return text.replace(/\s+/g, " ");
}

/** As long as before, but for which one letter had to go. */
function inOneCase(text: string): string {
  return text.replaceAll("İ", "i").toLowerCase();
}
