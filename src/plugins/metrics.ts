import type { Registry } from "prom-client";
import { ConfigError } from "../config.ts";
import { isCanonicalPath } from "../http/request-target.ts";
import { checkOptions } from "../options/check-config.ts";
import { hasMethods, pluginOptions } from "../options/option-types.ts";
import { anyOf, type OptionsSchema, text, valueThat } from "../options/schema.ts";
import { requireReading } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Next, Plugin } from "../server/plugin.ts";
import type { Reply } from "../server/reply.ts";
import type { NamedMetric } from "./metrics/metric.ts";
import { RequestMetrics } from "./metrics/request-metrics.ts";
import { sharedServiceMetrics } from "./metrics/shared-service-metrics.ts";

/** A registry of `prom-client`, for either content type. */
export type MetricsRegistry = Pick<
  Registry,
  "metrics" | "registerMetric" | "getSingleMetric" | "removeSingleMetric"
> & { readonly contentType: string };

/** Options for {@link metrics}. */
export interface MetricsOptions {
  /** Path of the exposition; `false` for none, with a `registry` that is exposed elsewhere. @default "/metrics" */
  readonly path?: string | false;
  /**
   * Registry of `prom-client` to count in; what else it holds is exposed as well. @default one of its own, with
   * prom-client's metrics of the process beside it
   */
  readonly registry?: MetricsRegistry;
}

/** What the options are checked against. */
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
  const requests = new RequestMetrics();
  let registries: Promise<Registries> | undefined;
  let unregister: (() => void) | undefined;
  return {
    name: "metrics",
    async start(site) {
      requests.sites.add(site);
      registries ??= registry ? Promise.resolve([registry]) : ownRegistries();
      const [own] = await registries;
      unregister ??= register(own, [...requests.metrics, ...sharedServiceMetrics()]);
    },
    handle(exchange, next) {
      if (!registries) throw new Error("metrics were not started");
      requests.begin(exchange);
      if (exchange.path === path) return expose(registries, exchange);
      return exchange.isUpgrade ? countingClient(requests, next) : next();
    },
    observe: (exchange, outcome) => requests.end(exchange, outcome),
    close() {
      unregister?.();
      unregister = undefined;
      requests.sites.clear();
    },
  };
}

/** All that is exposed; the first is that in which the plugin counts. */
type Registries = readonly [MetricsRegistry, ...MetricsRegistry[]];

/** prom-client's own metrics of the process, which cannot be stopped: the same for all servers in it. */
let ofProcess: Registry | undefined;

/** Loads prom-client, which takes half as long as the rest of the package, when a server with metrics starts. */
async function ownRegistries(): Promise<Registries> {
  const { Registry, collectDefaultMetrics } = (await import("prom-client")).default as typeof import("prom-client");
  if (!ofProcess) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return [new Registry(), ofProcess];
}

/** Puts metrics into a registry, all or none, and returns how to take them out again. */
function register(registry: MetricsRegistry, metrics: readonly NamedMetric[]): () => void {
  const taken = metrics.find(({ name }) => registry.getSingleMetric(name));
  if (taken) {
    throw new ConfigError([`metrics: registry has a metric "${taken.name}" already: expected another registry`]);
  }
  for (const { metric } of metrics) registry.registerMetric(metric);
  return () => {
    for (const { name, metric } of metrics) {
      if (registry.getSingleMetric(name) === metric) registry.removeSingleMetric(name);
    }
  };
}

async function expose(registries: Promise<Registries>, exchange: Exchange): Promise<Reply> {
  requireReading(exchange);
  const exposed = await registries;
  const texts = await Promise.all(exposed.map((registry) => registry.metrics()));
  const headers = { "content-type": exposed[0].contentType, "cache-control": "no-store" };
  return { status: 200, headers, body: texts.join("\n") };
}

async function countingClient(requests: RequestMetrics, next: Next): Promise<Reply> {
  return requests.countClient(await next());
}
