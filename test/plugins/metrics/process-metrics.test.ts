import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Registry } from "prom-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ProcessMetrics, processMetrics } from "../../../src/plugins/metrics/process-metrics.ts";
import { samplesIn } from "./exposition.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Metrics of this process in a registry of their own, and how to read them. */
function measured(prefix = ""): ProcessMetrics & { read: () => Promise<Map<string, number>> } {
  const measuring = processMetrics(prefix);
  const registry = new Registry();
  for (const { metric } of measuring.metrics) registry.registerMetric(metric);
  onTestFinished(() => measuring.stop());
  return { ...measuring, read: async () => samplesIn(await registry.metrics()) };
}

/** Collects garbage and waits until every observer was told. */
async function collectAndTell(): Promise<void> {
  const told = new Promise<void>((resolve) => {
    const observer = new PerformanceObserver(() => {
      observer.disconnect();
      resolve();
    });
    observer.observe({ entryTypes: ["gc"] });
  });
  collectGarbage();
  await told;
  await nextTurn();
}

const major = 'nodejs_gc_duration_seconds_count{kind="major"}';

describe("the metrics of the process", () => {
  it("are numbers from the first time on", async () => {
    const { read, start } = measured();
    start();
    const samples = await read(); // which refuses what is no number
    for (const name of [
      "process_cpu_seconds_total",
      "process_start_time_seconds",
      "process_resident_memory_bytes",
      "nodejs_heap_size_total_bytes",
      "nodejs_heap_size_used_bytes",
      "nodejs_external_memory_bytes",
      `nodejs_version_info{version="${process.version}"}`,
    ]) {
      expect([name, samples.get(name)]).toEqual([name, expect.any(Number)]);
      expect(samples.get(name)).toBeGreaterThan(0);
    }
    const now = Date.now() / 1000;
    expect(samples.get("process_start_time_seconds")).toBeGreaterThan(now - 24 * 3600);
    expect(samples.get("process_start_time_seconds")).toBeLessThanOrEqual(now);
  });

  it("tell how many files are open", { tags: ["linux"] }, async () => {
    expect((await measured().read()).get("process_open_fds")).toBeGreaterThan(2);
  });

  it("tell how late timers are, and keep what they told until there is something new", async () => {
    const { read, start, stop } = measured();
    start();
    let samples = await read();
    while (samples.get("nodejs_eventloop_lag_max_seconds") === 0) {
      await nextTurn();
      samples = await read();
    }
    stop();
    const p50 = samples.get("nodejs_eventloop_lag_p50_seconds") ?? 0;
    expect(p50).toBeGreaterThan(0);
    expect(samples.get("nodejs_eventloop_lag_max_seconds")).toBeGreaterThanOrEqual(p50);
    expect(samples.get("nodejs_eventloop_lag_max_seconds")).toBeLessThan(20);
    await read();
    const again = await read();
    expect(again.get("nodejs_eventloop_lag_max_seconds")).toBeGreaterThan(0);
  });

  it("count garbage collections from start to stop", async () => {
    const { read, start, stop } = measured();
    await collectAndTell();
    expect((await read()).has(major)).toBe(false);
    start();
    await collectAndTell();
    stop(); // before it is read: garbage may be collected at any time
    const counted = (await read()).get(major) ?? 0;
    expect(counted).toBeGreaterThan(0);
    await collectAndTell();
    expect((await read()).get(major)).toBe(counted);
  });

  it("can be started again", async () => {
    const { read, start, stop } = measured();
    start();
    stop();
    start();
    await collectAndTell();
    expect((await read()).get(major)).toBeGreaterThan(0);
  });

  it("have the prefix that they are given, each of them", async () => {
    const samples = await measured("my_").read();
    expect([...samples.keys()].filter((series) => !series.startsWith("my_"))).toEqual([]);
  });
});
