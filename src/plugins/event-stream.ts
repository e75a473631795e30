import { TimeSlice } from "../event-loop/time-slice.ts";
import { checkOptions } from "../options/check-config.ts";
import { pluginOptions, positiveInteger, requestPath, timerSeconds } from "../options/option-types.ts";
import type { OptionsSchema } from "../options/schema.ts";
import type { Exchange } from "../server/exchange.ts";
import { unavailable } from "../server/outage.ts";
import type { Plugin } from "../server/plugin.ts";
import { emptyReply, type ReplyHeaders } from "../server/reply.ts";
import { requireReading } from "../server/require-reading.ts";
import type { Site } from "../server/site.ts";
import { EventReader } from "./event-stream/event-reader.ts";
import { changeEvent, gapEvent, helloEvent, readLastEventId } from "./event-stream/event-text.ts";
import { Broadcast, type Position, type Receiver } from "./live/broadcast.ts";
import { type FeedQuery, positionOf, readFeedQuery } from "./live/feed-query.ts";
import { type IsProven, provenPaths } from "./live/proven-paths.ts";

/** Options for {@link eventStream}. */
export interface EventStreamOptions {
  /** Path of the stream. @default "/events" */
  readonly path?: string | undefined;
  /** Readers that may be connected at once; more get 503. @default 1000 */
  readonly maxClients?: number | undefined;
  /** Seconds from one sign of life to the next; who has not read since the last one is disconnected. @default 15 */
  readonly heartbeatInterval?: number | undefined;
  /** Bytes that may wait for a reader; one with more is disconnected. @default 1048576 (1 MiB) */
  readonly maxUnsentBytes?: number | undefined;
}

/** What the options are checked against. */
export const eventStreamOptions: OptionsSchema = pluginOptions({
  path: requestPath,
  maxClients: positiveInteger,
  heartbeatInterval: timerSeconds,
  maxUnsentBytes: positiveInteger,
});

/** How long readers may take to read the rest when the server closes, in milliseconds. */
const closeTimeout = 1_000;

const headers: ReplyHeaders = {
  "content-type": "text/event-stream",
  // Neither stored nor compressed, nor collected by a proxy (nginx): each event is to arrive at once.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/**
 * Tells clients of every change, at once and in order, as server-sent events: a reply that does not end. What a client may
 * not read it does not hear of. Throws a `ConfigError` for options that cannot work, and at the start where it stands
 * before `basicAuth`.
 *
 * @example createFileServer({ root: "site", plugins: [eventStream()] });
 */
export function eventStream(options: EventStreamOptions = {}): Plugin {
  checkOptions("eventStream", eventStreamOptions, options);
  const { path = "/events", maxClients = 1_000, heartbeatInterval = 15, maxUnsentBytes = 1024 * 1024 } = options;
  const readers = new Set<EventReader>();
  const provenAt = new Map<Site, IsProven>();
  let encode: Receiver["encode"] | undefined;
  let broadcast: Broadcast | undefined;
  let beats: NodeJS.Timeout | undefined;
  let closing: NodeJS.Timeout | undefined;

  function open({ site, access }: Exchange, wantedPath: string | undefined, position: Position): EventReader {
    const { changes } = site;
    const isProven = provenAt.get(site);
    if (!broadcast || !encode || !isProven || closing) throw unavailable("CLOSING");
    const audience = {
      site: site.name,
      path: wantedPath,
      access,
      isProven: (each: string): boolean => isProven(path, each),
    };
    const reader = new EventReader({ audience, encode, gap: () => gapEvent(changes), maxUnsentBytes });
    reader.write(helloEvent(changes, position === "now"));
    readers.add(reader);
    const leave = broadcast.join(reader, position);
    reader.body.once("close", () => {
      leave();
      readers.delete(reader);
    });
    return reader;
  }

  async function forEachReader(task: (reader: EventReader) => void): Promise<void> {
    const slice = new TimeSlice();
    for (const reader of readers) {
      task(reader);
      if (slice.isOver) await slice.renew();
    }
  }

  const plugin: Plugin = {
    name: "event-stream",
    start(site) {
      const { changes } = site;
      provenAt.set(site, provenPaths(site, plugin, "eventStream"));
      encode ??= (change) => changeEvent(changes.name, change);
      broadcast ??= new Broadcast(changes, (error) => site.report(error));
      beats ??= setInterval(() => void forEachReader((reader) => reader.beat()), heartbeatInterval * 1000).unref();
    },
    handle(exchange, next) {
      if (exchange.path !== path) return next();
      requireReading(exchange);
      const query = readFeedQuery(exchange.search);
      if (exchange.method === "HEAD") return emptyReply(200, headers);
      if (readers.size >= maxClients) throw unavailable("OVERLOADED");
      const { body } = open(exchange, query.path, beginningOf(exchange, query));
      return { status: 200, headers, body };
    },
    drain() {
      closing = setTimeout(() => void forEachReader(({ body }) => body.destroy()), closeTimeout).unref();
      void broadcast?.told().then(() => forEachReader((reader) => reader.end()));
    },
    close() {
      clearInterval(beats);
      clearTimeout(closing);
      broadcast?.close();
      beats = undefined;
      closing = undefined;
      broadcast = undefined;
      encode = undefined;
      provenAt.clear();
    },
  };
  return plugin;
}

/** What the browser says of itself when it comes back counts, for the URL remains that of the first time. */
function beginningOf({ headers, site }: Exchange, query: FeedQuery): Position {
  const id = headers["last-event-id"]?.toString();
  if (id === undefined) return positionOf(query, site.changes.name);
  const known = readLastEventId(id);
  return known ? positionOf(known, site.changes.name) : "unknown";
}
