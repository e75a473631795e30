import type { Duplex } from "node:stream";
import type { Metric } from "prom-client";
import { fileMethods } from "../../http/methods.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Outcome } from "../../server/plugin.ts";
import type { Reply } from "../../server/reply.ts";
import { sharedFeeds, sharedServices } from "../../server/shared-services.ts";
import type { Site } from "../../server/site.ts";

/** Anyone can invent a method, and each would be kept for ever: those that are not served are one. */
const methods: ReadonlySet<string> = new Set(fileMethods);

/** A file from the page cache takes less than a millisecond, a large one over a slow line minutes. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Metrics by their names, and what counts in them. */
export interface RequestMetrics {
  readonly metrics: ReadonlyMap<string, Metric<string>>;
  /** A request has come; it counts as in flight until its exchange is over. */
  begin(exchange: Exchange): void;
  end(exchange: Exchange, outcome: Outcome): void;
  /** Counts the connection that a reply takes over, for as long as it is open. */
  countClient(reply: Reply): Reply;
}

/** Counts exchanges, without labels that a client could invent values for. `sites` have the document caches. */
export function requestMetrics(
  { Counter, Gauge, Histogram }: typeof import("prom-client"),
  sites: ReadonlySet<Site>,
): RequestMetrics {
  const metrics = new Map<string, Metric<string>>();
  let inFlight = 0;
  let clients = 0;

  function counter(name: string, help: string, labelNames: readonly string[] = []) {
    const made = new Counter({ name, help, labelNames, registers: [] });
    metrics.set(name, made);
    return made;
  }

  /** What is kept elsewhere is read at each scrape. */
  function collected(Kind: typeof Counter | typeof Gauge, name: string, help: string, read: () => number): void {
    const collect = (): void => {
      made.reset();
      made.inc(read());
    };
    const made = new Kind({ name, help, collect, registers: [] });
    metrics.set(name, made);
  }

  function inCaches(which: "hits" | "misses"): number {
    return [...sites].flatMap((site) => [...site.documentCaches]).reduce((total, cache) => total + cache[which], 0);
  }

  const replies = counter("http_requests_total", "Requests that were answered, or given up by the client.", [
    "method",
    "status",
  ]);
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "From the arrival of a request's header section to the last byte of the reply, in seconds.",
    labelNames: ["method"],
    buckets,
    registers: [],
  });
  metrics.set("http_request_duration_seconds", durations);
  collected(Gauge, "http_requests_in_flight", "Requests that are being answered.", () => inFlight);
  const sentBytes = counter("http_response_bytes_total", "Bytes of content that were sent.");
  collected(Gauge, "websocket_clients", "Connections that were taken over and are open.", () => clients);
  const refusals = counter("rate_limit_refusals_total", "Requests that a rate limit refused.");
  collected(Counter, "document_cache_hits_total", "Parsed documents that were at hand.", () => inCaches("hits"));
  collected(Counter, "document_cache_misses_total", "Documents that had to be parsed.", () => inCaches("misses"));
  collected(Gauge, "change_feed_lag_seconds", "How long a change takes to its place in the shared feed.", () =>
    Math.max(0, ...[...sharedFeeds].map(({ lagSeconds }) => lagSeconds)),
  );
  collected(Gauge, "history_backlog_bytes", "Changes that wait to become commits of a history.", () =>
    [...sharedServices].reduce((total, { backlogBytes = 0 }) => total + backlogBytes, 0),
  );

  return {
    metrics,
    begin(exchange) {
      inFlight += 1;
      exchange.defer(() => {
        inFlight -= 1;
      });
    },
    end(exchange, { status, headers, bytes, durationMs }) {
      const method = methods.has(exchange.method) ? exchange.method : "OTHER";
      replies.inc({ method, status });
      durations.observe({ method }, durationMs / 1000);
      sentBytes.inc(bytes);
      // The fields of a limit tell its refusal from a 429 that something else has sent.
      if (status === 429 && headers["x-ratelimit-limit"] !== undefined) refusals.inc();
    },
    countClient(reply) {
      const { accept } = reply;
      if (!accept) return reply;
      return {
        ...reply,
        accept: (socket: Duplex, head: Buffer) => {
          clients += 1;
          socket.once("close", () => {
            clients -= 1;
          });
          accept(socket, head);
        },
      };
    },
  };
}
