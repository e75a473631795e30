import type { StoredEntry } from "../storage/storage.ts";

/** A column by which a listing can be sorted. */
export type ListingColumn = "name" | "size" | "modified";

/** How a listing is sorted. */
export interface ListingOrder {
  readonly column: ListingColumn;
  readonly descending: boolean;
}

type Comparison = (a: StoredEntry, b: StoredEntry) => number;

// A fixed locale: the order must not depend on the machine that the server happens to run on.
const naturally = new Intl.Collator("en", { numeric: true });

/** "img2" before "img10"; names that only a computer tells apart (two ways to write "é") have a fixed order too. */
const byName: Comparison = (a, b) => naturally.compare(a.name, b.name) || (a.name < b.name ? -1 : 1);

const comparisons: Record<ListingColumn, Comparison> = {
  name: byName,
  size: (a, b) => a.size - b.size || byName(a, b),
  modified: (a, b) => a.modified.getTime() - b.modified.getTime() || byName(a, b),
};

/** The order that a query asks for (`?sort=size&order=desc`); by name where it asks for none, or for nonsense. */
export function listingOrder(search: string): ListingOrder {
  const query = new URLSearchParams(search);
  const column = query.get("sort");
  return {
    column: column === "size" || column === "modified" ? column : "name",
    descending: query.get("order") === "desc",
  };
}

/** Compares two entries for {@link ListingOrder}: directories before files, whichever way the order runs. */
export function compareEntries({ column, descending }: ListingOrder): Comparison {
  const compare = comparisons[column];
  return (a, b) => {
    if (a.type !== b.type) return a.type === "directory" ? -1 : 1;
    return descending ? compare(b, a) : compare(a, b);
  };
}
