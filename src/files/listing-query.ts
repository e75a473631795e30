import { forbiddenInName, invalidQuery, onlyValue } from "../http/request-target.ts";
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

/** Longest page of a listing, in entries. */
export const maxLimit = 100_000;

export interface ListingQuery {
  readonly order: ListingOrder;
  /** Most entries of the page; `undefined` where the client leaves it to the server. */
  readonly limit: number | undefined;
  /** The last entry of the page before, which need not be there any more; `undefined` for the first page. */
  readonly after: StoredEntry | undefined;
  /** Whether pages are divided in the order of the storage, where that has one. */
  readonly isByKey?: boolean;
  /** What names have in them, those in folders below as well; entries are then named by their paths from here. */
  readonly find?: string;
}

/** Reads `?limit=&after=&by=&sort=&order=&find=`, leaves others alone. Throws 400 `INVALID_QUERY` for a wrong one. */
export function readListingQuery(search: string): ListingQuery {
  const parameters = new URLSearchParams(search);
  const limit = onlyValue(parameters, "limit");
  const after = onlyValue(parameters, "after");
  const find = onlyValue(parameters, "find")?.trim();
  const column = parameters.get("sort");
  return {
    order: {
      column: column === "size" || column === "modified" ? column : "name",
      descending: parameters.get("order") === "desc",
    },
    limit: limit === undefined ? undefined : limitOf(limit),
    after: after === undefined ? undefined : entryOf(after, find ? "/" : ""),
    ...(find && { find }),
    ...(parameters.get("by") === "key" && { isByKey: true }),
  };
}

export function asksFor(what: "zip" | "signin", search: string): boolean {
  return search !== "" && new URLSearchParams(search).has(what);
}

export function linkToPage(query: ListingQuery, after: StoredEntry | undefined, isByKey = false): string {
  return linkTo({ ...query, after, isByKey }, query.order.column !== "name" || query.order.descending);
}

export function linkTo({ limit, after, isByKey, order, find }: ListingQuery, saysOrder: boolean): string {
  const parameters = new URLSearchParams();
  if (limit !== undefined) parameters.set("limit", String(limit));
  if (after !== undefined) parameters.set("after", after.name + (after.type === "directory" ? "/" : ""));
  if (after !== undefined && isByKey) parameters.set("by", "key");
  if (find !== undefined) parameters.set("find", find);
  if (saysOrder) {
    parameters.set("sort", order.column);
    parameters.set("order", order.descending ? "desc" : "asc");
  }
  return parameters.size === 0 ? "./" : `?${parameters}`;
}

function limitOf(text: string): number {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > maxLimit) throw invalidQuery("limit", `a number from 1 to ${maxLimit}`);
  return limit;
}

/** Directories come first, so a name alone would not say where in the order it stands: theirs end in `/`. */
function entryOf(text: string, separator: string): StoredEntry {
  const isDirectory = text.endsWith("/");
  const name = isDirectory ? text.slice(0, -1) : text;
  if (name === "" || forbiddenInName.test(name.replaceAll(separator, ""))) {
    throw invalidQuery("after", "the name of an entry, with / behind it for a directory");
  }
  return { name, type: isDirectory ? "directory" : "file" };
}

/** Made for the first listing. Its locale is fixed: the order must not depend on the machine of the server. */
let naturally: Intl.Collator | undefined;

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
  naturally ??= new Intl.Collator("en", { numeric: true });
  return naturally.compare(a, b) || (a < b ? -1 : 1);
}
