import type { Counter, Gauge, Metric } from "prom-client";
import { promClient } from "./prom-client.ts";

/** A metric and the name that a registry keeps it under. */
export interface NamedMetric {
  readonly name: string;
  readonly metric: Metric<string>;
}

/** A gauge whose value is read at each scrape. */
export function readGauge(name: string, help: string, read: () => number): NamedMetric {
  const { Gauge } = promClient();
  const metric: Gauge = new Gauge({ name, help, registers: [], collect: () => metric.set(read()) });
  return { name, metric };
}

/** A counter that is kept elsewhere and read at each scrape. */
export function readCounter(name: string, help: string, read: () => number): NamedMetric {
  const collect = (): void => {
    metric.reset(); // a counter of prom-client can only be added to
    metric.inc(read());
  };
  const { Counter } = promClient();
  const metric: Counter = new Counter({ name, help, registers: [], collect });
  return { name, metric };
}

/** A line of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Counts kept outside of prom-client, which takes 30 times as long for each: it looks up a text made of the labels. */
export interface Kept {
  samples(): readonly Sample[];
  /** The host program has emptied its registry. */
  reset(): void;
}

/** A counter with labels that is kept elsewhere and read at each scrape. */
export function readCounters(name: string, help: string, labelNames: readonly string[], kept: Kept): NamedMetric {
  const { Counter } = promClient();
  const collect = (): void => {
    empty();
    for (const { labels, value } of kept.samples()) metric.inc(labels, value);
  };
  const metric: Counter = new Counter({ name, help, labelNames, registers: [], collect });
  const empty = metric.reset.bind(metric);
  metric.reset = () => kept.reset();
  return { name, metric };
}

/** A histogram that is kept elsewhere and read at each scrape; its samples are the lines that Prometheus reads. */
export function readHistogram(name: string, help: string, labelNames: readonly string[], kept: Kept): NamedMetric {
  const { Histogram } = promClient();
  const metric = new Histogram({ name, help, labelNames, registers: [] });
  const described = metric.get(); // before it has another one
  const get = async (): Promise<object> => ({ ...(await described), values: kept.samples() });
  // A registry takes the second one where there is one.
  return { name, metric: Object.assign(metric, { get, getForPromString: get, reset: () => kept.reset() }) };
}
