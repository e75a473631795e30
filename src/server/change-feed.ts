import { randomUUID } from "node:crypto";
import type { Edit } from "../html/edit/edits.ts";
import type { Access, ChangedElements } from "./access.ts";
import { notify } from "./logger.ts";

/** One of several edits that were made together: as it was asked for, and how many elements it was about. */
export type ChangedByEdit = Edit & { readonly matches: number };

/** What every change has. */
interface AnyChange {
  /** Counts up by one from 1 for each feed. */
  readonly id: number;
  /** Method of the request that made the change. */
  readonly method: string;
  readonly host: string;
  /** Canonical path of what changed. */
  readonly path: string;
  /** Name of the user who made it, where there was authentication. */
  readonly user?: string;
  readonly requestId: string;
  /** ISO 8601, UTC. */
  readonly time: string;
}

/** What only some changes have. Clients that may not know what a change of elements was get it without its content. */
interface Details {
  /** Entity tag of the file after the change. */
  readonly etag?: string;
  /** Bytes of the file after the change; not for clients. Missing if the server of the change did not tell it. */
  readonly size?: number;
  /** Selector of the changed elements. */
  readonly selector?: string;
  /** How many elements changed. */
  readonly matches?: number;
  /** What the request supplied, for replaced and appended elements. */
  readonly html?: string;
  /** The edits in their order; those that changed nothing are left out. */
  readonly edits?: readonly ChangedByEdit[];
}

type ChangeOf<Kind extends string, Names extends keyof Details> = AnyChange & { readonly kind: Kind } & Pick<
    Details,
    Names
  > & { readonly [Name in Exclude<keyof Details, Names>]?: never };

/** A change of a whole file. */
export type FileChange = ChangeOf<"created" | "replaced" | "appended", "etag" | "size">;

/** The end of a file. */
export type FileDeletion = ChangeOf<"deleted", never>;

/** A change of elements by one selector. */
export type ElementsChange = ChangeOf<
  "elements-replaced" | "elements-appended" | "elements-deleted",
  Exclude<keyof Details, "edits">
>;

/** A list of edits, made as one change. */
export type EditsChange = ChangeOf<"elements-edited", "etag" | "size" | "edits">;

/** A committed change; published once, in the order of the commits. Its `kind` tells which fields it can have. */
export type Change = FileChange | FileDeletion | ElementsChange | EditsChange;

/** What happened to a file or its elements. */
export type ChangeKind = Change["kind"];

/** `Omit` for each member of a union. */
type Less<Type, Names extends string> = Type extends unknown ? Omit<Type, Names> : never;

/** A {@link Change} before the feed has numbered it. */
export type NewChange = Less<Change, "id" | "time">;

/** What an operation says of a change; who made it and how, the exchange knows. */
export type MadeChange = Less<NewChange, "method" | "host" | "user" | "requestId">;

/** A change that has happened, and has no number yet. */
export type UnnumberedChange = Less<Change, "id">;

/** Where a change comes from; not for every listener to pass on. */
export interface ChangeOrigin {
  /** Name of the host in the configuration; `change.host` may be an alias. */
  readonly site: string;
  /**
   * The changed elements, as rules by elements see them; only if a client is judged by them. Not to be kept: they hold
   * whole documents in memory. Those of each edit of `change.edits`, otherwise of the one that it is.
   */
  readonly elements?: readonly ChangedElements[] | undefined;
  /** Whether it was noticed on the disk: other servers may notice it, too. */
  readonly isNoticed?: boolean;
  /** Entity tag of the file before the change, `""` if there was no file, where that is known. */
  readonly follows?: string | undefined;
}

/** Called with each change, right after its commit and before the client has the reply. */
export type ChangeListener = (change: Change, origin: ChangeOrigin) => void;

/**
 * Whether a listener needs the changed elements of an edit at a path. A list: it asks only whether these clients may
 * read them, which is found out ahead, while the page is as it was.
 */
export type JudgesElements = (path: string) => boolean | readonly Access[];

