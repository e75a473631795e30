import type { Duplex } from "node:stream";
import type { Counter, Histogram } from "prom-client";
import type { Exchange } from "../../server/exchange.ts";
import type { Outcome } from "../../server/plugin.ts";
import type { Reply } from "../../server/reply.ts";
import type { Site } from "../../server/site.ts";
import { promClient } from "./prom-client.ts";
import { type NamedMetric, readCounter, readGauge } from "./read-metric.ts";

/** Anyone can invent a method, and each would be kept for ever: those that are not served are one. */
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"]);

/** How {@link RequestMetrics} is set up. */
export interface RequestMetricsOptions {
  readonly prefix: string;
  /** Upper bounds of the histogram, in seconds. */
  readonly buckets: readonly number[];
}

/** Counts exchanges, without labels that a client could invent values for. */
export class RequestMetrics {
  readonly metrics: readonly NamedMetric[];
  /** The hosts whose document caches are counted. */
  readonly sites: Set<Site> = new Set();
  readonly #requests: Counter<"method" | "status">;
  readonly #durations: Histogram<"method">;
  // Plain numbers: a host program that resets its registry must not make "in flight" negative.
  #inFlight = 0;
  #clients = 0;
  #bytes = 0;
  #refusals = 0;

  constructor({ prefix, buckets }: RequestMetricsOptions) {
    const { Counter, Histogram } = promClient();
    const requests = `${prefix}http_requests_total`;
    this.#requests = new Counter({
      name: requests,
      help: "Requests that were answered, or given up by the client.",
      labelNames: ["method", "status"],
      registers: [],
    });
    const durations = `${prefix}http_request_duration_seconds`;
    this.#durations = new Histogram({
      name: durations,
      help: "From the arrival of a request's header section to the last byte of the reply, in seconds.",
      labelNames: ["method"],
      buckets: [...buckets], // prom-client freezes it
      registers: [],
    });
    const gauge = (name: string, help: string, read: () => number): NamedMetric => readGauge(prefix + name, help, read);
    const counter = (name: string, help: string, read: () => number): NamedMetric =>
      readCounter(prefix + name, help, read);
    this.metrics = [
      { name: requests, metric: this.#requests },
      { name: durations, metric: this.#durations },
      gauge("http_requests_in_flight", "Requests that are being answered.", () => this.#inFlight),
      counter("http_response_bytes_total", "Bytes of content that were sent.", () => this.#bytes),
      gauge("websocket_clients", "Connections that were taken over and are open.", () => this.#clients),
      counter("rate_limit_refusals_total", "Requests that a rate limit refused.", () => this.#refusals),
      counter("document_cache_hits_total", "Parsed documents that were at hand.", () => this.#documents("hits")),
      counter("document_cache_misses_total", "Documents that had to be parsed.", () => this.#documents("misses")),
    ];
  }

  /** A request has come; it counts as in flight until its exchange is over. */
  begin(exchange: Exchange): void {
    this.#inFlight += 1;
    exchange.defer(() => {
      this.#inFlight -= 1;
    });
  }

  /** An exchange is over. */
  end(exchange: Exchange, { status, headers, bytes, durationMs }: Outcome): void {
    const method = methods.has(exchange.method) ? exchange.method : "OTHER";
    this.#requests.inc({ method, status });
    this.#durations.observe({ method }, durationMs / 1000);
    this.#bytes += bytes;
    // The fields of a limit tell its refusal from a 429 that something else has sent.
    if (status === 429 && headers["x-ratelimit-limit"] !== undefined) this.#refusals += 1;
  }

  /** Counts the connection that a reply takes over, for as long as it is open. */
  countClient(reply: Reply): Reply {
    const { accept } = reply;
    if (!accept) return reply;
    return {
      ...reply,
      accept: (socket: Duplex, head: Buffer) => {
        this.#clients += 1;
        socket.once("close", () => {
          this.#clients -= 1;
        });
        accept(socket, head);
      },
    };
  }

  #documents(which: "hits" | "misses"): number {
    let sum = 0;
    for (const { documentCaches } of this.sites) for (const cache of documentCaches) sum += cache[which];
    return sum;
  }
}
