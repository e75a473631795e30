import type { StoredEntry } from "../storage/storage.ts";
import { compareNames } from "./listing-order.ts";
import { type ListingQuery, linkToPage } from "./listing-query.ts";
import type { HoldNames } from "./names-budget.ts";
import { mergeInSlices, type Slice, sortInSlices } from "./sort-in-slices.ts";

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

export interface WantedNames {
  readonly limit: number;
  /** The last entry of the page before. */
  readonly after: StoredEntry | undefined;
}

/** Fewer names are worth a look at all of them: most stores give as many at once. */
const fewNames = 999;

/** A page of names in the order of the storage, or all names of a directory with few: those can be sorted. */
export async function selectInOrder(
  entries: AsyncIterable<StoredEntry>,
  { limit, after, isByKey }: WantedNames & { readonly isByKey?: boolean },
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
  slice: Slice,
): Promise<SelectedNames> {
  const counts = { directory: 0, file: 0 };
  let before = 0;
  let selected: StoredEntry[] = [];
  let fresh: StoredEntry[] = [];
  let last: StoredEntry | undefined;

  const sortIn = async (): Promise<void> => {
    const sorted = await sortInSlices(fresh, compareNames, slice);
    selected = await mergeInSlices(selected, sorted, compareNames, slice);
    fresh = [];
    if (selected.length < limit) return;
    selected.length = limit;
    last = selected.at(-1);
  };

  for await (const entry of entries) {
    // A storage that has everything in memory yields without ever waiting.
    if (slice.isOver) await slice.renew();
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
