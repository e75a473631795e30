import { describe, expect, it, vi } from "vitest";
import { samplesIn } from "./exposition.ts";

const fs = await vi.hoisted(async () => ({ isThere: true, exists: (await import("node:fs")).existsSync }));
vi.mock("node:fs", async (original) => ({
  ...(await original<typeof import("node:fs")>()),
  existsSync: (path: string) => (path === "/proc/self/status" ? fs.isThere : fs.exists(path)),
}));

/** The metrics of a process that begins now. */
async function measured() {
  vi.resetModules();
  await (await import("../../../src/plugins/metrics/prom-client.ts")).loadPromClient();
  const { processMetrics } = await import("../../../src/plugins/metrics/process-metrics.ts");
  return { processMetrics, samples: samplesIn(await processMetrics().metrics()) };
}

describe("the metrics of the process", () => {
  it("are those of prom-client, once for all servers", async () => {
    const { processMetrics, samples } = await measured();
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "nodejs_heap_size_used_bytes"]) {
      expect([name, samples.get(name)]).toEqual([name, expect.any(Number)]);
      expect(samples.get(name)).toBeGreaterThan(0);
    }
    expect(processMetrics()).toBe(processMetrics());
  });

  it("leave out what cannot be read without /proc", { tags: ["linux"] }, async () => {
    fs.isThere = false;
    const { samples } = await measured();
    fs.isThere = true;
    expect([samples.has("process_resident_memory_bytes"), samples.has("process_open_fds")]).toEqual([false, false]);
    expect(samples.get("process_cpu_seconds_total")).toBeGreaterThan(0);
  });
});
