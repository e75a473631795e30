import { methodNotAllowed } from "../http/http-error.ts";
import type { Exchange } from "./exchange.ts";

/** Throws 401 or 403 without the right to read a resource that can only be read, and 405 for other methods. */
export function requireReading({ method, path, access }: Pick<Exchange, "method" | "path" | "access">): void {
  if (!access.permits("read", path)) throw access.refusal();
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed("GET, HEAD");
}
