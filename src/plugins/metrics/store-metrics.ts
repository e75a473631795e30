import type { Storage, StorageObserver, StoreRequest } from "../../storage/storage.ts";
import { Durations, metricOf, type NamedMetric } from "./metric.ts";

/** Counts what storages ask of stores that lie elsewhere, such as S3. */
export class StoreMetrics implements StorageObserver {
  readonly metrics: readonly NamedMetric[];
  /** The storages that are observed, and how that ends; hosts may share one. */
  readonly #observed = new Map<Storage, () => void>();
  readonly #durations = new Durations(
    "store_request_duration_seconds",
    "From a request to the store to its answer, with all retries, in seconds.",
    "operation",
  );
  readonly #failures = new Map<string, number>();
  #retries = 0;
  #lostRaces = 0;

  constructor() {
    const failures = "Requests that the store has not answered, or could not.";
    const retries = "Requests to the store that were sent again.";
    const lostRaces = "Changes that were made again because another server was first.";
    this.metrics = [
      this.#durations.metric,
      metricOf("counter", "store_request_failures_total", failures, () =>
        [...this.#failures].map(([operation, value]) => ({ labels: { operation }, value })),
      ),
      metricOf("counter", "store_request_retries_total", retries, () => this.#retries),
      metricOf("counter", "store_lost_races_total", lostRaces, () => this.#lostRaces),
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
    this.#durations.add(name, seconds);
    if (!isAnswered) this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
    this.#retries += retries;
  }

  lostRace(): void {
    this.#lostRaces += 1;
  }
}
