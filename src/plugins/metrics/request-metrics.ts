import type { Duplex } from "node:stream";
import { fileMethods } from "../../http/methods.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Outcome } from "../../server/plugin.ts";
import type { Reply } from "../../server/reply.ts";
import type { Site } from "../../server/site.ts";
import {
  type Kept,
  type NamedMetric,
  readCounter,
  readCounters,
  readGauge,
  readHistogram,
  type Sample,
} from "./read-metric.ts";

/** Anyone can invent a method, and each would be kept for ever: those that are not served are one. */
const methods: ReadonlySet<string> = new Set(fileMethods);

/** Counts exchanges, without labels that a client could invent values for. */
export class RequestMetrics {
  readonly metrics: readonly NamedMetric[];
  /** The hosts whose document caches are counted. */
  readonly sites: Set<Site> = new Set();
  readonly #replies = new Replies();
  readonly #durations: Durations;
  // Plain numbers: a host program that resets its registry must not make "in flight" negative.
  #inFlight = 0;
  #clients = 0;
  #bytes = 0;
  #refusals = 0;

  /** `buckets` are the upper bounds of the histogram, in seconds. */
  constructor(buckets: readonly number[]) {
    const durations = "http_request_duration_seconds";
    const durationsHelp = "From the arrival of a request's header section to the last byte of the reply, in seconds.";
    const repliesHelp = "Requests that were answered, or given up by the client.";
    this.#durations = new Durations(durations, buckets);
    this.metrics = [
      readCounters("http_requests_total", repliesHelp, ["method", "status"], this.#replies),
      readHistogram(durations, durationsHelp, ["method"], this.#durations),
      readGauge("http_requests_in_flight", "Requests that are being answered.", () => this.#inFlight),
      readCounter("http_response_bytes_total", "Bytes of content that were sent.", () => this.#bytes),
      readGauge("websocket_clients", "Connections that were taken over and are open.", () => this.#clients),
      readCounter("rate_limit_refusals_total", "Requests that a rate limit refused.", () => this.#refusals),
      readCounter("document_cache_hits_total", "Parsed documents that were at hand.", () => this.#documents("hits")),
      readCounter("document_cache_misses_total", "Documents that had to be parsed.", () => this.#documents("misses")),
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
    this.#replies.count(method, status);
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

/** How many replies there were, by method and status. */
class Replies implements Kept {
  readonly #byMethod = new Map<string, Map<number, Counted>>();
  #counted: Counted[] = [];

  count(method: string, status: number): void {
    const counted = this.#byMethod.get(method)?.get(status) ?? this.#begin(method, status);
    counted.value += 1;
  }

  samples(): readonly Sample[] {
    return this.#counted;
  }

  reset(): void {
    this.#byMethod.clear();
    this.#counted = [];
  }

  #begin(method: string, status: number): Counted {
    const counted = { labels: { method, status }, value: 0 };
    const byStatus = this.#byMethod.get(method) ?? new Map<number, Counted>();
    this.#byMethod.set(method, byStatus.set(status, counted));
    this.#counted.push(counted);
    return counted;
  }
}

type Counted = Sample & { value: number };

/** How long requests of a method took. */
interface Taken {
  /** How many took up to each bound but longer than the one below; the last of them longer than all bounds. */
  readonly counts: number[];
  /** All of them together. */
  seconds: number;
}

/** How long requests took, by method. */
class Durations implements Kept {
  readonly #name: string;
  readonly #bounds: readonly number[];
  readonly #byMethod = new Map<string, Taken>();

  /** `name` is that of the metric. */
  constructor(name: string, bounds: readonly number[]) {
    this.#name = name;
    this.#bounds = bounds;
  }

  add(method: string, seconds: number): void {
    const taken = this.#byMethod.get(method) ?? this.#begin(method);
    let bucket = 0;
    while (seconds > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    taken.counts[bucket] = (taken.counts[bucket] ?? 0) + 1;
    taken.seconds += seconds;
  }

  /** As Prometheus has them: each bucket holds the ones below, too. */
  samples(): readonly (Sample & { metricName: string })[] {
    const name = this.#name;
    return [...this.#byMethod].flatMap(([method, { counts, seconds }]) => {
      let sum = 0;
      const buckets = counts.map((count, bucket) => {
        sum += count;
        return { metricName: `${name}_bucket`, labels: { le: this.#bounds[bucket] ?? "+Inf", method }, value: sum };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: { method }, value: seconds },
        { metricName: `${name}_count`, labels: { method }, value: sum },
      ];
    });
  }

  reset(): void {
    this.#byMethod.clear();
  }

  #begin(method: string): Taken {
    const taken = { counts: new Array<number>(this.#bounds.length + 1).fill(0), seconds: 0 };
    this.#byMethod.set(method, taken);
    return taken;
  }
}
