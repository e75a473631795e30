import type { Duplex } from "node:stream";
import type { Metric, Registry } from "prom-client";
import { ConfigError } from "../config.ts";
import { fileMethods } from "../http/methods.ts";
import { isCanonicalPath } from "../http/request-target.ts";
import { checkOptions } from "../options/check-config.ts";
import { hasMethods, pluginOptions } from "../options/option-types.ts";
import { anyOf, type OptionsSchema, text, valueThat } from "../options/schema.ts";
import { requireReading } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Outcome, Plugin } from "../server/plugin.ts";
import type { Reply } from "../server/reply.ts";
import { sharedFeeds, sharedServices } from "../server/shared-services.ts";
import type { Site } from "../server/site.ts";

/** A registry of `prom-client`, for either content type. */
export type MetricsRegistry = Pick<
  Registry,
  "metrics" | "registerMetric" | "getSingleMetric" | "removeSingleMetric"
> & { readonly contentType: string };

/** Options for {@link metrics}. */
export interface MetricsOptions {
  /** Path of the exposition; `false` with a `registry` that is exposed elsewhere. @default "/metrics" */
  readonly path?: string | false;
  /**
   * Registry of `prom-client` to count in; what else it holds is exposed as well. @default one of its own, with
   * prom-client's metrics of the process beside it
   */
  readonly registry?: MetricsRegistry;
}

export const metricsOptions: OptionsSchema = pluginOptions({
  path: anyOf(
    [text("a path", isCanonicalPath), valueThat((value) => value === false, "false")],
    "a path as requests have it, decoded and from the root, or false",
  ),
  registry: valueThat(
    hasMethods("metrics", "registerMetric", "getSingleMetric", "removeSingleMetric"),
    "a registry of prom-client",
  ),
});

/**
 * Counts requests, durations, bytes and more, and shows them to Prometheus. Throws a `ConfigError` for options that
 * cannot work, and at the start for a registry that has metrics of these names already.
 *
 * Anyone who can send a request to the path can read it: put authentication before it, or expose a `registry`
 * elsewhere.
 *
 * @example createFileServer({ root: "site", plugins: [metrics(), healthCheck()] });
 */
export function metrics(options: MetricsOptions = {}): Plugin {
  checkOptions("metrics", metricsOptions, options);
  const { path = "/metrics", registry } = options;
  const sites = new Set<Site>();
  let counting: Counting | undefined;
  return {
    name: "metrics",
    async start(site) {
      sites.add(site);
      // Takes half as long to load as the rest of the package.
      const library = (await import("prom-client")).default as typeof import("prom-client");
      counting ??= beginCounting(library, registry, sites);
    },
    async handle(exchange, next) {
      if (!counting) throw new Error("metrics were not started");
      counting.begin(exchange);
      if (exchange.path === path) return expose(counting.registries, exchange);
      const { countClient } = counting;
      const reply = await next();
      return exchange.isUpgrade ? countClient(reply) : reply;
    },
    observe: (exchange, outcome) => counting?.end(exchange, outcome),
    close() {
      counting?.unregister();
      counting = undefined;
      sites.clear();
    },
  };
}

interface Counting {
  /** All that are exposed; the first is that in which the plugin counts. */
  readonly registries: readonly [MetricsRegistry, ...MetricsRegistry[]];
  /** A request has come; it counts as in flight until its exchange is over. */
  begin(exchange: Exchange): void;
  end(exchange: Exchange, outcome: Outcome): void;
  /** Counts the connection that a reply takes over, for as long as it is open. */
  countClient(reply: Reply): Reply;
  unregister(): void;
}

/** Anyone can invent a method, and each would be kept for ever: those that are not served are one. */
const methods: ReadonlySet<string> = new Set(fileMethods);

/** A file from the page cache takes less than a millisecond, a large one over a slow line minutes. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** prom-client's own metrics of the process, which cannot be stopped: the same for all servers in it. */
let ofProcess: Registry | undefined;

/** Counts exchanges in a registry, without labels that clients could invent. All metrics are registered, or none. */
function beginCounting(
  library: typeof import("prom-client"),
  given: MetricsRegistry | undefined,
  sites: ReadonlySet<Site>,
): Counting {
  const { Counter, Gauge, Histogram } = library;
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

  const registry = given ?? new library.Registry();
  if (!given && !ofProcess) {
    ofProcess = new library.Registry();
    library.collectDefaultMetrics({ register: ofProcess });
  }
  const taken = [...metrics.keys()].find((name) => registry.getSingleMetric(name));
  if (taken !== undefined) {
    throw new ConfigError([`metrics: registry has a metric "${taken}" already: expected another registry`]);
  }
  for (const metric of metrics.values()) registry.registerMetric(metric);

  return {
    registries: given || !ofProcess ? [registry] : [registry, ofProcess],
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
    unregister() {
      for (const [name, metric] of metrics) {
        if (registry.getSingleMetric(name) === metric) registry.removeSingleMetric(name);
      }
    },
  };
}

async function expose(registries: Counting["registries"], exchange: Exchange): Promise<Reply> {
  requireReading(exchange);
  const texts = await Promise.all(registries.map((registry) => registry.metrics()));
  const headers = { "content-type": registries[0].contentType, "cache-control": "no-store" };
  return { status: 200, headers, body: texts.join("\n") };
}
