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
