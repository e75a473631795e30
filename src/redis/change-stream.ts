import { hash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { ChangeOrigin, UnnumberedChange } from "../server/change-feed.ts";
import type { RedisClient, RedisConnection } from "./connection.ts";

/** A change of this server on its way into the stream. */
interface Waiting {
  readonly sequence: number;
  readonly change: UnnumberedChange;
  readonly origin: ChangeOrigin;
  readonly sentAt: number;
  isStored: boolean;
}

export interface StreamEntry {
  /** Id of the entry: the name of the feed as a number, and the id of the change. */
  readonly id: string;
  readonly feed: string;
  /** Its number in the feed; 0 for the entry with which a feed begins. */
  readonly number: number;
  /** Tells it from another entry with this id, in a stream that has lost its end. */
  readonly mark: string;
  /** The server that sent it, and its number there; `undefined` for the entry with which a feed begins. */
  readonly sender: { readonly server: string; readonly sequence: number } | undefined;
  readonly site: string;
  readonly change: UnnumberedChange | undefined;
}

/** What Redis does with a change: stored, known from an earlier attempt, or already told by another server. */
export type Receipt = "stored" | "known" | "told";

const batchSize = 100;
const maxWaiting = 10_000;
/** Changes with more HTML than this are stored without it, in characters: those who miss it read the file. */
const maxHtml = 64 * 1024;
/** How long the last change of a server, and of a file, is known after it, in seconds. */
const senderSeconds = 3_600;
const toldSeconds = 60;
/** States of a file that were not told, at most: servers that work on it at once. */
const maxUntold = 16;

/** Gives the number of the stream's feed and of its last entry; begins a feed if the stream has no feed yet. */
const lastEntry = `
local function time()
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end
local function begin(feed)
  redis.call('XADD', KEYS[1], string.format('%.0f-0', feed), 'mark', ARGV[1] .. tostring(time()))
  return feed, 0
end
local function last()
  local entry = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  if not entry then return begin(time()) end
  local feed, number = string.match(entry[1], '(%d+)-(%d+)')
  return tonumber(feed), tonumber(number)
end
`;

/**
 * Adds changes in order, each once however often it is sent, without a hole in the numbers. One that was noticed on the
 * disk is left out where the file is known to be as it is.
 *
 * Of each file the script keeps the state after the last change, and states before changes that were not told yet. A
 * change that leads to one of these comes after one that was made later: a new feed has all clients look again.
 */
const addChanges = `${lastEntry}
local server, longest = ARGV[1], ARGV[2]
local known = tonumber(redis.call('GET', KEYS[2]) or 0)
local feed, number = last()
local receipts = {}
for index = 3, #KEYS do
  local at = 3 + (index - 3) * 5
  local sequence, text, state, noticed, follows = unpack(ARGV, at, at + 4)
  local told = cjson.decode(redis.call('GET', KEYS[index]) or '[]')
  if tonumber(sequence) <= known then
    table.insert(receipts, 'known')
  elseif noticed == '1' and told[1] == state then
    table.insert(receipts, 'told')
  else
    number = number + 1
    local id = string.format('%.0f-%.0f', feed, number)
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', longest, id, 'mark', server .. ':' .. sequence, 'change', text)
    local isLate = false
    for other = 2, #told do isLate = isLate or told[other] == state end
    if isLate then
      told = { told[1] }
      feed, number = begin(math.max(time(), feed + 1))
    else
      if told[1] ~= follows and follows ~= 'unknown' then table.insert(told, 2, follows) end
      told = { state, unpack(told, 2, ${maxUntold} + 1) }
    end
    redis.call('SET', KEYS[index], cjson.encode(told), 'EX', ${toldSeconds})
    table.insert(receipts, 'stored')
  end
  known = math.max(known, tonumber(sequence))
end
redis.call('SET', KEYS[2], string.format('%.0f', known), 'EX', ${senderSeconds})
return receipts
`;

/** Begins a new feed, in place of the one that is named if there is one. */
const beginFeed = `${lastEntry}
local feed = last()
if string.format('%.0f', feed) == ARGV[2] then begin(math.max(time(), feed + 1)) end
`;

/** Gives the id of the last entry. Where a server has not said again that it is there, a new feed begins. */
const showPresence = `${lastEntry}
local server, lease, looks = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local now = time()
redis.call('ZADD', KEYS[2], now + lease, server)
redis.call('PEXPIRE', KEYS[2], string.format('%.0f', 100 * lease))
local feed, number = last()
if looks == '1' and redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now) > 0 then
  feed, number = begin(math.max(now, feed + 1))
end
return string.format('%.0f-%.0f', feed, number)
`;

export class ChangeStream {
  readonly #connection: RedisConnection;
  readonly #key: string;
  readonly server: string;
  readonly #maxChanges: number;

  /** In braces, so that a cluster keeps all of it in one place. */
  constructor(connection: RedisConnection, name: string, server: string, maxChanges: number) {
    this.#connection = connection;
    this.#key = `{${name}}`;
    this.server = server;
    this.#maxChanges = maxChanges;
  }

  async add(changes: readonly Waiting[]): Promise<readonly Receipt[]> {
    const keys = changes.map(({ change, origin }) => {
      const name = hash("sha256", `${origin.site}\n${change.path}`, "base64url").slice(0, 22);
      return `${this.#key}:states:${name}`;
    });
    const values = changes.flatMap(({ sequence, change, origin }) => [
      `${sequence}`,
      JSON.stringify({ ...withoutMuchHtml(change), site: origin.site }),
      change.etag ?? "",
      origin.isNoticed ? "1" : "",
      origin.follows ?? "unknown",
    ]);
    const receipts = await this.#run(
      addChanges,
      [`${this.#key}:from:${this.server}`, ...keys],
      [`${this.#maxChanges}`, ...values],
    );
    return receipts as readonly Receipt[]; // as the script gives them
  }

  async begin(insteadOf: string): Promise<void> {
    await this.#run(beginFeed, [], [insteadOf]);
  }

  /** Says that this server is there, and gives the id of the last entry; `looks`: and sees whether all others are. */
  async showPresence(leaseMs: number, looks: boolean): Promise<string> {
    return String(await this.#run(showPresence, [`${this.#key}:servers`], [`${leaseMs}`, looks ? "1" : ""]));
  }

  async leave(): Promise<void> {
    await this.#connection.run(["ZREM", `${this.#key}:servers`, this.server]);
  }

  async last(client: RedisClient, count: number): Promise<readonly StreamEntry[]> {
    return entriesOf(await client.sendCommand(["XREVRANGE", this.#stream, "+", "-", "COUNT", `${count}`])).reverse();
  }

  async between(client: RedisClient, first: string, last: string, count: number): Promise<readonly StreamEntry[]> {
    return entriesOf(await client.sendCommand(["XRANGE", this.#stream, first, last, "COUNT", `${count}`]));
  }

  async next(client: RedisClient, after: string, waitMs: number): Promise<readonly StreamEntry[]> {
    const count = ["COUNT", "100", "BLOCK", `${waitMs}`];
    const reply = await client.sendCommand(["XREAD", ...count, "STREAMS", this.#stream, after]);
    const [[, entries] = []] = (reply ?? []) as [name: string, entries: unknown][];
    return entriesOf(entries ?? []);
  }

  get #stream(): string {
    return `${this.#key}:changes`;
  }

  #run(script: string, keys: readonly string[], values: readonly string[]): Promise<unknown> {
    return this.#connection.runScript(script, [this.#stream, ...keys], [this.server, ...values]);
  }
}

/** Changes of this server that have not come back from the stream. */
export class Outbox {
  lastError: unknown;
  readonly #stream: ChangeStream;
  readonly #retryMs: number;
  readonly #signal: AbortSignal;
  #waiting: Waiting[] = [];
  readonly #whenEmpty: (() => void)[] = [];
  #sequence = 0;
  #isSending = false;
  #lastLagMs = 0;

  /** Sends until `signal` is aborted; `retryMs` is the pause after a failed attempt. */
  constructor(stream: ChangeStream, retryMs: number, signal: AbortSignal) {
    this.#stream = stream;
    this.#retryMs = retryMs;
    this.#signal = signal;
  }

  push(change: UnnumberedChange, origin: ChangeOrigin): void {
    this.#sequence += 1;
    this.#waiting.push({ sequence: this.#sequence, change, origin, sentAt: performance.now(), isStored: false });
    if (!this.#isSending) void this.#sendAll();
  }

  get isFull(): boolean {
    return this.#waiting.length >= maxWaiting;
  }

  get oldest(): Waiting | undefined {
    return this.#waiting[0];
  }

  get hasUnstored(): boolean {
    return this.#waiting.some(({ isStored }) => !isStored);
  }

  /** Seconds that the last change took to come back, or that the oldest has waited by now, if that is more. */
  get lagSeconds(): number {
    return Math.max(this.#lastLagMs, this.oldest ? performance.now() - this.oldest.sentAt : 0) / 1000;
  }

  /** The change that an entry of the stream is, if it is of this server and still waits. It waits no longer. */
  take(sender: StreamEntry["sender"]): Waiting | undefined {
    if (sender?.server !== this.#stream.server) return undefined;
    const own = this.#waiting.find(({ sequence }) => sequence === sender.sequence);
    if (own) this.#forget(own);
    return own;
  }

  /** All that waits, which waits no longer and is not sent again. */
  takeAll(): readonly Waiting[] {
    const all = this.#waiting;
    this.#waiting = [];
    this.#tellIfEmpty();
    return all;
  }

  async empty(): Promise<void> {
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (!this.#signal.aborted) {
      const batch = this.#waiting.filter(({ isStored }) => !isStored).slice(0, batchSize);
      if (batch.length === 0) break;
      try {
        const receipts = await this.#stream.add(batch);
        for (const [index, each] of batch.entries()) {
          each.isStored = true;
          if (receipts[index] === "told") this.#forget(each);
        }
      } catch (error) {
        this.lastError = error;
        await pause(this.#retryMs, undefined, { signal: this.#signal }).catch(() => {}); // closed
      }
    }
    this.#isSending = false;
  }

  #forget(own: Waiting): void {
    this.#waiting = this.#waiting.filter((each) => each !== own);
    this.#lastLagMs = performance.now() - own.sentAt;
    this.#tellIfEmpty();
  }

  #tellIfEmpty(): void {
    if (this.#waiting.length === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}

function entriesOf(reply: unknown): StreamEntry[] {
  return (reply as [id: string, fields: string[]][]).map(([id, fields]) => entryOf(id, fields)); // as Redis has them
}

function entryOf(id: string, fields: readonly string[]): StreamEntry {
  const [feed = "", number = ""] = id.split("-");
  const [, mark = "", , text] = fields;
  const base = { id, feed, number: Number(number), mark };
  if (text === undefined) return { ...base, sender: undefined, site: "", change: undefined };
  const [server = "", sequence = ""] = mark.split(":");
  const { site, ...change } = JSON.parse(text) as UnnumberedChange & { readonly site: string }; // by another of us
  return { ...base, sender: { server, sequence: Number(sequence) }, site, change };
}

/** A client that sees a change of elements without what was supplied reads the file. */
function withoutMuchHtml(change: UnnumberedChange): UnnumberedChange {
  const { html = "", edits, matches, ...rest } = change;
  return html.length + (edits ? JSON.stringify(edits).length : 0) <= maxHtml ? change : rest;
}
