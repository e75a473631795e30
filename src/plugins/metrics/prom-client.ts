import { createRequire } from "node:module";

type PromClient = typeof import("prom-client");

let library: PromClient | undefined;

/**
 * `prom-client`, which takes half as long to load as the rest of the package: not before there is a metric. Loaded
 * synchronously, for a plugin counts as soon as it is made.
 */
export function promClient(): PromClient {
  library ??= createRequire(import.meta.url)("prom-client") as PromClient;
  return library;
}
