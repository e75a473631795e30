import type { SourceElement } from "../document/html-nodes.ts";
import type { TagName } from "../tokenizer/tokens.ts";
import type { OpenElement } from "./open-elements.ts";

/** Set where content begins that formatting from outside does not reach into: a cell, an `object`. */
const marker = null;

/** How many equal elements may be open: pages of the nineties open a `font` in each cell. */
const maxEqual = 3;

/** The list of active formatting elements (HTML Standard, 13.2.4.3). */
export class FormattingElements {
  readonly #entries: (OpenElement | null)[] = [];

  get length(): number {
    return this.#entries.length;
  }

  /** An entry, or `null` for a marker. */
  at(index: number): OpenElement | null {
    return this.#entries[index] ?? null;
  }

  /** Adds an element; of four that are equal, the first is taken out. */
  push(element: SourceElement, tag: TagName): void {
    let equal = 0;
    let first = -1;
    for (let i = this.#entries.length - 1; i >= 0; i -= 1) {
      const entry = this.#entries[i];
      if (!entry) break;
      if (entry.tag.name !== tag.name || !haveSameAttributes(entry.element, element)) continue;
      equal += 1;
      first = i;
    }
    if (equal >= maxEqual) this.removeAt(first);
    this.#entries.push({ element, tag });
  }

  pushMarker(): void {
    this.#entries.push(marker);
  }

  clearToMarker(): void {
    while (this.#entries.length > 0 && this.#entries.pop() !== marker);
  }

  /** The last element of a name behind the last marker; -1 where there is none. */
  lastIndexOf(name: string): number {
    for (let i = this.#entries.length - 1; i >= 0; i -= 1) {
      const entry = this.#entries[i];
      if (!entry) return -1;
      if (entry.tag.name === name) return i;
    }
    return -1;
  }

  indexOfElement(element: SourceElement): number {
    return this.#entries.findLastIndex((entry) => entry?.element === element);
  }

  removeAt(index: number): void {
    this.#entries.splice(index, 1);
  }

  replaceAt(index: number, element: SourceElement, tag: TagName): void {
    this.#entries[index] = { element, tag };
  }

  insertAt(index: number, element: SourceElement, tag: TagName): void {
    this.#entries.splice(index, 0, { element, tag });
  }
}

function haveSameAttributes({ attribs: a }: SourceElement, { attribs: b }: SourceElement): boolean {
  if (a === b) return true;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