/** A change of the past. */
export interface PastChange {
  readonly change: Change;
  /** See {@link ChangeOrigin}. */
  readonly site: string;
}

/** A moment of a feed. The ids of one feed mean nothing in another. */
export interface FeedPosition {
  readonly name: string;
  /** Id of the latest change; 0 before the first. */
  readonly lastId: number;
}

/** A feed goes on under another name, with other ids. */
export interface FeedRestart {
  readonly to: FeedPosition;
  /** Whether changes may have been missed. */
  readonly hasGap: boolean;
}

type Restarted = (restart: FeedRestart) => void;

/** Gives the changes of several servers one order. The {@link ChangeFeed} of each server is one end of it. */
export interface SharedFeed {
  /** Called once, before the first change. Resolves even if the other servers cannot be reached, and keeps trying. */
  start(end: FeedEnd): Promise<void>;
  /** Takes a change of this server, which comes back through the end, in the order of all servers. */
  send(change: UnnumberedChange, origin: ChangeOrigin): void;
  /** Sends the others what they have not had yet, if that is possible at once, and disconnects. */
  close(): Promise<void>;
}

/** A server's feed, as a {@link SharedFeed} sees it. */
export interface FeedEnd {
  /** The next change, which gets the next number. */
  tell(change: UnnumberedChange, origin: ChangeOrigin): void;
  /** Goes on at another position; `past` are changes before it. */
  restart(to: FeedPosition, past: readonly PastChange[], hasGap: boolean): void;
  report(error: unknown): void;
}

/** Changes that are remembered for clients that reconnect, and characters of HTML that these may have together. */
export const maxPast = 1_000;
const maxPastLength = 32 * 1024 * 1024;

/** How many changes an iterator may lag behind before it is ended with an error instead of filling the memory. */
const maxPending = 10_000;

/** Notes a change before others hear of it; the reply to its request waits for the promise. */
export type ChangeRecorder = (change: UnnumberedChange, origin: ChangeOrigin) => Promise<void> | undefined;

/** All changes on a server, in order: `for await (const change of files.changes)`. */
export class ChangeFeed implements AsyncIterable<Change> {
  readonly #listeners = new Map<ChangeListener, { judges: JudgesElements; restarted: Restarted | undefined }>();
  readonly #iterations = new Set<() => void>();
  readonly #onError: (error: unknown) => void;
  #name: string = newFeedName();
  #past: PastChange[] = [];
  #pastLength = 0;
  #lastId = 0;
  #shared: SharedFeed | undefined;
  #isEnded = false;
  #congestion: Promise<void> | undefined;
  readonly #recorders = new Set<ChangeRecorder>();

  /** `onError` gets what a listener throws; the other listeners are called all the same. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Tells this feed from that of another run of the server, whose ids begin at 1 as well. */
  get name(): string {
    return this.#name;
  }

  /**
   * Calls `listener` after each commit, or when a shared feed gives the change its place; returns how to end that.
   * `restarted` is called when a shared feed begins ids anew. `judges` says whether the listener needs
   * {@link ChangeOrigin.elements}, which makes edits slower; by default where it takes an origin.
   */
  subscribe(
    listener: ChangeListener,
    restarted?: Restarted,
    judges: JudgesElements = () => listener.length > 1,
  ): () => void {
    const subscription: ChangeListener = (change, origin) => listener(change, origin); // one may subscribe twice
    this.#listeners.set(subscription, { judges, restarted });
    return () => void this.#listeners.delete(subscription);
  }

  /** Exchanges changes with other servers. Called once, by the server itself. */
  async share(shared: SharedFeed): Promise<void> {
    await shared.start({
      tell: (change, origin) => this.#tell({ ...change, id: this.#lastId + 1 }, origin),
      restart: (to, past, hasGap) => this.#restart(to, past, hasGap),
      report: this.#onError,
    });
    this.#shared = shared;
  }

