import { atOnce, inSlices, type SlicedWork } from "../event-loop/sliced-work.ts";
import { elementsBelow, isHtmlElement, nextNode, SourceElement, TextNode } from "./document/html-nodes.ts";
import { MicrodataError, type MicrodataMistake, type Page, readPage } from "./microdata/microdata-page.ts";

export { MicrodataError, type MicrodataMistake } from "./microdata/microdata-page.ts";

export interface MicrodataItem {
  /** The words of `itemtype`, in order. */
  readonly types: readonly string[];
  /** `itemid` as it is written. */
  readonly id?: string;
  /** Line of the start tag that makes the item, from 1. */
  readonly line: number;
  /** The values of each property, in tree order. */
  readonly properties: ReadonlyMap<string, readonly MicrodataValue[]>;
}

export interface MicrodataValue {
  /**
   * An item, or text: what the element's attribute (`content`, `href`, ...) has, or its text content. White space is
   * kept and URLs are as they are written; resolving them against the place of the file is up to the caller.
   */
  readonly value: string | MicrodataItem;
  /** Line of the element that has the value, from 1. */
  readonly line: number;
}

export interface MicrodataPage {
  /** The top-level items: those that are not the property of another item. */
  readonly items: readonly MicrodataItem[];
  /** What is written down but belongs to no item, and references that lead nowhere or in a circle; by line. */
  readonly mistakes: readonly MicrodataMistake[];
}

/** Twice the elements of the largest page; more is one that refers to the same large part again and again. */
const maxVisits = 2_000_000;
/** Properties within properties have the same text again and again: 512 times 5 MiB would fill the memory. */
const maxTextCost = 8 * 1024 * 1024;

/**
 * Reads the top-level items of a page as the HTML Standard says ("5 Microdata"), while others have their turn. A value
 * that would make an item its own part is left out. Throws {@link MicrodataError} for a page that would take too long.
 */
export async function readMicrodataPage(html: string): Promise<MicrodataPage> {
  return inSlices(pageOfItems(html));
}

/** Every item once, whether it stands alone or is the property of another one. */
export function allItems(items: Iterable<MicrodataItem>): MicrodataItem[] {
  return atOnce(findItems(items));
}

/** The same, while others have their turn. */
export function* findItems(items: Iterable<MicrodataItem>): SlicedWork<MicrodataItem[]> {
  const found = new Set(items);
  for (const { properties } of found) {
    yield;
    for (const values of properties.values()) {
      for (const { value } of values) if (typeof value !== "string") found.add(value);
    }
  }
  return [...found].sort((a, b) => a.line - b.line);
}

/** Whether one of the item's types ends in `/name`: whose vocabulary it is does not matter. */
export function isOfType(item: MicrodataItem, name: string): boolean {
  return typeNames(item).includes(name);
}

