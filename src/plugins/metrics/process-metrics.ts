import { existsSync } from "node:fs";
import type { Registry } from "prom-client";
import { promClient } from "./prom-client.ts";

/** What prom-client reads from `/proc` on Linux. Without it, they would all be 0. */
const fromProc = [
  "process_open_fds",
  "process_resident_memory_bytes",
  "process_virtual_memory_bytes",
  "process_heap_bytes",
];

let registry: Registry | undefined;

/** prom-client's own metrics of the process, which cannot be stopped: the same for all servers in it. */
export function processMetrics(): Registry {
  if (registry) return registry;
  const { Registry, collectDefaultMetrics } = promClient();
  registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const isBlind = process.platform === "linux" && !isReadable("/proc/self/status");
  for (const name of isBlind ? fromProc : []) registry.removeSingleMetric(name);
  return registry;
}

/** A runtime may not let the program look. */
function isReadable(path: string): boolean {
  try {
    return existsSync(path);
  } catch {
    return false;
  }
}
