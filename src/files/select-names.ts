import { itemsInSlices, type TimeSlice } from "../event-loop/sliced-work.ts";
import { mergeInSlices, sortInSlices } from "../event-loop/sort-in-slices.ts";
import type { StoredEntry } from "../storage/storage.ts";
import type { FileRequest } from "./file-request.ts";
import {
  compareNames,
  compareRanked,
  type ListingQuery,
  linkToPage,
  type RankedEntry,
  rankOf,
} from "./listing-query.ts";
import type { HoldNames } from "./names-budget.ts";
import { type ClientSlice, type ListedEntry, measureEntries, searchBelow, visibleNames } from "./visible-entries.ts";

/** How many names are collected before those that are not on the page are dropped again. */
const freshNames = 4_096;

export interface SelectedNames {
  readonly names: readonly StoredEntry[];
  readonly before: number;
  readonly directories: number;
  readonly files: number;
  /** Whether others follow, where they were not counted: then the numbers are those of the page. */
  readonly isFollowed?: boolean;
}

export type WantedNames = Pick<ListingQuery, "after" | "isByKey"> & { readonly limit: number };

/** The names of a page. A large directory in a store that lists in order is divided in that, not read whole. */
export async function select(
  request: FileRequest,
  query: ListingQuery & { readonly limit: number },
  hold: HoldNames,
  slice: ClientSlice,
): Promise<SelectedNames> {
  const { storage, path } = request;
  if (query.find !== undefined) return selectNames(searchBelow(request, query.find, slice), query, hold, slice);
  const isContinued = query.isByKey === true && query.after !== undefined;
  if (!storage.listsInOrder || (query.after && !isContinued)) {
    return selectNames(visibleNames(request, path, slice), query, hold, slice);
  }
  const names = visibleNames(request, path, slice, { after: query.after });
  const selected = await selectInOrder(names, { ...query, isByKey: isContinued }, hold);
  return "all" in selected ? selectNames(selected.all, query, hold, slice) : selected;
}

/** These entries, measured, in the order that is asked for. */
export async function inOrder(
  { storage, path }: FileRequest,
  names: readonly StoredEntry[],
  { order }: ListingQuery,
  slice: ClientSlice,
): Promise<AsyncGenerator<ListedEntry[]>> {
  if (order.column === "name" && !order.descending) return measureEntries(storage, path, names);
  // Only the number is kept: everything else is measured again when it is sent.
  const ranked: RankedEntry[] = [];
  for await (const batch of itemsInSlices(measureEntries(storage, path, names), slice)) {
    for (const { name, type, stat } of batch) ranked.push({ name, type, rank: rankOf(order.column, stat) });
  }
  return measureEntries(storage, path, await sortInSlices(ranked, compareRanked(order), slice));
}

/** Fewer names are worth a look at all of them: most stores give as many at once. */
const fewNames = 999;

/** A page of names in the order of the storage, or all names of a directory with few: those can be sorted. */
export async function selectInOrder(
  entries: AsyncIterable<StoredEntry>,
  { limit, after, isByKey }: WantedNames,
  hold: HoldNames,
): Promise<SelectedNames | { readonly all: readonly StoredEntry[] }> {
  const most = isByKey ? limit : Math.max(limit, fewNames);
  const found: StoredEntry[] = [];
  for await (const entry of entries) {
    hold(found.length + 1);
    found.push(entry);
    if (found.length > most) break;
  }
  if (!isByKey && found.length <= most) return { all: found };
  const names = found.slice(0, limit);
  const directories = names.filter(({ type }) => type === "directory").length;
  const files = names.length - directories;
  return { names, before: after ? 1 : 0, directories, files, isFollowed: found.length > limit };
}

/** The first names of a directory after a given one. However many there are, it holds hardly more than it gives. */
export async function selectNames(
  entries: AsyncIterable<StoredEntry> | Iterable<StoredEntry>,
  { limit, after }: WantedNames,
  hold: HoldNames,
  slice: TimeSlice,
): Promise<SelectedNames> {
  const counts = { directory: 0, file: 0 };
  let before = 0;
  let selected: StoredEntry[] = [];
  let fresh: StoredEntry[] = [];
  let last: StoredEntry | undefined;

  const sortIn = async (): Promise<void> => {
    const sorted = await sortInSlices(fresh, compareNames, slice);
    selected = (await mergeInSlices(selected, sorted, compareNames, slice)).slice(0, limit);
    fresh = [];
    if (selected.length === limit) last = selected.at(-1);
  };

  for await (const entry of entries) {
    counts[entry.type] += 1;
    if (after && compareNames(entry, after) <= 0) {
      before += 1;
      continue;
    }
    if (last && compareNames(entry, last) > 0) continue;
    hold(selected.length + fresh.length + 1);
    fresh.push(entry);
    if (fresh.length === freshNames) await sortIn();
  }
  await sortIn();
  return { names: selected, before, directories: counts.directory, files: counts.file };
}

export function linkToNext(query: ListingQuery, selected: SelectedNames): string | undefined {
  const isByKey = selected.isFollowed !== undefined;
  return hasMore(selected) ? linkToPage(query, selected.names.at(-1), isByKey) : undefined;
}

export function hasMore({ names, before, directories, files, isFollowed }: SelectedNames): boolean {
  return isFollowed ?? before + names.length < directories + files;
}
