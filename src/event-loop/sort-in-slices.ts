import { TimeSlice } from "./sliced-work.ts";

/** Items sorted or merged between two looks at the clock: a millisecond of comparisons of the longest names. */
const itemsAtOnce = 64;

type Compare<T> = (a: T, b: T) => number;

/** A stable merge sort that gives way to other work every few milliseconds. */
export async function sortInSlices<T>(
  items: readonly T[],
  compare: Compare<T>,
  slice: TimeSlice = new TimeSlice(),
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

/** Merges two sorted lists; of equal items, those of the left come first. */
export async function mergeInSlices<T>(left: T[], right: T[], compare: Compare<T>, slice: TimeSlice): Promise<T[]> {
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