  /** Whether a listener needs the elements that an edit changes; or only whether these clients may read them. */
  judgesElements(path: string): boolean | readonly Access[] {
    const judging = [...this.#listeners.values()].map(({ judges }) => judges(path));
    if (judging.includes(true)) return true;
    const readers = judging.flatMap((each) => (typeof each === "object" ? each : []));
    return readers.length > 0 && readers;
  }

  /** Id of the latest change; 0 before the first. */
  get lastId(): number {
    return this.#lastId;
  }

  /** @internal Notes each change of this server, in commit order for each file; returns how to end that. */
  record(recorder: ChangeRecorder): () => void {
    this.#recorders.add(recorder);
    return () => void this.#recorders.delete(recorder);
  }

  /** @internal Numbers a change and tells the listeners; a shared feed does both for all servers. */
  publish(change: NewChange, origin: ChangeOrigin = { site: change.host }): void {
    const dated = { ...change, time: new Date().toISOString() };
    for (const record of this.#recorders) {
      const noted = record(dated, origin);
      if (noted) this.slowDown(noted);
    }
    if (this.#shared) this.#shared.send(dated, origin);
    else this.#tell({ ...dated, id: this.#lastId + 1 }, origin);
  }

  #tell(change: Change, origin: ChangeOrigin): void {
    this.#lastId = change.id;
    this.#remember({ change, site: origin.site });
    for (const listener of this.#listeners.keys()) notify(() => listener(change, origin), this.#onError);
  }

  #restart(to: FeedPosition, past: readonly PastChange[], hasGap: boolean): void {
    this.#name = to.name;
    this.#lastId = to.lastId;
    this.#past = [];
    this.#pastLength = 0;
    for (const each of past) this.#remember(each);
    for (const { restarted } of this.#listeners.values()) {
      if (restarted) notify(() => restarted({ to, hasGap }), this.#onError);
    }
  }

  /** Requests that made a change wait for this before their reply, if changes are made faster than delivered. */
  get congestion(): Promise<void> | undefined {
    return this.#congestion;
  }

  /** Makes these requests wait; for a listener that cannot keep up. */
  slowDown(until: Promise<void>): void {
    const all = (this.#congestion ? Promise.all([this.#congestion, until]) : until).then(() => {
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

  /** The changes after this id; `"gap"` where some are no longer known. The last 1,000 are, fewer with much HTML. */
  since(id: number): readonly PastChange[] | "gap" {
    const missed = this.#lastId - id;
    if (!Number.isInteger(id) || id < 0 || missed < 0 || missed > Math.min(this.#past.length, maxPast)) return "gap";
    return missed === 0 ? [] : this.#past.slice(-missed);
  }

  /** @internal Ends every iteration, once it has had what was published; for the server itself. */
  async end(): Promise<void> {
    if (this.#shared) await this.#shared.close();
    this.#shared = undefined;
    this.#isEnded = true;
    for (const endIteration of this.#iterations) endIteration();
  }

  /**
   * Changes from the moment of the call on, until the server is closed. An iterator that falls 10,000 changes behind
   * throws.
   */
  [Symbol.asyncIterator](): AsyncIterator<Change, undefined> {
    let leave = (): void => {};
    const start = (controller: ReadableStreamDefaultController<Change>): void => {
      const end = (): void => {
        leave();
        controller.close();
      };
      const unsubscribe = this.subscribe((change) => {
        if (controller.desiredSize) controller.enqueue(change);
        else {
          leave();
          controller.error(new Error(`this iteration fell ${maxPending} changes behind; changes were lost`));
        }
      });
      leave = () => {
        unsubscribe();
        this.#iterations.delete(end);
      };
      this.#iterations.add(end);
      if (this.#isEnded) end();
    };
    const changes = new ReadableStream({ start, cancel: () => leave() }, { highWaterMark: maxPending });
    return changes[Symbol.asyncIterator]();
  }
}

function lengthOf(past: PastChange | undefined): number {
  const { html = "", edits } = past?.change ?? {};
  return html.length + (edits ? JSON.stringify(edits).length : 0);
}

/** Eight characters that no other feed has. */
export function newFeedName(): string {
  return randomUUID().slice(0, 8);
}
