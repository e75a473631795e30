import { TimeSlice } from "./time-slice.ts";

/** Work in small pieces: it `yield`s after each, a fraction of a millisecond, and returns what it made. */
export type SlicedWork<Value> = Generator<void, Value, void>;

/** Says when it is time for others. */
interface Slice {
  readonly isOver: boolean;
}

/** Work that a function without `yield` needs and cannot wait for; see {@link demand} and {@link patiently}. */
class Unfinished {
  readonly work: SlicedWork<unknown>;

  constructor(work: SlicedWork<unknown>) {
    this.work = work;
  }
}

/** Does work to its end, while everyone else waits. */
export function atOnce<Value>(work: SlicedWork<Value>): Value {
  let piece = work.next();
  while (!piece.done) piece = work.next();
  return piece.value;
}

/**
 * Does work, and gives way to everyone else every few milliseconds. What fits into one slice is done when this returns,
 * without a promise.
 */
export function inSlices<Value>(work: SlicedWork<Value>): Value | Promise<Value> {
  const slice = new TimeSlice();
  const piece = oneSlice(work, slice);
  return piece.done ? piece.value : inMoreSlices(work, slice);
}

async function inMoreSlices<Value>(work: SlicedWork<Value>, slice: TimeSlice): Promise<Value> {
  for (;;) {
    await slice.renew();
    const piece = oneSlice(work, slice);
    if (piece.done) return piece.value;
  }
}

/** Goes on until the slice is over or the work is done. */
export function oneSlice<Value>(work: SlicedWork<Value>, slice: Slice): IteratorResult<void, Value> {
  let piece = work.next();
  while (!piece.done && !slice.isOver) piece = work.next();
  return piece;
}

/**
 * The result of work that a plain function needs: of one piece, at once. More than that is thrown to the nearest
 * {@link patiently}, which does it and calls the function again; so the work must remember its result by then.
 */
export function demand<Value>(work: SlicedWork<Value>): Value {
  const piece = work.next();
  if (piece.done) return piece.value;
  throw new Unfinished(work);
}

/** Calls a function, and again after each work that it demanded and that took more than one piece. */
export function* patiently<Value>(ask: () => Value): SlicedWork<Value> {
  for (;;) {
    try {
      return ask();
    } catch (thrown) {
      if (!(thrown instanceof Unfinished)) throw thrown;
      yield;
      yield* thrown.work;
    }
  }
}
