import { checkOptions } from "../options/check-config.ts";
import { pluginOptions, positiveInteger, requestPath, timerSeconds } from "../options/option-types.ts";
import type { OptionsSchema } from "../options/schema.ts";
import { requireReading } from "../server/access.ts";
import { unavailable } from "../server/admission.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import { emptyReply, type ReplyHeaders } from "../server/reply.ts";
import { EventReader } from "./event-stream/event-reader.ts";
import type { Position } from "./live/broadcast.ts";
import { type FeedQuery, wantedPath as pathWanted, positionOf, readFeedQuery } from "./live/feed-query.ts";
import { LiveClients } from "./live/live-clients.ts";

/** Options for {@link eventStream}. */
export interface EventStreamOptions {
  /** Path of the stream. @default "/events" */
  readonly path?: string | undefined;
  /** Readers that may be connected at once, half of them from one address; more get 503. @default 1000 */
  readonly maxClients?: number | undefined;
  /** Seconds between two signs of life; a reader that has read nothing in between is disconnected. @default 15 */
  readonly heartbeatInterval?: number | undefined;
}

export const eventStreamOptions: OptionsSchema = pluginOptions({
  path: requestPath,
  maxClients: positiveInteger,
  heartbeatInterval: timerSeconds,
});

/** Time for readers to read the rest when the server closes, in milliseconds. */
const closeTimeout = 1_000;

const headers: ReplyHeaders = {
  "content-type": "text/event-stream",
  // Neither stored nor compressed, nor collected by a proxy (nginx): each event is to arrive at once.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/**
 * Sends clients every change, at once and in order, as server-sent events: a reply that does not end. A client gets no
 * change of what it may not read at that moment. Throws a `ConfigError` for options that cannot work, and at the start
 * if it stands before `basicAuth`.
 *
 * @example createFileServer({ root: "site", plugins: [eventStream()] });
 */
export function eventStream(options: EventStreamOptions = {}): Plugin {
  checkOptions("eventStream", eventStreamOptions, options);
  const { path = "/events", maxClients = 1_000, heartbeatInterval = 15 } = options;
  const readers = new LiveClients<EventReader>(maxClients, heartbeatInterval);
  let closing: NodeJS.Timeout | undefined;

  function open(exchange: Exchange, wantedPath: string | undefined, position: Position): EventReader {
    const { changes } = exchange.site;
    if (closing) throw unavailable("CLOSING");
    const giveBack = readers.takePlace(exchange);
    const reader = new EventReader(readers.audienceOf(exchange, wantedPath));
    reader.writeHello(changes, position === "now");
    readers.add(reader, position, giveBack);
    return reader;
  }

  const plugin: Plugin = {
    name: "event-stream",
    feed: { kind: "events", path },
    start: (site) => readers.start(site, plugin, "eventStream"),
    async handle(exchange, next) {
      if (exchange.path !== path) return next();
      requireReading(exchange);
      const query = readFeedQuery(exchange.search);
      if (exchange.method === "HEAD") return emptyReply(200, headers);
      const { body } = open(exchange, await pathWanted(exchange, query), beginningOf(exchange, query));
      return { status: 200, headers, body };
    },
    drain() {
      closing = setTimeout(() => void readers.visit(({ body }) => body.destroy()), closeTimeout).unref();
      void readers.delivered().then(() => readers.visit((reader) => reader.end()));
    },
    disconnect: (isMeant) => readers.disconnect(isMeant),
    async close() {
      await readers.stop();
      clearTimeout(closing);
      closing = undefined;
    },
  };
  return plugin;
}

/** `Last-Event-ID` takes precedence: a browser that reconnects still sends the URL of the first time. */
function beginningOf({ headers, site }: Exchange, query: FeedQuery): Position {
  const id = headers["last-event-id"]?.toString();
  if (id === undefined) return positionOf(query, site.changes.name);
  const [, feed, since] = /^([\w-]+):(\d{1,15})$/.exec(id) ?? [];
  return since === undefined ? "unknown" : positionOf({ feed, since: Number(since) }, site.changes.name);
}
