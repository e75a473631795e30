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
import { ChangeStream, Outbox, type StreamEntry } from "./change-stream.ts";
import { destroy, type RedisClient, RedisConnection, RedisError, type RedisSource } from "./connection.ts";

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
const startMs = 5_000;
const closeMs = 1_000;

/**
 * Gives the changes of all servers that name the same Redis one order, through a stream. Each server's web sockets,
 * event streams and `files.changes` hear all of them, and a client that comes back to another server gets what it
 * missed.
 *
 * While Redis is away each server tells its own changes, under ids of its own; when it is back, all clients are told of
 * a gap, and what the servers have told alone stays with them.
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
  /** The last entry that was told here; `undefined` before the first connection. */
  #position: StreamEntry | undefined;
  /** Whether changes are told under ids of this server, and not those of the stream. */
  #isAlone = true;
  /** Whether changes were told that the other servers do not hear of. */
  #hasToldAlone = false;
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
      this.#stream.showPresence(lease, isLongThere).catch(() => {}); // the reader notices, too
    }, lease / 3).unref();
  }

  send(change: UnnumberedChange, origin: ChangeOrigin): void {
    if (this.#outbox.isFull) this.#goAlone();
    if (!this.#isAlone) {
      this.#outbox.push(change, origin);
      this.#watchTime();
    } else {
      this.#hasToldAlone = true;
      this.#end?.tell(change, origin);
    }
  }

  /** The others hear of everything within a second, or else notice that this server has gone without a word. */
  async close(): Promise<void> {
    await inTime(this.#outbox.empty(), closeMs, () => {});
    this.#over.abort();
    sharedFeeds.delete(this);
    clearInterval(this.#presence);
    clearTimeout(this.#impatience);
    const isUnheard = this.#hasToldAlone || this.#outbox.hasUnstored;
    if (this.#outbox.oldest) this.#goAlone();
    if (isUnheard) this.#end?.report(new RedisError("some changes were not told to the other servers"));
    else await this.#stream.leave().catch(() => {}); // then they see it by its silence
    if (this.#client) destroy(this.#client);
    this.#connection.release();
  }

  /** Seconds that a change of this server takes, or waits by now, until it has its place in the order. */
  get lagSeconds(): number {
    return this.#outbox.lagSeconds;
  }

  async #read(end: FeedEnd): Promise<void> {
    while (!this.#over.signal.aborted) {
      try {
        this.#client = await this.#connection.dedicated();
        await this.#follow(this.#client, end);
      } catch (error) {
        this.#lastError = error;
      }
      if (this.#client) destroy(this.#client);
      this.#attempted();
      await pause(this.#times.retry, undefined, { signal: this.#over.signal }).catch(() => {}); // closed
    }
  }

  async #follow(client: RedisClient, end: FeedEnd): Promise<void> {
    if (!this.#isAlone) await this.#verify(client, end);
    while (!this.#over.signal.aborted) {
      if (this.#isAlone || !this.#position) await this.#join(client, end);
      this.#attempted();
      await this.#tellGap(this.#position?.feed ?? "");
      const { id = "" } = this.#position ?? {};
      const entries = await this.#stream.next(client, id, this.#times.block);
      if (entries.length === 0) await this.#verify(client, end);
      for (const entry of entries) if (!this.#isAlone) this.#take(entry, end);
    }
  }

  #take(entry: StreamEntry, end: FeedEnd): void {
    const before = this.#position;
    this.#position = entry;
    const { feed, number, sender, site, change } = entry;
    if (!change) {
      end.restart({ name: feedName(feed), lastId: number }, [], true); // a new feed
      return;
    }
    if (feed !== before?.feed || number !== before.number + 1) {
      end.restart({ name: feedName(feed), lastId: number - 1 }, [], true);
      end.report(new RedisError(`${this.#connection.name} no longer has some of the changes`));
    }
    const own = this.#outbox.take(sender);
    end.tell(own?.change ?? change, own?.origin ?? { site });
  }

  /** Makes sure that the stream still has what was told of it: a Redis may come back empty, or with less. */
  async #verify(client: RedisClient, end: FeedEnd): Promise<void> {
    const position = this.#position;
    if (!position || this.#isAlone) return;
    const [found] = await this.#stream.between(client, position.id, position.id, 1);
    if (found?.mark === position.mark) return;
    const [first] = await this.#stream.between(client, "-", "+", 1);
    const later = first && (Number(first.feed) - Number(position.feed) || first.number - position.number);
    const isTrimmed = later !== undefined && later > 0;
    // Others that have told the same may not have noticed: all begin anew.
    if (!isTrimmed) await this.#stream.begin(position.feed);
    await this.#join(client, end);
  }

  /** Goes over to the order of all servers, at its present end. */
  async #join(client: RedisClient, end: FeedEnd): Promise<void> {
    const lastId = await this.#stream.showPresence(this.#times.lease, false);
    await this.#tellGap(lastId.split("-", 1)[0] ?? "");
    const history = await this.#stream.last(client, maxPast);
    const last = history.at(-1);
    if (!last) throw new RedisError(`${this.#connection.name} has lost its stream`);
    // Its own changes that come back in front of where it joins: its program hears of them, its clients look again.
    for (const { sender } of history) {
      const own = this.#outbox.take(sender);
      if (own) end.tell(own.change, own.origin);
    }
    this.#position = last;
    this.#isAlone = false;
    this.#joinedAt = performance.now();
    end.restart({ name: feedName(last.feed), lastId: last.number }, pastOf(history, last.feed), true);
  }

  /** Has the clients of all servers look again where changes were told on this server alone: a new feed begins. */
  async #tellGap(feed: string): Promise<void> {
    if (!this.#hasToldAlone) return;
    this.#hasToldAlone = false;
    try {
      await this.#stream.begin(feed);
    } catch (error) {
      this.#hasToldAlone = true;
      throw error;
    }
  }

  /** Tells what waits, and what comes until it joins again, under ids of this server alone. */
  #goAlone(): void {
    const end = this.#end;
    const waiting = this.#outbox.takeAll();
    if (!end) return;
    this.#isAlone = true;
    this.#hasToldAlone = true;
    end.restart({ name: newFeedName(), lastId: 0 }, [], false);
    end.report(this.#aloneError());
    for (const { change, origin } of waiting) end.tell(change, origin);
  }

  #watchTime(): void {
    const oldest = this.#impatience ? undefined : this.#outbox.oldest;
    if (!oldest) return;
    const left = oldest.sentAt + this.#times.patience - performance.now();
    const look = (): void => {
      this.#impatience = undefined;
      if (this.#outbox.oldest === oldest) this.#goAlone();
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
  return history.flatMap(({ change, number, site, ...entry }) =>
    change && entry.feed === feed ? [{ change: { ...change, id: number }, site }] : [],
  );
}