/** The last segments of the item's types: `["Credential"]` for `https://example.org/schema/Credential`. */
export function typeNames(item: MicrodataItem): string[] {
  return item.types.map((type) => type.replace(/[?#].*$/, "").replace(/^.*\//, ""));
}

/** The elements of all items that are still in use. */
const elements = new WeakMap<MicrodataItem, SourceElement>();

/** Whether a list in the element of an item holds no property. */
export function hasEmptyList(item: MicrodataItem): boolean {
  const element = elements.get(item);
  const isList = ({ name }: SourceElement): boolean => name === "ol" || name === "ul";
  const lists = element ? [element, ...elementsBelow(element)].filter(isList) : [];
  return lists.some((list) => ![list, ...elementsBelow(list)].some(({ attribs }) => "itemprop" in attribs));
}

function* pageOfItems(html: string): SlicedWork<MicrodataPage> {
  const page = yield* readPage(html);
  const reader = new ItemReader(page);
  const items: MicrodataItem[] = [];
  for (const element of page.lines.keys()) {
    if (isItem(element) && !("itemprop" in element.attribs)) items.push(yield* reader.read(element));
  }
  const atStrays = yield* strayAttributes(page, reader.used);
  const mistakes = [...page.mistakes, ...reader.mistakes, ...atStrays];
  return { items, mistakes: mistakes.sort((a, b) => a.line - b.line) };
}

interface OpenItem {
  readonly element: SourceElement;
  readonly properties: Map<string, MicrodataValue[]>;
  /** The elements that are still to be read, the next one at the end. */
  readonly pending: SourceElement[];
}

class ItemReader {
  readonly mistakes: MicrodataMistake[] = [];
  /** The elements that are a property of an item. */
  readonly used = new Set<SourceElement>();
  readonly #page: Page;
  readonly #items = new Map<SourceElement, MicrodataItem>();
  /** The item that is being read, below those that it is a part of. */
  readonly #open: OpenItem[] = [];
  readonly #isOpen = new Set<SourceElement>();
  #visits = 0;
  #textCost = 0;

  constructor(page: Page) {
    this.#page = page;
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
    const { itemid: id, itemtype } = element.attribs;
    const properties = new Map<string, MicrodataValue[]>();
    const item = { types: tokens(itemtype), ...(id !== undefined && { id }), line: this.#lineOf(element), properties };
    this.#items.set(element, item);
    elements.set(item, element);
    this.#isOpen.add(element);
    this.#open.push({ element, properties, pending: (yield* this.#propertiesOf(element)).reverse() });
    return item;
  }

  /** "The properties of an item" of the HTML Standard: the elements in tree order. */
  *#propertiesOf(root: SourceElement): SlicedWork<SourceElement[]> {
    const results: SourceElement[] = [];
    const seen = new Set([root]);
    const pending = [...this.#referred(root), ...childElements(root)].reverse();
    for (let current = pending.pop(); current; current = pending.pop()) {
      this.#visits += 1;
      if (this.#visits > maxVisits)
        throw new MicrodataError(this.#lineOf(root), "the items of the page refer to too many elements");
      if (this.#visits % 1024 === 0) yield;
      if (seen.has(current)) {
        const line = this.#page.lines.get(current);
        const which = line === undefined ? `<${current.name}>` : `<${current.name}> of line ${line}`;
        this.#add(root, `itemref leads to ${which} that belongs to the item already`);
        continue;
      }
      seen.add(current);
      if (!isItem(current)) for (const child of childElements(current).reverse()) pending.push(child);
      if (propertyNames(current).length > 0) results.push(current);
    }
    const order = (element: SourceElement): number => this.#page.order.get(element) ?? 0;
    return results.sort((a, b) => order(a) - order(b));
  }

  #referred(root: SourceElement): SourceElement[] {
    return tokens(root.attribs["itemref"]).flatMap((id) => {
      const element = this.#page.ids.get(id);
      if (element) return [element];
      this.#add(root, `itemref names ${JSON.stringify(id)}, which is the id of no element`);
      return [];
    });
  }

  *#readProperty(element: SourceElement, properties: Map<string, MicrodataValue[]>): SlicedWork<void> {
    this.used.add(element);
    if (this.#isOpen.has(element)) {
      this.#add(element, "an itemref makes this item a part of itself");
      return;
    }
    const item = isItem(element) ? (this.#items.get(element) ?? (yield* this.#begin(element))) : undefined;
    const value = item ?? this.#textOf(element);
    const line = this.#lineOf(element);
    for (const name of propertyNames(element)) {
      const values = properties.get(name);
      if (values) values.push({ value, line });
      else properties.set(name, [{ value, line }]);
    }
  }

  /** The value of a property that is not an item ("Values" of microdata); URLs as written. */
  #textOf(element: SourceElement): string {
    const name = valueAttributes.get(element.name);
    const value = name === undefined ? undefined : (element.attribs[name] ?? "");
    if (value !== undefined) return this.#counted(element, value);
    const date = element.name === "time" ? element.attribs["datetime"] : undefined;
    if (date !== undefined) return this.#counted(element, date);
    let text = "";
    for (let node = nextNode(element, element); node; node = nextNode(node, element)) {
      text += this.#counted(element, node instanceof TextNode ? node.data : "");
    }
    return text;
  }

  #counted(element: SourceElement, text: string): string {
    this.#textCost += 1 + text.length;
    if (this.#textCost <= maxTextCost) return text;
    throw new MicrodataError(this.#lineOf(element), "the properties of the page have too much text within each other");
  }

  #add(element: SourceElement, text: string): void {
    this.mistakes.push({ line: this.#lineOf(element), text });
  }

  #lineOf(element: SourceElement): number {
    return this.#page.lines.get(element) ?? 1;
  }
}

/** Attributes that say something about an item, but belong to no item. */
function* strayAttributes(page: Page, used: ReadonlySet<SourceElement>): SlicedWork<readonly MicrodataMistake[]> {
  const mistakes: MicrodataMistake[] = [];
  let looked = 0;
  for (const [element, line] of page.lines) {
    looked += 1;
    if (looked % 1024 === 0) yield;
    const { itemprop: names } = element.attribs;
    if (names !== undefined && !used.has(element))
      mistakes.push({ line, text: `itemprop="${names}" belongs to no item` });
    const stray = ["itemtype", "itemid", "itemref"].find((name) => name in element.attribs);
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

function isItem(element: SourceElement): boolean {
  return isHtmlElement(element) && "itemscope" in element.attribs;
}

function propertyNames(element: SourceElement): readonly string[] {
  return isHtmlElement(element) ? tokens(element.attribs["itemprop"]) : [];
}

/** Unique words between the white space of HTML, which is less than what JavaScript takes for white space. */
function tokens(text: string = ""): string[] {
  return [...new Set(text.split(/[\t\n\f\r ]+/))].filter(Boolean);
}

function childElements(element: SourceElement): SourceElement[] {
  return element.children.filter((node) => node instanceof SourceElement);
}
