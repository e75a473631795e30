import { encodePath } from "../http/request-path.ts";
import type { Exchange } from "../server/exchange.ts";

/** The `Location` of a canonical path: below the mount, and with exactly one slash at its beginning. */
export function locationOf({ mount }: Exchange, path: string): string {
  // A framework that mounts at a wildcard may report "//evil.com", which in a Location would be another host.
  return mount.replace(/^\/+/, "/") + encodePath(path);
}
