import type { SourceElement } from "../document/html-nodes.ts";
import type { TagName } from "../tokenizer/tokens.ts";
import { trait, traitsOf } from "./tags.ts";

export interface OpenElement {
  readonly element: SourceElement;
  readonly tag: TagName;
}

/** The stack of open elements (13.2.4.2), searched from the top; a parse's budget counts its length for each tag. */
export class OpenElements {
  readonly #entries: OpenElement[] = [];
  readonly #checkDepth: (depth: number) => void;
  readonly #onPop: (element: SourceElement) => void;

  constructor(checkDepth: (depth: number) => void, onPop: (element: SourceElement) => void) {
    this.#checkDepth = checkDepth;
    this.#onPop = onPop;
  }

  get length(): number {
    return this.#entries.length;
  }

  /** The innermost open element. */
  get current(): SourceElement | undefined {
    return this.#entries[this.#entries.length - 1]?.element;
  }

  get currentTag(): TagName | undefined {
    return this.#entries[this.#entries.length - 1]?.tag;
  }

  elementAt(index: number): SourceElement | undefined {
    return this.#entries[index]?.element;
  }

  tagAt(index: number): TagName | undefined {
    return this.#entries[index]?.tag;
  }

  /** All of them, the outermost first. */
  entries(): OpenElement[] {
    return this.#entries.slice();
  }

  push(element: SourceElement, tag: TagName): void {
    this.#entries.push({ element, tag });
    this.#checkDepth(this.#entries.length);
  }

  pop(): void {
    const entry = this.#entries.pop();
    if (entry) this.#onPop(entry.element);
  }

  /** Pops everything above an entry, and the entry. */
  popTo(index: number): void {
    while (this.#entries.length > index) this.pop();
  }

  /** Pops until an element of that name was popped. */
  popThrough(tag: TagName): void {
    this.popTo(Math.max(this.indexOf(tag), 0));
  }

  /** Pops down to an element with a trait, which stays. */
  clearTo(wanted: number): void {
    while (this.#entries.length > 0 && !this.currentHas(wanted)) this.pop();
  }

  currentHas(wanted: number): boolean {
    const tag = this.currentTag;
    return tag !== undefined && (traitsOf(tag) & wanted) !== 0;
  }

  /** Index of the topmost open element of a name, or -1. */
  indexOf({ name }: TagName): number {
    let index = this.#entries.length - 1;
    while (index >= 0 && this.#entries[index]?.tag.name !== name) index -= 1;
    return index;
  }

  has(tag: TagName): boolean {
    return this.indexOf(tag) >= 0;
  }

  /** Whether an element of that name is in a scope, which an element with a trait ends. */
  hasInScope(tag: TagName, end: number = trait.scope): boolean {
    return this.#indexInScope(tag, end) >= 0;
  }

  /**
   * Pops an element in scope and all above it; `false` where there is none. The standard generates implied end tags
   * before that, which only decides about the errors that it reports.
   */
  popInScope(tag: TagName, end: number = trait.scope): boolean {
    const index = this.#indexInScope(tag, end);
    if (index >= 0) this.popTo(index);
    return index >= 0;
  }

  #indexInScope({ name }: TagName, end: number): number {
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) {
      const { tag } = this.#entries[index] as OpenElement;
      if (tag.name === name) return index;
      if ((traitsOf(tag) & end) !== 0) return -1;
    }
    return -1;
  }

  /** Index of the topmost entry with a trait, or -1. */
  topmostWith(wanted: number): number {
    return this.#entries.findLastIndex(({ tag }) => (traitsOf(tag) & wanted) !== 0);
  }

  indexOfElement(element: SourceElement): number {
    let index = this.#entries.length - 1;
    while (index >= 0 && this.#entries[index]?.element !== element) index -= 1;
    return index;
  }

  generateImpliedEndTags(except?: TagName): void {
    while (this.currentHas(trait.impliedEnd) && this.currentTag !== except) this.pop();
  }

  remove(element: SourceElement): void {
    if (this.forget(element)) this.#onPop(element);
  }

  /** Takes an element out that is not closed by it: the `head`, which a late `<title>` was put into. */
  forget(element: SourceElement): boolean {
    const index = this.indexOfElement(element);
    if (index >= 0) this.#entries.splice(index, 1);
    return index >= 0;
  }

  /** Takes an entry and all above it off the stack, to be put back; they are not closed by it. */
  cutFrom(index: number): OpenElement[] {
    return this.#entries.splice(index);
  }

  putBack(entries: readonly OpenElement[]): void {
    this.#entries.push(...entries);
  }
}

/** Set where content begins that formatting from outside does not reach into: a cell, an `object`. */
export const marker = null;

/** The list of active formatting elements (HTML Standard, 13.2.4.3). */
export type FormattingElements = (OpenElement | typeof marker)[];

/** How many equal elements may be open: pages of the nineties open a `font` in each cell. */
const maxEqual = 3;

/** Adds an element; of four that are equal, the first is taken out. */
export function addFormatting(list: FormattingElements, added: OpenElement): void {
  let equal = 0;
  let first = -1;
  for (let index = list.length - 1; index >= 0; index -= 1) {
    const entry = list[index];
    if (!entry) break;
    if (entry.tag.name !== added.tag.name || !haveSameAttributes(entry.element, added.element)) continue;
    equal += 1;
    first = index;
  }
  if (equal >= maxEqual) list.splice(first, 1);
  list.push(added);
}

export function clearToMarker(list: FormattingElements): void {
  while (list.length > 0 && list.pop() !== marker);
}

/** Index of the last element of a name behind the last marker, or -1. */
export function lastFormatting(list: FormattingElements, name: string): number {
  const index = list.findLastIndex((entry) => entry === marker || entry.tag.name === name);
  return list[index] === marker ? -1 : index;
}

export function indexOfFormatting(list: FormattingElements, element: SourceElement): number {
  return list.findLastIndex((entry) => entry?.element === element);
}

export function haveSameAttributes({ attribs: a }: Pick<SourceElement, "attribs">, other: SourceElement): boolean {
  const b = other.attribs;
  if (a === b) return true;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
