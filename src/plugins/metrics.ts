import type { Registry } from "prom-client";
import { ConfigError } from "../config.ts";
import { isCanonicalPath } from "../http/request-target.ts";
import { checkOptions } from "../options/check-config.ts";
import { hasMethods, pluginOptions } from "../options/option-types.ts";
import { anyOf, type OptionsSchema, text, valueThat } from "../options/schema.ts";
import { requireReading } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import type { Reply } from "../server/reply.ts";
import type { Site } from "../server/site.ts";
import { type RequestMetrics, requestMetrics } from "./metrics/request-metrics.ts";

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
      const { requests, registries } = counting;
      requests.begin(exchange);
      if (exchange.path === path) return expose(registries, exchange);
      const reply = await next();
      return exchange.isUpgrade ? requests.countClient(reply) : reply;
    },
    observe: (exchange, outcome) => counting?.requests.end(exchange, outcome),
    close() {
      counting?.unregister();
      counting = undefined;
      sites.clear();
    },
  };
}

/** What there is from start to close. */
interface Counting {
  readonly requests: RequestMetrics;
  /** All that are exposed; the first is that in which the plugin counts. */
  readonly registries: readonly [MetricsRegistry, ...MetricsRegistry[]];
  unregister(): void;
}

/** prom-client's own metrics of the process, which cannot be stopped: the same for all servers in it. */
let ofProcess: Registry | undefined;

/** Puts the metrics into a registry, all or nothing. */
function beginCounting(
  library: typeof import("prom-client"),
  given: MetricsRegistry | undefined,
  sites: ReadonlySet<Site>,
): Counting {
  const requests = requestMetrics(library, sites);
  const registry = given ?? new library.Registry();
  if (!given && !ofProcess) {
    ofProcess = new library.Registry();
    library.collectDefaultMetrics({ register: ofProcess });
  }
  const taken = [...requests.metrics.keys()].find((name) => registry.getSingleMetric(name));
  if (taken !== undefined) {
    throw new ConfigError([`metrics: registry has a metric "${taken}" already: expected another registry`]);
  }
  for (const metric of requests.metrics.values()) registry.registerMetric(metric);
  return {
    requests,
    registries: given || !ofProcess ? [registry] : [registry, ofProcess],
    unregister() {
      for (const [name, metric] of requests.metrics) {
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
