import { TimeSlice } from "../event-loop/sliced-work.ts";
import { HttpError } from "../http/http-error.ts";
import type { Exchange } from "../server/exchange.ts";
import type { StoredEntry } from "../storage/storage.ts";
import { compareNames, type ListingQuery, linkToPage } from "./listing-query.ts";

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
    selected = (await mergeInSlices(selected, sorted, compareNames, slice)).slice(0, limit);
    fresh = [];
    if (selected.length === limit) last = selected.at(-1);
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

/** An empty listing takes as many names, since it takes a place of its own. */
const fewest = 1_000;

/** How many names all listings together may hold in memory. */
export class NamesBudget {
  readonly #max: number;
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Opens the account of one listing, until its exchange is over. Throws 503 `OVERLOADED` where there is no room. */
  open(exchange: Pick<Exchange, "defer">): HoldNames {
    let own = 0;
    const hold: HoldNames = (count) => {
      if (count <= own) return;
      const others = this.#held - own;
      // One that is alone may go on: it would fail again each time that the client asks again.
      if (others > 0 && others + count > this.#max) throw tooMany();
      own = count;
      this.#held = others + count;
    };
    hold(fewest);
    exchange.defer(() => {
      this.#held -= own;
      own = 0;
    });
    return hold;
  }
}

/** Called before that many names are held. Throws 503 `OVERLOADED` where there is no room for them. */
export type HoldNames = (count: number) => void;

function tooMany(): HttpError {
  const details = "Too many listings are being sent. Try again shortly, or ask for a shorter page with ?limit=.";
  return new HttpError(503, "OVERLOADED", details, { headers: { "retry-after": "1" } });
}

/** Items sorted or merged between two looks at the clock: a millisecond of comparisons of the longest names. */
const itemsAtOnce = 64;

type Slice = Pick<TimeSlice, "isOver" | "renew">;
type Compare<T> = (a: T, b: T) => number;

/** A stable merge sort that gives way to other work every few milliseconds. */
export async function sortInSlices<T>(
  items: readonly T[],
  compare: Compare<T>,
  slice: Slice = new TimeSlice(),
): Promise<T[]> {
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += itemsAtOnce) {
    runs.push(items.slice(start, start + itemsAtOnce).sort(compare));
    if (slice.isOver) await slice.renew();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(await mergeInSlices(runs[i] ?? [], runs[i + 1] ?? [], compare, slice));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergeInSlices<T>(left: T[], right: T[], compare: Compare<T>, slice: Slice): Promise<T[]> {
  if (right.length === 0) return left;
  const merged: T[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    // Both indices are below the lengths, so these are items even where T allows undefined.
    const a = left[l] as T;
    const b = right[r] as T;
    if (compare(a, b) <= 0) {
      merged.push(a);
      l += 1;
    } else {
      merged.push(b);
      r += 1;
    }
    if (merged.length % itemsAtOnce === 0 && slice.isOver) await slice.renew();
  }
  return merged.concat(left.slice(l), right.slice(r));
}
