import { randomUUID } from "node:crypto";
import type { SelectedElements } from "./access.ts";
import { notify } from "./logger.ts";

/** What happened to a file or its elements. */
export type ChangeKind =
  | "created"
  | "replaced"
  | "appended"
  | "deleted"
  | "elements-replaced"
  | "elements-appended"
  | "elements-deleted";

/** A committed change; published once, in the order of the commits. */
export interface Change {
  /** Counts up by one from 1 for each feed. */
  readonly id: number;
  readonly kind: ChangeKind;
  /** Method of the request that made the change. */
  readonly method: string;
  readonly host: string;
  /** Canonical path of what changed. */
  readonly path: string;
  /** Selector of the changed elements, for the `elements-` kinds. */
  readonly selector?: string;
  /** How many elements changed. */
  readonly matches?: number;
  /** What the request supplied, for replaced and appended elements. */
  readonly html?: string;
  /** The elements that were replaced or deleted, with the option `recordRemoved`. Clients do not get it. */
  readonly removed?: string;
  /** Entity tag of the file after the change; none for a deleted one. */
  readonly etag?: string;
  /** Name of the user who made it, where there was authentication. */
  readonly user?: string;
  readonly requestId: string;
  /** ISO 8601, UTC. */
  readonly time: string;
}

/** A {@link Change} before the feed has numbered it. */
export type NewChange = Omit<Change, "id" | "time">;

/** Where a change comes from; not for every listener to pass on. */
export interface ChangeOrigin {
  /** Name of the host in the configuration; `change.host` may be an alias. */
  readonly site: string;
  /** The changed elements, as rules by elements see them. Not to be kept: they hold whole documents in memory. */
  readonly elements?: ChangedElements | undefined;
}

/** The elements that an edit changed. Who may not read both of them must not hear of the edit. */
export interface ChangedElements {
  /** What the selector selected. */
  readonly before: SelectedElements;
  /** What stands in their place now. */
  readonly after: SelectedElements;
}

/** Called with each change, right after its commit and before the client has the reply. */
export type ChangeListener = (change: Change, origin: ChangeOrigin) => void;

/** A change of the past. */
export interface PastChange {
  readonly change: Change;
  /** See {@link ChangeOrigin}. */
  readonly site: string;
}

/** How many changes are remembered for those who come back, and how many characters of HTML they may have together. */
const maxPast = 1_000;
const maxPastLength = 32 * 1024 * 1024;

/** How many changes an iterator may lag behind before it is ended with an error instead of filling the memory. */
const maxPending = 10_000;

type Step = IteratorResult<Change, undefined>;
const done: Step = { done: true, value: undefined };

/** All changes on a server, in order: `for await (const change of files.changes)`. */
export class ChangeFeed implements AsyncIterable<Change> {
  readonly #listeners = new Set<ChangeListener>();
  readonly #iterations = new Set<() => void>();
  readonly #onError: (error: unknown) => void;
  /** Tells this feed from that of another run of the server, whose ids begin at 1 as well. */
  readonly name: string = randomUUID().slice(0, 8);
  readonly #past: PastChange[] = [];
  #pastLength = 0;
  #lastId = 0;
  #isEnded = false;
  #congestion: Promise<void> | undefined;

  /** `onError` gets what a listener throws; the other listeners are called all the same. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Calls `listener` after each commit, synchronously. Returns a function that ends the subscription. */
  subscribe(listener: ChangeListener): () => void {
    const subscription: ChangeListener = (change, origin) => listener(change, origin); // one may subscribe twice
    this.#listeners.add(subscription);
    return () => this.#listeners.delete(subscription);
  }

  /** Id of the latest change; 0 before the first. */
  get lastId(): number {
    return this.#lastId;
  }

  /** Numbers a change and tells everyone. */
  publish(change: NewChange, origin: ChangeOrigin = { site: change.host }): void {
    const published: Change = { ...change, id: ++this.#lastId, time: new Date().toISOString() };
    this.#remember({ change: published, site: origin.site });
    for (const listener of this.#listeners) notify(() => listener(published, origin), this.#onError);
  }

  /** What requests that made a change wait for before their reply, while changes are made faster than they are delivered. */
  get congestion(): Promise<void> | undefined {
    return this.#congestion;
  }

  /** Has them wait; for a listener that cannot keep up. */
  slowDown(until: Promise<void>): void {
    const all = Promise.all([this.#congestion, until]).then(() => {
      if (this.#congestion === all) this.#congestion = undefined;
    });
    this.#congestion = all;
  }

  #remember(past: PastChange): void {
    this.#past.push(past);
    this.#pastLength += lengthOf(past);
    // More than is promised, so that a reader does not fall behind with the next change.
    while (this.#past.length > 2 * maxPast || this.#pastLength > maxPastLength) {
      this.#pastLength -= lengthOf(this.#past.shift());
    }
  }

  /**
   * The changes after the one with this id, in order; `"gap"` where some of them are no longer known, or where this feed
   * has never had such an id. The last 1,000 are, fewer where they have much HTML.
   */
  since(id: number): readonly PastChange[] | "gap" {
    const missed = this.#lastId - id;
    if (!Number.isInteger(id) || id < 0 || missed < 0 || missed > Math.min(this.#past.length, maxPast)) return "gap";
    return missed === 0 ? [] : this.#past.slice(-missed);
  }

  /** Ends every iteration, once it has had what was published; for the server itself. */
  end(): void {
    this.#isEnded = true;
    for (const endIteration of this.#iterations) endIteration();
  }

  /**
   * Changes from the moment of the call on, until the server is closed. An iterator that falls 10,000 changes behind gives
   * those, and then throws.
   */
  [Symbol.asyncIterator](): AsyncIterator<Change, undefined> {
    const pending: Change[] = [];
    const waiting: ((step: Step) => void)[] = [];
    let state: "open" | "lagging" | "done" = this.#isEnded ? "done" : "open";

    const unsubscribe = this.subscribe((change) => {
      const resolve = waiting.shift();
      if (resolve) resolve({ done: false, value: change });
      else if (pending.length < maxPending) pending.push(change);
      else end("lagging");
    });
    const end = (reason: "lagging" | "done"): void => {
      state = reason;
      unsubscribe();
      this.#iterations.delete(endIteration);
      for (const resolve of waiting.splice(0)) resolve(done);
    };
    const endIteration = (): void => end("done");
    this.#iterations.add(endIteration);

    return {
      next: async () => {
        const change = pending.shift();
        if (change) return { done: false, value: change };
        if (state === "open") return new Promise((resolve) => waiting.push(resolve));
        const wasLagging = state === "lagging";
        state = "done";
        if (wasLagging) throw new Error(`this iteration fell ${maxPending} changes behind; changes were lost`);
        return done;
      },
      return: async () => {
        pending.length = 0;
        end("done");
        return done;
      },
    };
  }
}

function lengthOf(past: PastChange | undefined): number {
  return past?.change.html?.length ?? 0;
}
