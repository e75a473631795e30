import type { Counter, Histogram } from "prom-client";
import type { Storage, StorageObserver, StoreRequest } from "../../storage/storage.ts";
import { promClient } from "./prom-client.ts";
import { type NamedMetric, readCounter } from "./read-metric.ts";

/** Counts what storages ask of stores that lie elsewhere, such as S3. */
export class StoreMetrics implements StorageObserver {
  readonly metrics: readonly NamedMetric[];
  /** The storages that are observed, and how that ends; hosts may share one. */
  readonly #observed = new Map<Storage, () => void>();
  readonly #durations: Histogram<"operation">;
  readonly #failures: Counter<"operation">;
  #retries = 0;
  #lostRaces = 0;

  constructor(buckets: readonly number[]) {
    const { Counter, Histogram } = promClient();
    const durations = "store_request_duration_seconds";
    this.#durations = new Histogram({
      name: durations,
      help: "From a request to the store to its answer, with all retries, in seconds.",
      labelNames: ["operation"],
      buckets: [...buckets], // prom-client freezes it
      registers: [],
    });
    const failures = "store_request_failures_total";
    this.#failures = new Counter({
      name: failures,
      help: "Requests that the store has not answered, or could not.",
      labelNames: ["operation"],
      registers: [],
    });
    const retries = "Requests to the store that were sent again.";
    const lostRaces = "Changes that were made again because another server was first.";
    this.metrics = [
      { name: durations, metric: this.#durations },
      { name: failures, metric: this.#failures },
      readCounter("store_request_retries_total", retries, () => this.#retries),
      readCounter("store_lost_races_total", lostRaces, () => this.#lostRaces),
    ];
  }

  /** Counts what a storage does from now on, if it has a store elsewhere. */
  watch(storage: Storage | undefined): void {
    if (!storage?.observe || this.#observed.has(storage)) return;
    this.#observed.set(storage, storage.observe(this));
  }

  /** Counts no more. */
  stop(): void {
    for (const end of this.#observed.values()) end();
    this.#observed.clear();
  }

  requested({ name, seconds, isAnswered, retries }: StoreRequest): void {
    this.#durations.observe({ operation: name }, seconds);
    if (!isAnswered) this.#failures.inc({ operation: name });
    this.#retries += retries;
  }

  lostRace(): void {
    this.#lostRaces += 1;
  }
}
