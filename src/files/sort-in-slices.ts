import { TimeSlice } from "../event-loop/time-slice.ts";

/** So many items are sorted, or merged, without looking at the clock: well under a millisecond of comparisons. */
const itemsAtOnce = 256;

/**
 * The items in the order of `compare`, equal ones in the order they came: a merge sort that gives way to other work every
 * few milliseconds, however many items there are.
 */
export async function sortInSlices<T>(items: readonly T[], compare: (a: T, b: T) => number): Promise<T[]> {
  const slice = new TimeSlice();
  const giveWay = async () => {
    if (slice.isOver) await slice.renew();
  };

  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += itemsAtOnce) {
    runs.push(items.slice(start, start + itemsAtOnce).sort(compare));
    await giveWay();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(await merge(runs[i] ?? [], runs[i + 1] ?? [], compare, giveWay));
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Both sorted runs as one; of equal items, those of the left run come first. */
async function merge<T>(
  left: T[],
  right: T[],
  compare: (a: T, b: T) => number,
  giveWay: () => Promise<void>,
): Promise<T[]> {
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
    if (merged.length % itemsAtOnce === 0) await giveWay();
  }
  return merged.concat(left.slice(l), right.slice(r));
}
