import type { Registry } from "prom-client";
import { ConfigError } from "../config.ts";
import { isCanonicalPath } from "../http/request-target.ts";
import { checkOptions } from "../options/check-config.ts";
import { pluginOptions } from "../options/option-types.ts";
import { anyOf, listOf, number, type OptionsSchema, text, valueThat, withRule } from "../options/schema.ts";
import { requireReading } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Next, Plugin } from "../server/plugin.ts";
import type { Reply } from "../server/reply.ts";
import { processMetrics } from "./metrics/process-metrics.ts";
import { loadPromClient, promClient } from "./metrics/prom-client.ts";
import type { NamedMetric } from "./metrics/read-metric.ts";
import { RequestMetrics } from "./metrics/request-metrics.ts";
import { sharedServiceMetrics } from "./metrics/shared-service-metrics.ts";
import { StoreMetrics } from "./metrics/store-metrics.ts";

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
  /** Upper bounds of the duration histogram in seconds, ascending. @default 0.001 to 10 in 13 steps */
  readonly buckets?: readonly number[];
}

/** A file from the page cache takes less than a millisecond, a large one over a slow line minutes. */
const defaultBuckets: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const bucketList = "a list of positive numbers in ascending order";

/** What the options are checked against. */
export const metricsOptions: OptionsSchema = withRule(
  pluginOptions({
    path: anyOf(
      [text("a path", isCanonicalPath), valueThat((value) => value === false, "false")],
      "a path as requests have it, decoded and from the root, or false",
    ),
    registry: valueThat(isRegistry, "a registry of prom-client"),
    buckets: withRule(
      listOf(
        number(bucketList, (bound) => bound > 0),
        bucketList,
      ),
      (bounds: readonly number[]) => (isAscending(bounds) ? undefined : bucketList),
    ),
  }),
  ({ path, registry }: MetricsOptions) =>
    path === false && registry === undefined
      ? { path: ["registry"], expected: "a registry of prom-client, as path is false" }
      : undefined,
);

/**
 * Counts requests, durations, bytes and more, and shows them to Prometheus. Throws a `ConfigError` for options that cannot
 * work, and at the start for a registry that has metrics of these names already.
 *
 * Anyone who can send a request to the path can read it: put authentication before it, or expose a `registry` elsewhere.
 *
 * @example createFileServer({ root: "site", plugins: [metrics(), healthCheck()] });
 */
export function metrics(options: MetricsOptions = {}): Plugin {
  checkOptions("metrics", metricsOptions, options);
  const { path = "/metrics", buckets = defaultBuckets } = options;
  let counting: Counting | undefined;
  let beginning: Promise<Counting> | undefined;
  let unregister: (() => void) | undefined;

  async function begin(): Promise<Counting> {
    await loadPromClient();
    const registry: MetricsRegistry = options.registry ?? new (promClient().Registry)();
    const exposed = options.registry ? [registry] : [registry, processMetrics()];
    const begun = { registry, exposed, requests: new RequestMetrics(buckets), stores: new StoreMetrics(buckets) };
    counting = begun;
    return begun;
  }

  return {
    name: "metrics",
    async start(site) {
      beginning ??= begin();
      const { registry, requests, stores } = await beginning;
      requests.sites.add(site);
      stores.watch(site.storage);
      if (unregister) return; // for another host
      unregister = register(registry, [...requests.metrics, ...stores.metrics, ...sharedServiceMetrics()]);
    },
    handle(exchange, next) {
      if (!counting) throw new Error("metrics were not started");
      const { exposed, requests } = counting;
      requests.begin(exchange);
      if (exchange.path === path) return expose(exposed, exchange);
      return exchange.isUpgrade ? countingClient(requests, next) : next();
    },
    observe(exchange, outcome) {
      if (counting) return counting.requests.end(exchange, outcome);
      beginning ??= begin(); // a request that no plugin was asked for comes before the start
      beginning.then(({ requests }) => requests.end(exchange, outcome)).catch(() => {}); // the start has the error
    },
    close() {
      counting?.stores.stop();
      unregister?.();
      unregister = undefined;
      counting?.requests.sites.clear();
    },
  };
}

/** What a started plugin counts, and where. */
interface Counting {
  readonly registry: MetricsRegistry;
  readonly exposed: readonly MetricsRegistry[];
  readonly requests: RequestMetrics;
  readonly stores: StoreMetrics;
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

async function expose(registries: readonly MetricsRegistry[], exchange: Exchange): Promise<Reply> {
  requireReading(exchange);
  const texts = await Promise.all(registries.map((registry) => registry.metrics()));
  const [{ contentType }] = registries as readonly [MetricsRegistry];
  return { status: 200, headers: { "content-type": contentType, "cache-control": "no-store" }, body: texts.join("\n") };
}

async function countingClient(requests: RequestMetrics, next: Next): Promise<Reply> {
  return requests.countClient(await next());
}

function isRegistry(value: unknown): boolean {
  const methods = ["metrics", "registerMetric", "getSingleMetric", "removeSingleMetric"];
  return typeof value === "object" && value !== null && methods.every((name) => name in value);
}

function isAscending(bounds: readonly number[]): boolean {
  return bounds.length > 0 && bounds.every((bound, index) => index === 0 || bound > (bounds[index - 1] ?? bound));
}
