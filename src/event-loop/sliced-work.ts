import { performance } from "node:perf_hooks";
import { setImmediate, setTimeout } from "node:timers/promises";
import { isPromise } from "node:util/types";
import { type Client, fairQueue } from "./fair-queue.ts";

/** Work in small pieces: `yield`s after a fraction of a millisecond each, or what it waits for; see {@link settled}. */
export type SlicedWork<Value> = Generator<Promise<unknown> | undefined, Value, void>;

/** Does work to its end, while everyone else waits. Throws for work that has to wait for something. */
export function atOnce<Value>(work: SlicedWork<Value>): Value {
  let piece = work.next();
  while (!piece.done) {
    if (piece.value) throw new TypeError("work that waits cannot be done at once");
    piece = work.next();
  }
  return piece.value;
}

/** Work that several ask for is done once: each of them goes on where the others are. It must not throw. */
export function sharedWork<Value>(work: SlicedWork<Value>): () => SlicedWork<Value> {
  let piece: Piece<Value> | undefined;
  return function* goOn() {
    while (!piece?.done) {
      piece = work.next();
      if (!piece.done) yield piece.value;
    }
    return piece.value;
  };
}

/** What a promise gives, for work that has to wait for it; anything else is at hand. */
export function* settled<Value>(promise: Value | Promise<Value>): SlicedWork<Value> {
  if (!isPromise(promise)) return promise;
  const outcomes: PromiseSettledResult<Value>[] = [];
  const known = Promise.allSettled([promise]).then((settled) => outcomes.push(...settled));
  for (;;) {
    yield known;
    const [outcome] = outcomes;
    if (outcome?.status === "fulfilled") return outcome.value;
    if (outcome) throw outcome.reason;
  }
}

/** Gives way to everyone else every few milliseconds. What fits into one slice returns without a promise. */
export function inSlices<Value>(work: SlicedWork<Value>): Value | Promise<Value> {
  const slice = new TimeSlice();
  const piece = oneSlice(work, slice);
  return piece.done ? piece.value : inMoreSlices(work, slice, piece);
}

async function inMoreSlices<Value>(work: SlicedWork<Value>, slice: TimeSlice, first: Piece<Value>): Promise<Value> {
  let piece = first;
  while (!piece.done) {
    await (piece.value ?? slice.renew());
    piece = oneSlice(work, slice);
  }
  return piece.value;
}

type Piece<Value> = ReturnType<SlicedWork<Value>["next"]>;

/** Goes on until the slice is over, the work has to wait, or it is done. */
function oneSlice<Value>(work: SlicedWork<Value>, slice: TimeSlice): Piece<Value> {
  let piece = work.next();
  while (!piece.done && !piece.value && !slice.isOver) piece = work.next();
  return piece;
}

/** Long enough that starting anew costs nothing, short enough that no other request feels it. */
const sliceMs = 5;
/** With less work than that in a millisecond, the event loop is idle. */
const idleMs = 0.3;

/** Measures how long one piece of work has held the event loop, and gives way to everyone else once that was enough. */
export class TimeSlice {
  #startedAt: number = performance.now();
  readonly #ms: number;

  constructor(ms: number = sliceMs) {
    this.#ms = ms;
  }

  get isOver(): boolean {
    return performance.now() - this.#startedAt >= this.#ms;
  }

  /** Lets everything run that waits for the event loop, then begins a new slice. */
  async renew(): Promise<void> {
    await setImmediate();
    this.#startedAt = performance.now();
  }

  /** Leaves the event loop to others for as long as this slice has lasted, or until they have no use for it. */
  async rest(): Promise<void> {
    const now = performance.now();
    const end = now + (now - this.#startedAt);
    for (;;) {
      const before = performance.eventLoopUtilization();
      await setTimeout(1);
      if (performance.now() >= end || performance.eventLoopUtilization(before).active < idleMs) return;
    }
  }
}

/** The items, for work with each that may take a while in all: gives way to everyone else when a slice is over. */
export async function* itemsInSlices<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  slice: TimeSlice = new TimeSlice(),
): AsyncGenerator<Item> {
  for await (const item of items) {
    if (slice.isOver) await slice.renew();
    yield item;
  }
}

/** What is done within that is not worth a place in the queue. */
const atOnceMs = 1;

/** There is one event loop, which all share. */
const inTurn = fairQueue();
let rest: Promise<void> | undefined;

/** Long work that is under way at a time: each holds what it has found so far in memory. */
const fewAtATime = fairQueue({ concurrency: 8 });

/**
 * Does the work of many clients side by side in slices of a few milliseconds: clients take turns, and all of them
 * together get at most half of the event loop while others need it. What is done in a moment is done when this returns,
 * without a promise. Work that can begin `anew` is forgotten after a turn, and waits, while much is under way.
 */
export function inFairSlices<Value>(
  work: SlicedWork<Value>,
  client: Client,
  anew?: () => SlicedWork<Value>,
): Value | Promise<Value> {
  const piece = oneSlice(work, new TimeSlice(atOnceMs));
  return piece.done ? piece.value : inMoreTurns(work, client, anew);
}

async function inMoreTurns<Value>(work: SlicedWork<Value>, client: Client, anew?: () => typeof work): Promise<Value> {
  for (;;) {
    const piece = await inOneTurn(work, client);
    if (piece.done) return piece.value;
    if (!anew) continue;
    let begun: typeof work | undefined = work;
    const value = fewAtATime(client, () => inMoreTurns(begun ?? anew(), client)); // at once where few are under way
    begun = undefined;
    return value;
  }
}

function inOneTurn<Value>(work: SlicedWork<Value>, client: Client): Promise<Piece<Value>> {
  return inTurn(client, async () => {
    await rest;
    const slice = new TimeSlice();
    try {
      return oneSlice(work, slice);
    } finally {
      rest = slice.rest();
    }
  });
}
