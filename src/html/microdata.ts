import { TimeSlice } from "../event-loop/sliced-work.ts";
import { type MicrodataMistake, readPage } from "./microdata/microdata-page.ts";
import { readItems } from "./microdata/read-items.ts";

export { MicrodataError, type MicrodataMistake } from "./microdata/microdata-page.ts";
export { hasEmptyList, liesIn, withElementOf } from "./microdata/read-items.ts";

/** An item of HTML microdata. */
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

/** One value of a property. */
export interface MicrodataValue {
  /**
   * An item, or text: what the element's attribute (`content`, `href`, ...) has, or its text content. White space is
   * kept and URLs are as they are written; resolving them against the place of the file is up to the caller.
   */
  readonly value: string | MicrodataItem;
  /** Line of the element that has the value, from 1. */
  readonly line: number;
}

/** What a page says in microdata. */
export interface MicrodataPage {
  /** The top-level items: those that are not the property of another item. */
  readonly items: readonly MicrodataItem[];
  /** Items with `itemprop` that are the property of no item; which makes mistakes of them, and of what is in them. */
  readonly strays: readonly MicrodataItem[];
  readonly strayMistakes: ReadonlySet<MicrodataMistake>;
  /** What is written down but belongs to no item, and references that lead nowhere or in a circle; by line. */
  readonly mistakes: readonly MicrodataMistake[];
}

/**
 * Reads the top-level items of a page as the HTML Standard says ("5 Microdata"), while others have their turn. A value
 * that would make an item its own part is left out. Throws {@link MicrodataError} for a page that would take too long.
 */
export async function readMicrodataPage(html: string): Promise<MicrodataPage> {
  const slice = new TimeSlice();
  const reading = readItems(await readPage(html));
  let step = reading.next();
  while (!step.done) {
    if (slice.isOver) await slice.renew();
    step = reading.next();
  }
  return step.value;
}

/** Every item once, whether it stands alone or is the property of another one. */
export function allItems(items: Iterable<MicrodataItem>): MicrodataItem[] {
  const found = new Set(items);
  for (const { properties } of found) {
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
