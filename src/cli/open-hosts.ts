import type { FileServerConfig, HostConfig } from "../config.ts";
import { bundledNames } from "../config-page/library.ts";
import { listPlugins } from "../server/pipeline.ts";

/** Names of plugins that never refuse a client. A plugin of the host program may. */
const harmless: ReadonlySet<string> = new Set(
  [...bundledNames, "client-module", "event-stream", "web-socket", "request-log", "own-files"].filter(
    (name) => name !== "basic-auth",
  ),
);

/** The hosts that have no plugin that could ask for credentials; `["*"]` for a single host without a name. */
export function openHosts(config: FileServerConfig): readonly string[] {
  const isOpen = ({ plugins = [] }: HostConfig): boolean =>
    listPlugins(plugins).every(({ plugin }) => harmless.has(plugin.name));
  const hosts = Object.entries(config.hosts ?? {});
  if (hosts.length === 0) return isOpen(config) ? ["*"] : [];
  return hosts.filter(([, host]) => isOpen(host)).map(([name]) => name);
}

/** Whether only programs of this computer can reach an address. `false` for names other than `localhost`. */
export function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address);
}
