import type { SourceElement } from "../document/html-nodes.ts";
import type { TagName } from "../tokenizer/tokens.ts";
import { openTagCount, trait, traitsOf } from "./tags.ts";

/** An open element and the tag that made it. */
export interface OpenElement {
  readonly element: SourceElement;
  readonly tag: TagName;
}

/** The traits whose topmost bearer is asked for. */
type Boundary = "scope" | "listItemScope" | "buttonScope" | "tableScope" | "special" | "endsListItems";
const boundaries: readonly Boundary[] = [
  "scope",
  "listItemScope",
  "buttonScope",
  "tableScope",
  "special",
  "endsListItems",
];

const none = -1;

/**
 * The stack of open elements (HTML Standard, 13.2.4.2). Each entry knows the next one of its name below it and the
 * nearest end of each kind of scope, so that what the rules ask takes the same time however deep a page nests: 16 MiB
 * of `</p>` within 512 elements would be a billion steps otherwise.
 */
export class OpenElements {
  readonly #elements: SourceElement[] = [];
  readonly #tags: TagName[] = [];
  /** For each entry, the next lower entry with its name. */
  readonly #below: number[] = [];
  /** For each entry, the nearest entry with a trait at or below it. */
  readonly #boundaries: Readonly<Record<Boundary, number[]>> = {
    scope: [],
    listItemScope: [],
    buttonScope: [],
    tableScope: [],
    special: [],
    endsListItems: [],
  };
  /** For each name, its topmost entry. */
  readonly #tops: number[] = Array.from({ length: openTagCount }, () => none);
  readonly #unknownTops = new Map<string, number>();
  readonly #checkDepth: (depth: number) => void;
  readonly #onPop: (element: SourceElement) => void;

  constructor(checkDepth: (depth: number) => void, onPop: (element: SourceElement) => void) {
    this.#checkDepth = checkDepth;
    this.#onPop = onPop;
  }

  get length(): number {
    return this.#elements.length;
  }

  /** The innermost open element. */
  get current(): SourceElement | undefined {
    return this.#elements[this.#elements.length - 1];
  }

  get currentTag(): TagName | undefined {
    return this.#tags[this.#tags.length - 1];
  }

  elementAt(index: number): SourceElement | undefined {
    return this.#elements[index];
  }

  tagAt(index: number): TagName | undefined {
    return this.#tags[index];
  }

  push(element: SourceElement, tag: TagName): void {
    this.#add(element, tag);
    this.#checkDepth(this.#elements.length);
  }

  pop(): void {
    const element = this.#drop();
    if (element) this.#onPop(element);
  }

  /** Pops everything above an entry, and the entry. */
  popTo(index: number): void {
    while (this.#elements.length > index) this.pop();
  }

  /** Pops until an element of that name was popped. */
  popThrough(tag: TagName): void {
    this.popTo(Math.max(this.indexOf(tag), 0));
  }

  /** Pops down to an element with a trait, which stays. */
  clearTo(wanted: number): void {
    while (this.#elements.length > 0 && !this.currentHas(wanted)) this.pop();
  }

  currentHas(wanted: number): boolean {
    const tag = this.currentTag;
    return tag !== undefined && (traitsOf(tag) & wanted) !== 0;
  }

  /** The topmost open element of a name; -1 where there is none. */
  indexOf(tag: TagName): number {
    return tag.id === 0 ? (this.#unknownTops.get(tag.name) ?? none) : (this.#tops[tag.id] ?? none);
  }

  has(tag: TagName): boolean {
    return this.indexOf(tag) !== none;
  }

  /** Whether an element of that name is in a scope. */
  hasInScope(tag: TagName, scope: Boundary = "scope"): boolean {
    const index = this.indexOf(tag);
    return index !== none && index >= this.topmostWith(scope);
  }

  /** The topmost entry with a trait. */
  topmostWith(wanted: Boundary): number {
    const entries = this.#boundaries[wanted];
    return entries[entries.length - 1] ?? none;
  }

  /** Where an element is, searched among those of its name. */
  indexOfElement(element: SourceElement, tag: TagName): number {
    let index = this.indexOf(tag);
    while (index !== none && this.#elements[index] !== element) index = this.#below[index] ?? none;
    return index;
  }

  generateImpliedEndTags(except?: TagName, wanted: number = trait.impliedEnd): void {
    while (this.currentHas(wanted) && this.currentTag !== except) this.pop();
  }

  /** Takes an element out of the middle. */
  remove(element: SourceElement, tag: TagName): void {
    const index = this.indexOfElement(element, tag);
    if (index === none) return;
    const above = this.cutFrom(index);
    this.#onPop(element);
    this.putBack(above.slice(1));
  }

  /** Takes an element out that is not closed by it: the `head`, which a late `<title>` was put into. */
  forget(element: SourceElement, tag: TagName): void {
    const index = this.indexOfElement(element, tag);
    if (index !== none) this.putBack(this.cutFrom(index).slice(1));
  }

  /** Takes an entry and all above it off the stack, to be put back; none of them counts as popped. */
  cutFrom(index: number): OpenElement[] {
    const entries: OpenElement[] = [];
    while (this.#elements.length > index) {
      const tag = this.currentTag;
      const element = this.#drop();
      if (element && tag) entries.push({ element, tag });
    }
    return entries.reverse();
  }

  /** All of them, the outermost first. Of former entries, those that are the same are taken. */
  entries(former: readonly OpenElement[] = []): OpenElement[] {
    return this.#elements.map((element, index) => {
      const entry = former[index];
      return entry?.element === element ? entry : { element, tag: this.#tags[index] as TagName };
    });
  }

  putBack(entries: readonly OpenElement[]): void {
    for (const { element, tag } of entries) this.#add(element, tag);
  }

  #add(element: SourceElement, tag: TagName): void {
    const index = this.#elements.length;
    const traits = traitsOf(tag);
    this.#elements.push(element);
    this.#tags.push(tag);
    this.#below.push(this.indexOf(tag));
    this.#setTop(tag, index);
    for (const each of boundaries) {
      this.#boundaries[each].push((traits & trait[each]) !== 0 ? index : this.topmostWith(each));
    }
  }

  #drop(): SourceElement | undefined {
    const tag = this.#tags.pop();
    if (!tag) return undefined;
    this.#setTop(tag, this.#below.pop() ?? none);
    for (const each of boundaries) this.#boundaries[each].pop();
    return this.#elements.pop();
  }

  #setTop(tag: TagName, index: number): void {
    if (tag.id !== 0) this.#tops[tag.id] = index;
    else if (index === none) this.#unknownTops.delete(tag.name);
    else this.#unknownTops.set(tag.name, index);
  }
}

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

  entries(): (OpenElement | null)[] {
    return [...this.#entries];
  }

  load(entries: readonly (OpenElement | null)[]): void {
    this.#entries.push(...entries);
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
