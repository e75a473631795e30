import { existsOne, getAttributeValue, getElementsByTagName, hasAttrib, textContent } from "domutils";
import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { SourceElement } from "../document/html-nodes.ts";
import { ItemElements, isItem, propertyNames, tokens } from "./item-elements.ts";
import {
  MicrodataError,
  type MicrodataItem,
  type MicrodataMistake,
  type MicrodataPage,
  type MicrodataValue,
  type Page,
} from "./microdata-page.ts";

/** Properties within properties have the same text again and again: 512 times 5 MiB would fill the memory. */
const maxTextCost = 8 * 1024 * 1024;

interface OpenItem {
  readonly element: SourceElement;
  readonly properties: Map<string, MicrodataValue[]>;
  /** The elements that are still to be read, the next one at the end. */
  readonly pending: SourceElement[];
}

/** Reads the top-level items of a page; `yield`s every millisecond or so. Throws {@link MicrodataError}. */
export function* readItems(page: Page): SlicedWork<MicrodataPage> {
  const reader = new ItemReader(page);
  const items: MicrodataItem[] = [];
  for (const element of page.lines.keys()) {
    if (isItem(element) && !hasAttrib(element, "itemprop")) items.push(yield* reader.read(element));
  }
  const atStrays = yield* strayAttributes(page, reader.used);
  const mistakes = [...page.mistakes, ...reader.mistakes, ...atStrays];
  return { items, mistakes: mistakes.sort((a, b) => a.line - b.line) };
}

/** The elements of all items that are still in use. */
const elements = new WeakMap<MicrodataItem, SourceElement>();

/** Whether a list in the element of an item holds no property. */
export function hasEmptyList(item: MicrodataItem): boolean {
  const element = elements.get(item);
  const lists = element ? getElementsByTagName((name) => name === "ol" || name === "ul", element) : [];
  return lists.some((list) => !existsOne((each) => hasAttrib(each, "itemprop"), [list]));
}

class ItemReader {
  readonly mistakes: MicrodataMistake[] = [];
  /** The elements that are a property of an item. */
  readonly used = new Set<SourceElement>();
  readonly #page: Page;
  readonly #elements: ItemElements;
  readonly #items = new Map<SourceElement, MicrodataItem>();
  /** The item that is being read, below those that it is a part of. */
  readonly #open: OpenItem[] = [];
  readonly #isOpen = new Set<SourceElement>();
  #textCost = 0;

  constructor(page: Page) {
    this.#page = page;
    this.#elements = new ItemElements(page, this.mistakes);
  }

  /** Not by recursion: `itemref` makes chains of items that are as long as the page. */
  *read(element: SourceElement): SlicedWork<MicrodataItem> {
    const item = yield* this.#begin(element);
    for (let current = this.#open.at(-1); current; current = this.#open.at(-1)) {
      const property = current.pending.pop();
      if (property) yield* this.#readProperty(property, current.properties);
      else {
        this.#isOpen.delete(current.element);
        this.#open.pop();
      }
    }
    return item;
  }

  *#begin(element: SourceElement): SlicedWork<MicrodataItem> {
    yield;
    const id = getAttributeValue(element, "itemid");
    const types = tokens(getAttributeValue(element, "itemtype"));
    const properties = new Map<string, MicrodataValue[]>();
    const item = { types, ...(id !== undefined && { id }), line: this.#lineOf(element), properties };
    this.#items.set(element, item);
    elements.set(item, element);
    this.#isOpen.add(element);
    this.#open.push({ element, properties, pending: [...(yield* this.#elements.of(element))].reverse() });
    return item;
  }

  *#readProperty(element: SourceElement, properties: Map<string, MicrodataValue[]>): SlicedWork<void> {
    this.used.add(element);
    const line = this.#lineOf(element);
    if (this.#isOpen.has(element)) {
      this.mistakes.push({ line, text: "an itemref makes this item a part of itself" });
      return;
    }
    const item = isItem(element) ? (this.#items.get(element) ?? (yield* this.#begin(element))) : undefined;
    const value = item ?? this.#textOf(element);
    for (const name of propertyNames(element)) {
      const values = properties.get(name);
      if (values) values.push({ value, line });
      else properties.set(name, [{ value, line }]);
    }
  }

  #textOf(element: SourceElement): string {
    this.#textCost += this.#page.sizes.get(element) ?? 0;
    const value = this.#textCost <= maxTextCost ? propertyValue(element) : "";
    this.#textCost += value.length;
    if (this.#textCost <= maxTextCost) return value;
    const line = this.#lineOf(element);
    throw new MicrodataError(line, "the properties of the page have too much text within each other");
  }

  #lineOf(element: SourceElement): number {
    return this.#page.lines.get(element) ?? 1;
  }
}

/** What says something about an item, but about none that there is. */
function* strayAttributes(page: Page, used: ReadonlySet<SourceElement>): SlicedWork<readonly MicrodataMistake[]> {
  const mistakes: MicrodataMistake[] = [];
  let looked = 0;
  for (const [element, line] of page.lines) {
    looked += 1;
    if (looked % 1024 === 0) yield;
    const names = getAttributeValue(element, "itemprop");
    if (names !== undefined && !used.has(element))
      mistakes.push({ line, text: `itemprop="${names}" belongs to no item` });
    const stray = ["itemtype", "itemid", "itemref"].find((name) => hasAttrib(element, name));
    if (stray && !isItem(element)) mistakes.push({ line, text: `${stray} is of no effect without itemscope` });
  }
  return mistakes;
}

/** The attribute that has the value of a property, for the elements that do not have it in their text. */
const valueAttributes: ReadonlyMap<string, string> = new Map([
  ["meta", "content"],
  ...["audio", "embed", "iframe", "img", "source", "track", "video"].map((name) => [name, "src"] as const),
  ...["a", "area", "link"].map((name) => [name, "href"] as const),
  ["object", "data"],
  ["data", "value"],
  ["meter", "value"],
]);

/** The value of a property that is no item, as the HTML Standard has it ("Values" of microdata); URLs as written. */
function propertyValue(element: SourceElement): string {
  const name = valueAttributes.get(element.name);
  if (name !== undefined) return getAttributeValue(element, name) ?? "";
  const date = element.name === "time" ? getAttributeValue(element, "datetime") : undefined;
  return date ?? textContent(element);
}
