import { atOnce, inSlices, type SlicedWork } from "../event-loop/sliced-work.ts";
import { type MicrodataItem, type MicrodataPage, readPage } from "./microdata/microdata-page.ts";
import { readItems } from "./microdata/read-items.ts";

export {
  MicrodataError,
  type MicrodataItem,
  type MicrodataMistake,
  type MicrodataPage,
  type MicrodataValue,
} from "./microdata/microdata-page.ts";
export { hasEmptyList } from "./microdata/read-items.ts";

/**
 * Reads the top-level items of a page as the HTML Standard says ("5 Microdata"), while others have their turn. A value
 * that would make an item its own part is left out. Throws {@link MicrodataError} for a page that would take too long.
 */
export async function readMicrodataPage(html: string): Promise<MicrodataPage> {
  return inSlices(pageOfItems(html));
}

function* pageOfItems(html: string): SlicedWork<MicrodataPage> {
  return yield* readItems(yield* readPage(html));
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
