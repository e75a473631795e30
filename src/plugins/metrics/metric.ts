import type { Metric } from "prom-client";

/** A metric and the name that a registry keeps it under. */
export interface NamedMetric {
  readonly name: string;
  readonly metric: Metric<string>;
}

/** A line of a metric. */
export interface Sample {
  /** The name of the line where it is not that of the metric. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * A metric that is kept elsewhere and read at each scrape. Those of prom-client take 30 times as long for each count:
 * they look up a text made of the labels. `reset` is called where the host program empties its registry.
 */
export function metricOf(
  type: "counter" | "gauge" | "histogram",
  name: string,
  help: string,
  read: () => number | readonly Sample[],
  reset: () => void = () => {},
): NamedMetric {
  const described = { name, help, type, aggregator: "sum" };
  const metric = {
    ...described,
    reset,
    async get() {
      const values = read();
      // A registry of OpenMetrics changes the name.
      const { name } = metric;
      return { ...described, name, values: typeof values === "number" ? [{ labels: {}, value: values }] : values };
    },
  };
  return { name, metric: metric as unknown as Metric<string> }; // it has all that a registry asks a metric for
}

/** A file from the page cache takes less than a millisecond, a large one over a slow line minutes. */
const bounds: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A histogram of how long requests took, by method. */
export class Durations {
  readonly metric: NamedMetric;
  /** How many took up to each bound but longer than the one below, the last longer than all; and their seconds. */
  readonly #taken = new Map<string, { readonly counts: number[]; seconds: number }>();

  constructor(name: string, help: string) {
    this.metric = metricOf(
      "histogram",
      name,
      help,
      () => this.#samples(name),
      () => this.#taken.clear(),
    );
  }

  add(method: string, seconds: number): void {
    let taken = this.#taken.get(method);
    if (!taken) {
      taken = { counts: new Array<number>(bounds.length + 1).fill(0), seconds: 0 };
      this.#taken.set(method, taken);
    }
    let bucket = 0;
    while (seconds > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    taken.counts[bucket] = (taken.counts[bucket] ?? 0) + 1;
    taken.seconds += seconds;
  }

  /** As Prometheus has them: each bucket holds the ones below, too. */
  #samples(name: string): readonly Sample[] {
    return [...this.#taken].flatMap(([method, { counts, seconds }]) => {
      const labels = { method };
      let sum = 0;
      const buckets = counts.map((count, bucket) => {
        sum += count;
        return { metricName: `${name}_bucket`, labels: { le: bounds[bucket] ?? "+Inf", ...labels }, value: sum };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: seconds },
        { metricName: `${name}_count`, labels, value: sum },
      ];
    });
  }
}
