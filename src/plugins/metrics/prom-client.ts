type PromClient = typeof import("prom-client");

let library: PromClient | undefined;

/** Loads `prom-client` when a server with metrics starts: it takes half as long as the rest of the package. */
export async function loadPromClient(): Promise<void> {
  library ??= (await import("prom-client")).default as PromClient;
}

/** `prom-client`, once it is loaded. */
export function promClient(): PromClient {
  if (!library) throw new Error("prom-client is not loaded");
  return library;
}
