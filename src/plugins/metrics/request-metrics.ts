import type { Duplex } from "node:stream";
import { fileMethods } from "../../http/methods.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Outcome } from "../../server/plugin.ts";
import type { Reply } from "../../server/reply.ts";
import type { Site } from "../../server/site.ts";
import { Durations, metricOf, type NamedMetric } from "./metric.ts";

/** Anyone can invent a method, and each would be kept for ever: those that are not served are one. */
const methods: ReadonlySet<string> = new Set(fileMethods);

/** Counts exchanges, without labels that a client could invent values for. */
export class RequestMetrics {
  readonly metrics: readonly NamedMetric[];
  /** The hosts whose document caches are counted. */
  readonly sites: Set<Site> = new Set();
  /** How many replies there were, by method and status. */
  readonly #replies = new Map<string, Map<number, number>>();
  readonly #durations = new Durations(
    "http_request_duration_seconds",
    "From the arrival of a request's header section to the last byte of the reply, in seconds.",
  );
  #inFlight = 0;
  #clients = 0;
  #bytes = 0;
  #refusals = 0;

  constructor() {
    const counter = (name: string, help: string, read: () => number): NamedMetric =>
      metricOf("counter", name, help, read);
    this.metrics = [
      metricOf(
        "counter",
        "http_requests_total",
        "Requests that were answered, or given up by the client.",
        () =>
          [...this.#replies].flatMap(([method, byStatus]) =>
            [...byStatus].map(([status, value]) => ({ labels: { method, status }, value })),
          ),
        () => this.#replies.clear(),
      ),
      this.#durations.metric,
      metricOf("gauge", "http_requests_in_flight", "Requests that are being answered.", () => this.#inFlight),
      counter("http_response_bytes_total", "Bytes of content that were sent.", () => this.#bytes),
      metricOf("gauge", "websocket_clients", "Connections that were taken over and are open.", () => this.#clients),
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
    let byStatus = this.#replies.get(method);
    if (!byStatus) {
      byStatus = new Map();
      this.#replies.set(method, byStatus);
    }
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    this.#durations.add(method, durationMs / 1000);
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
