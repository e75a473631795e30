import type { MicrodataItem, MicrodataPage, MicrodataValue } from "../microdata.ts";
import { ItemElements, isItem, propertyNames, tokens } from "./item-elements.ts";
import { attributeOf, MicrodataError, type MicrodataMistake, type Page, type PageElement } from "./parse-page.ts";
import { propertyValue } from "./property-value.ts";

/** Properties within properties have the same text again and again: 512 times 5 MiB would fill the memory. */
const maxTextCost = 16 * 1024 * 1024;

interface OpenItem {
  readonly element: PageElement;
  readonly properties: Map<string, MicrodataValue[]>;
  /** The elements that are still to be read, the next one at the end. */
  readonly pending: PageElement[];
}

/** Reads the top-level items of a page; `yield`s every millisecond or so. Throws {@link MicrodataError}. */
export function* readItems(page: Page): Generator<void, MicrodataPage> {
  const reader = new ItemReader(page);
  const items: MicrodataItem[] = [];
  for (const element of page.lines.keys()) {
    if (isItem(element) && attributeOf(element, "itemprop") === undefined) items.push(yield* reader.read(element));
  }
  const mistakes = [...page.mistakes, ...reader.mistakes, ...(yield* strayAttributes(page, reader.used))];
  return { items, mistakes: mistakes.sort((a, b) => a.line - b.line) };
}

class ItemReader {
  readonly mistakes: MicrodataMistake[] = [];
  /** The elements that are a property of an item. */
  readonly used = new Set<PageElement>();
  readonly #page: Page;
  readonly #elements: ItemElements;
  readonly #items = new Map<PageElement, MicrodataItem>();
  /** The item that is being read, below those that it is a part of. */
  readonly #open: OpenItem[] = [];
  readonly #isOpen = new Set<PageElement>();
  #textCost = 0;

  constructor(page: Page) {
    this.#page = page;
    this.#elements = new ItemElements(page, this.mistakes);
  }

  /** Not by recursion: `itemref` makes chains of items that are as long as the page. */
  *read(element: PageElement): Generator<void, MicrodataItem> {
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

  *#begin(element: PageElement): Generator<void, MicrodataItem> {
    yield;
    const id = attributeOf(element, "itemid");
    const types = tokens(attributeOf(element, "itemtype"));
    const properties = new Map<string, MicrodataValue[]>();
    const item = { types, ...(id !== undefined && { id }), line: this.#lineOf(element), properties };
    this.#items.set(element, item);
    this.#isOpen.add(element);
    this.#open.push({ element, properties, pending: [...(yield* this.#elements.of(element))].reverse() });
    return item;
  }

  *#readProperty(element: PageElement, properties: Map<string, MicrodataValue[]>): Generator<void, void> {
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

  #textOf(element: PageElement): string {
    return propertyValue(element, (cost) => {
      this.#textCost += cost;
      if (this.#textCost <= maxTextCost) return;
      throw new MicrodataError(
        this.#lineOf(element),
        "the properties of the page have too much text within each other",
      );
    });
  }

  #lineOf(element: PageElement): number {
    return this.#page.lines.get(element) ?? 1;
  }
}

/** What says something about an item, but about none that there is. */
function* strayAttributes(page: Page, used: ReadonlySet<PageElement>): Generator<void, MicrodataMistake[]> {
  const mistakes: MicrodataMistake[] = [];
  let looked = 0;
  for (const [element, line] of page.lines) {
    looked += 1;
    if (looked % 1024 === 0) yield;
    const names = attributeOf(element, "itemprop");
    if (names !== undefined && !used.has(element))
      mistakes.push({ line, text: `itemprop="${names}" belongs to no item` });
    const stray = ["itemtype", "itemid", "itemref"].find((name) => attributeOf(element, name) !== undefined);
    if (stray && !isItem(element)) mistakes.push({ line, text: `${stray} is of no effect without itemscope` });
  }
  return mistakes;
}
