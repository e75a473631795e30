import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { inTime } from "../event-loop/in-time.ts";
import {
  type ChangeOrigin,
  type FeedEnd,
  maxPast,
  newFeedName,
  type PastChange,
  type SharedFeed,
  type UnnumberedChange,
} from "../server/change-feed.ts";
import { sharedFeeds } from "../server/shared-services.ts";
import { ChangeStream, isAfter, numbered, type StreamEntry } from "./change-stream.ts";
import { destroy, type RedisClient, RedisConnection, RedisError, type RedisSource } from "./connection.ts";
import { Outbox, type Waiting } from "./outbox.ts";

/** Options for {@link redisFeed}. */
export interface RedisFeedOptions {
  /** Name of the stream; servers with the same one share their changes. @default "filement:feed" */
  readonly name?: string | undefined;
  /** Changes that Redis keeps for those who come back, roughly; at least 1,000. @default 10000 */
  readonly maxChanges?: number | undefined;
}

/** Times in milliseconds; tests have shorter ones. */
export interface FeedTimes {
  /** How long a change waits for Redis before it is told here alone. */
  readonly patience: number;
  /** How long a read waits for the next change, after which the stream is looked at. */
  readonly block: number;
  /** After how long a server that said nothing is taken for dead. */
  readonly lease: number;
  /** Between two attempts to connect, or to send. @default 200 */
  readonly retry?: number;
}

const usualTimes: FeedTimes = { patience: 1_000, block: 2_000, lease: 15_000 };
/** How long start and end wait for Redis. */
const startMs = 5_000;
const closeMs = 1_000;

/**
 * Gives the changes of all servers that name the same Redis one order, through a stream. Each server's web sockets, event streams
 * and `files.changes` hear all of them, and a client that comes back to another server gets what it missed.
 *
 * While Redis is away each server tells its own changes, under ids of its own; when it is back, clients are told of a gap.
 *
 * @example createFileServer({ root: "site", feed: redisFeed("redis://redis.internal"), plugins: [webSocket()] });
 */
export function redisFeed(source: RedisSource, options: RedisFeedOptions = {}): SharedFeed {
  return new RedisFeed(source, options, usualTimes);
}

/** See {@link redisFeed}; with times that a test chooses. */
export class RedisFeed implements SharedFeed {
  readonly #connection: RedisConnection;
  readonly #stream: ChangeStream;
  readonly #outbox: Outbox;
  readonly #times: Required<FeedTimes>;
  readonly #over = new AbortController();
  #end: FeedEnd | undefined;
  /** The last entry that was told here; none before the first connection. */
  #position: StreamEntry | undefined;
  /** Whether changes are told under ids of this server, and not those of the stream. */
  #isAlone = true;
  /** Whether changes of a server that is alone wait, because it is about to join the others. */
  #isHolding = false;
  #joinedAt = 0;
  #impatience: NodeJS.Timeout | undefined;
  #presence: NodeJS.Timeout | undefined;
  #client: RedisClient | undefined;
  #lastError: unknown;
  #attempted: () => void = () => {};

  constructor(source: RedisSource, options: RedisFeedOptions, times: FeedTimes) {
    const { name = "filement:feed", maxChanges = 10_000 } = options;
    this.#connection = RedisConnection.to(source);
    this.#stream = new ChangeStream(this.#connection, name, randomUUID(), Math.max(maxPast, maxChanges));
    this.#times = { retry: 200, ...times };
    this.#outbox = new Outbox(this.#stream, this.#times.retry, this.#over.signal);
  }

  async start(end: FeedEnd): Promise<void> {
    if (this.#end) throw new Error("redisFeed: one feed was given to two servers; expected one for each");
    this.#end = end;
    this.#connection.hold();
    const attempted = new Promise<void>((resolve) => {
      this.#attempted = resolve;
    });
    sharedFeeds.add(this);
    void this.#read(end);
    await inTime(attempted, startMs, () => {});
    if (this.#isAlone) end.report(this.#aloneError());
    const { lease } = this.#times;
    this.#presence = setInterval(() => {
      const isLongThere = !this.#isAlone && performance.now() - this.#joinedAt > lease;
      this.#showPresence(isLongThere).catch(() => {}); // the reader notices, too
    }, lease / 3).unref();
  }

