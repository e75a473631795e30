import type { StoredEntry, StoredStat } from "../storage/storage.ts";

export type ListingColumn = "name" | "size" | "modified";

export interface ListingOrder {
  readonly column: ListingColumn;
  readonly descending: boolean;
}

/** A name with the number that it is sorted by: a size, or a time. */
export interface RankedEntry extends StoredEntry {
  readonly rank: number;
}

// A fixed locale: the order must not depend on the machine that the server happens to run on.
const naturally = new Intl.Collator("en", { numeric: true });

export function listingOrder(query: URLSearchParams): ListingOrder {
  const column = query.get("sort");
  return {
    column: column === "size" || column === "modified" ? column : "name",
    descending: query.get("order") === "desc",
  };
}

/** The order of a directory: directories before files, each in natural order of their names. */
export function compareNames(a: StoredEntry, b: StoredEntry): number {
  return directoriesFirst(a, b) || byName(a.name, b.name);
}

export function rankOf(column: ListingColumn, { size, modified }: StoredStat): number {
  if (column === "name") return 0;
  return column === "size" ? size : modified.getTime();
}

export function compareRanked({ descending }: ListingOrder): (a: RankedEntry, b: RankedEntry) => number {
  const compare = (a: RankedEntry, b: RankedEntry): number => a.rank - b.rank || byName(a.name, b.name);
  return (a, b) => directoriesFirst(a, b) || (descending ? compare(b, a) : compare(a, b));
}

function directoriesFirst(a: StoredEntry, b: StoredEntry): number {
  if (a.type === b.type) return 0;
  return a.type === "directory" ? -1 : 1;
}

/** "img2" before "img10"; names that only a computer tells apart (two ways to write "é") have a fixed order, too. */
function byName(a: string, b: string): number {
  if (a === b) return 0;
  return naturally.compare(a, b) || (a < b ? -1 : 1);
}
