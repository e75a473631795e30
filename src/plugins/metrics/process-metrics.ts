import { readdir } from "node:fs/promises";
import {
  constants,
  monitorEventLoopDelay,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
} from "node:perf_hooks";
import type { Gauge } from "prom-client";
import { promClient } from "./prom-client.ts";
import { type NamedMetric, readCounter, readGauge } from "./read-metric.ts";

/** What is known of the process. Some of it has to be measured all the time, from `start` to `stop`. */
export interface ProcessMetrics {
  readonly metrics: readonly NamedMetric[];
  start(): void;
  stop(): void;
}

/**
 * Measures the process, under the names of prom-client's `collectDefaultMetrics`. That function itself cannot be stopped,
 * and reads files of `/proc` synchronously.
 */
export function processMetrics(prefix: string): ProcessMetrics {
  const eventLoop = eventLoopMetrics(prefix);
  const garbage = garbageMetrics(prefix);
  return {
    metrics: [...usageMetrics(prefix), ...openFileMetrics(prefix), ...eventLoop.metrics, ...garbage.metrics],
    start() {
      eventLoop.start();
      garbage.start();
    },
    stop() {
      eventLoop.stop();
      garbage.stop();
    },
  };
}

function usageMetrics(prefix: string): NamedMetric[] {
  const cpuSeconds = (...kinds: ("user" | "system")[]): number => {
    const usage = process.cpuUsage(); // in microseconds
    return kinds.reduce((sum, kind) => sum + usage[kind], 0) / 1e6;
  };
  const startedAt = Date.now() / 1000 - process.uptime();
  const counter = (name: string, help: string, read: () => number): NamedMetric =>
    readCounter(prefix + name, help, read);
  const gauge = (name: string, help: string, read: () => number): NamedMetric => readGauge(prefix + name, help, read);
  return [
    counter("process_cpu_user_seconds_total", "User CPU time in seconds.", () => cpuSeconds("user")),
    counter("process_cpu_system_seconds_total", "System CPU time in seconds.", () => cpuSeconds("system")),
    counter("process_cpu_seconds_total", "User and system CPU time in seconds.", () => cpuSeconds("user", "system")),
    gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", () => startedAt),
    gauge("process_resident_memory_bytes", "Memory that the process occupies.", () => process.memoryUsage.rss()),
    gauge("nodejs_heap_size_total_bytes", "Size of the heap.", () => process.memoryUsage().heapTotal),
    gauge("nodejs_heap_size_used_bytes", "What of the heap is used.", () => process.memoryUsage().heapUsed),
    gauge("nodejs_external_memory_bytes", "Memory outside of the heap.", () => process.memoryUsage().external),
    versionMetric(prefix),
  ];
}

function versionMetric(prefix: string): NamedMetric {
  const name = `${prefix}nodejs_version_info`;
  const collect = (): void => metric.set({ version: process.version }, 1);
  const { Gauge } = promClient();
  const metric: Gauge = new Gauge({ name, help: "Version of Node.", labelNames: ["version"], registers: [], collect });
  return { name, metric };
}

/** Where the system tells: on Linux. */
function openFileMetrics(prefix: string): NamedMetric[] {
  if (process.platform !== "linux") return [];
  const name = `${prefix}process_open_fds`;
  const collect = async (): Promise<void> => {
    try {
      metric.set((await readdir("/proc/self/fd")).length - 1); // without the one that reads
    } catch {
      // With no descriptor left this fails as well, and the other metrics are never needed more than then.
    }
  };
  const { Gauge } = promClient();
  const metric: Gauge = new Gauge({ name, help: "Open files and sockets.", registers: [], collect });
  return [{ name, metric }];
}

/** Delays since the last scrape. */
function eventLoopMetrics(prefix: string): ProcessMetrics {
  const delays = monitorEventLoopDelay({ resolution: 10 });
  const readings: Readonly<Record<string, () => number>> = {
    min: () => delays.min,
    max: () => delays.max,
    mean: () => delays.mean,
    stddev: () => delays.stddev,
    p50: () => delays.percentile(50),
    p90: () => delays.percentile(90),
    p99: () => delays.percentile(99),
  };
  const { Gauge } = promClient();
  const gauges = Object.entries(readings).map(([kind, read]) => {
    const name = `${prefix}nodejs_eventloop_lag_${kind}_seconds`;
    const metric = new Gauge({ name, help: `Delay of a 10 ms timer: ${kind}.`, registers: [], collect: readAll });
    return { name, metric, read };
  });
  // Whichever is asked first reads them all: with the others the monitor would have begun anew.
  function readAll(): void {
    if (delays.count === 0) return; // no mean of nothing
    for (const { metric, read } of gauges) metric.set(read() / 1e9);
    delays.reset();
  }
  return { metrics: gauges, start: () => void delays.enable(), stop: () => void delays.disable() };
}

/** The only kind of entry that is observed here; the types of Node do not have it yet. */
type GarbageEntry = PerformanceEntry & { readonly detail: NodeGCPerformanceDetail };

function garbageMetrics(prefix: string): ProcessMetrics {
  const name = `${prefix}nodejs_gc_duration_seconds`;
  const { Histogram } = promClient();
  const metric = new Histogram({
    name,
    help: "Garbage collections by kind, in seconds.",
    labelNames: ["kind"],
    buckets: [0.001, 0.01, 0.1, 1, 2, 5],
    registers: [],
  });
  const kinds = new Map([
    [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
    [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
    [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
    [constants.NODE_PERFORMANCE_GC_WEAKCB, "weakcb"],
  ]);
  const observer = new PerformanceObserver((list) => {
    for (const { detail, duration } of list.getEntries() as GarbageEntry[]) {
      metric.observe({ kind: kinds.get(detail.kind ?? 0) ?? "other" }, duration / 1000);
    }
  });
  return {
    metrics: [{ name, metric }],
    start: () => observer.observe({ entryTypes: ["gc"] }),
    stop: () => observer.disconnect(),
  };
}