  send(change: UnnumberedChange, origin: ChangeOrigin): void {
    if (this.#outbox.isFull && this.#waitsForOrder) this.#tellWaiting(); // before the oldest is dropped
    const own = this.#outbox.push(change, origin);
    if (this.#waitsForOrder) this.#watchTime();
    else this.#tellAlone(own);
  }

  /** Whether changes of this server wait for their place in the order of all servers. */
  get #waitsForOrder(): boolean {
    return !this.#isAlone || this.#isHolding;
  }

  /** The others hear of everything within a second; where that fails, they notice that this server has gone without a word. */
  async close(): Promise<void> {
    await inTime(this.#outbox.empty(), closeMs, () => {});
    this.#over.abort();
    sharedFeeds.delete(this);
    clearInterval(this.#presence);
    clearTimeout(this.#impatience);
    this.#tellWaiting();
    const unheard = this.#outbox.unstored;
    if (unheard > 0) this.#end?.report(new RedisError(`${unheard} changes were not told to the other servers`));
    else await this.#stream.leave().catch(() => {}); // then they see it by its silence
    if (this.#client) destroy(this.#client);
    this.#connection.release();
  }

  /** Seconds that a change of this server takes, or waits by now, until it has its place in the order. */
  get lagSeconds(): number {
    return this.#outbox.lagSeconds;
  }

  /** Follows the stream, over one connection after the other. */
  async #read(end: FeedEnd): Promise<void> {
    while (!this.#over.signal.aborted) {
      try {
        this.#client = await this.#connection.dedicated();
        await this.#follow(this.#client, end);
      } catch (error) {
        this.#lastError = error;
      }
      if (this.#client) destroy(this.#client);
      if (this.#isAlone) this.#tellWaiting();
      this.#attempted();
      await pause(this.#times.retry, undefined, { signal: this.#over.signal }).catch(() => {}); // closed
    }
  }

  async #follow(client: RedisClient, end: FeedEnd): Promise<void> {
    if (!this.#isAlone) await this.#verify(client, end);
    while (!this.#over.signal.aborted) {
      if (this.#isAlone || !this.#position) await this.#join(client, end);
      this.#attempted();
      const { id = "" } = this.#position ?? {};
      const entries = await this.#stream.next(client, id, this.#times.block);
      if (entries.length === 0) await this.#verify(client, end);
      for (const entry of entries) if (!this.#isAlone) this.#take(entry, end);
    }
  }

  /** Tells of the next entry. */
  #take(entry: StreamEntry, end: FeedEnd): void {
    const before = this.#position;
    this.#position = entry;
    const { feed, number, sender, site, change } = entry;
    if (!change) {
      end.restart({ name: feedName(feed), lastId: number }, [], true); // a new feed
      this.#showPresence(false).catch(() => {}); // a Redis that was emptied knows no server
      return;
    }
    if (feed !== before?.feed || number !== before.number + 1) {
      end.restart({ name: feedName(feed), lastId: number - 1 }, [], true);
      end.report(new RedisError(`${this.#connection.name} no longer has some of the changes`));
    }
    const own = this.#outbox.take(sender);
    end.tell(own?.change ?? change, own?.origin ?? { site });
  }

  /** Makes sure that the stream still has what was told of it: a Redis may come back empty, or with less than it had. */
  async #verify(client: RedisClient, end: FeedEnd): Promise<void> {
    const position = this.#position;
    if (!position || this.#isAlone) return;
    const [found] = await this.#stream.between(client, position.id, position.id, 1);
    if (found?.mark === position.mark) return;
    const [first] = await this.#stream.between(client, "-", "+", 1);
    const isTrimmed = first !== undefined && isAfter(first.id, position.id);
    // Others that have told the same may not have noticed: all begin anew.
    if (!isTrimmed) await this.#stream.begin(position.feed);
    await this.#join(client, end);
  }

  /** Says that this server is there; `looks`: and sees whether all others are. */
  #showPresence(looks: boolean): Promise<string> {
    return this.#stream.showPresence(this.#times.lease, { wasThere: this.#position !== undefined, looks });
  }

  /** Goes over to the order of all servers, at its present end. */
  async #join(client: RedisClient, end: FeedEnd): Promise<void> {
    const outbox = this.#outbox;
    let history: readonly StreamEntry[];
    do {
      this.#isHolding = true;
      const last = await this.#showPresence(false);
      if (outbox.hasDropped) await this.#stream.begin(last.split("-", 1)[0] ?? "");
      outbox.hasDropped = false;
      // What was told here alone is to be in front of where this server joins: after it, it would be told again.
      while (outbox.hasOnlyHere) await outbox.progress();
      history = await this.#stream.last(client, maxPast);
    } while (!this.#isHolding || outbox.hasOnlyHere);
    const last = history.at(-1);
    if (!last) throw new RedisError(`${this.#connection.name} has lost its stream`);

    const before = this.#position;
    this.#position = last;
    this.#isAlone = this.#isHolding = false;
    this.#joinedAt = performance.now();
    end.restart({ name: feedName(last.feed), lastId: last.number }, pastOf(history, last.feed), true);
    for (const entry of history) this.#takeLate(entry, before, end);
    const isWhole = !before || history.some(({ id, mark }) => id === before.id && mark === before.mark);
    if (!isWhole)
      end.report(new RedisError(`${this.#connection.name} no longer has all changes of the time without it`));
  }

  /** Tells the program of what came while this server was alone. */
  #takeLate(entry: StreamEntry, before: StreamEntry | undefined, end: FeedEnd): void {
    const change = numbered(entry);
    if (!change) return;
    const own = this.#outbox.take(entry.sender);
    const isOthers = entry.sender?.server !== this.#stream.server;
    const isNew = isOthers ? before !== undefined && isAfter(entry.id, before.id) : own?.isDelivered === false;
    if (isNew) end.tellLate(change, own?.origin ?? { site: entry.site });
  }

  /** Tells what waits in the order in which it was sent, under ids of this server alone. */
  #tellWaiting(): void {
    const end = this.#end;
    const { undelivered } = this.#outbox;
    this.#isHolding = false;
    if (!end || undelivered.length === 0) return;
    if (!this.#isAlone) {
      this.#isAlone = true;
      end.restart({ name: newFeedName(), lastId: 0 }, [], false);
      end.report(this.#aloneError());
    }
    for (const each of undelivered) this.#tellAlone(each);
  }

  #tellAlone(own: Waiting): void {
    this.#end?.tell(own.change, own.origin);
    this.#outbox.delivered(own);
  }

  /** Tells what has waited for too long. */
  #watchTime(): void {
    const [oldest] = this.#impatience ? [] : this.#outbox.undelivered;
    if (!oldest) return;
    const left = oldest.sentAt + this.#times.patience - performance.now();
    const look = (): void => {
      this.#impatience = undefined;
      if (this.#outbox.undelivered[0] === oldest) this.#tellWaiting();
      else this.#watchTime();
    };
    // One turn later: it may have come while this process did something else for long.
    this.#impatience = setTimeout(() => setImmediate(look), Math.max(1, left)).unref();
  }

  #aloneError(): RedisError {
    const message = `${this.#connection.name} does not answer in time; changes are told on this server alone`;
    return new RedisError(message, { cause: this.#outbox.lastError ?? this.#lastError });
  }
}

function feedName(feed: string): string {
  return Number(feed).toString(36);
}

function pastOf(history: readonly StreamEntry[], feed: string): readonly PastChange[] {
  return history.flatMap((entry) => {
    const change = entry.feed === feed ? numbered(entry) : undefined;
    return change ? [{ change, site: entry.site }] : [];
  });
}
