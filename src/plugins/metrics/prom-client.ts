type PromClient = typeof import("prom-client");

let library: PromClient | undefined;

/** Loads `prom-client`, which takes half as long as the rest of the package: not before a server with metrics starts. */
export async function loadPromClient(): Promise<void> {
  library ??= (await import("prom-client")).default as PromClient;
}

/** `prom-client`, once it is loaded. */
export function promClient(): PromClient {
  if (!library) throw new Error("prom-client is not loaded");
  return library;
}
