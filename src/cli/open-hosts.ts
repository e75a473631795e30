import type { FileServerConfig, HostConfig } from "../config.ts";
import { bundledNames } from "../config-page/library.ts";
import { isEverywhere, listPlugins } from "../server/pipeline.ts";
import type { Plugin } from "../server/plugin.ts";

/** Names of plugins that never refuse a client. A plugin of the host program may. */
const harmless: ReadonlySet<string> = new Set(
  [...bundledNames, "client-module", "event-stream", "web-socket", "request-log"].filter(
    (name) => name !== "basic-auth",
  ),
);

/** Why anonymous clients may write to a host. */
type Reason =
  | "there is no authentication"
  | "the authentication covers a part of the paths only"
  | "a rule allows it to everyone";

/** Warnings of hosts to which anonymous clients may write. Their plugins have to be started. */
export function openHostWarnings(config: FileServerConfig, address: string): readonly string[] {
  const clients = isLoopback(address) ? "every program on this computer" : `every client that can reach ${address}`;
  return [...openHosts(config)].map(([reason, names]) => {
    const files = names.includes("*") ? "files here" : `files of ${names.join(", ")}`;
    return `${clients} can change the ${files}: ${reason}`;
  });
}

/** The hosts to which anonymous clients may write, by the reason; `"*"` for a single host without a name. */
export function openHosts(config: FileServerConfig): ReadonlyMap<Reason, readonly string[]> {
  const hosts = Object.entries(config.hosts ?? {});
  const open = new Map<Reason, string[]>();
  for (const [name, host] of hosts.length === 0 ? [["*", config] as const] : hosts) {
    const takes = { methods: config.methods, ...host, readOnly: config.readOnly || host.readOnly };
    const reason = mayChange(takes) ? reasonOf(host) : undefined;
    if (reason) open.set(reason, [...(open.get(reason) ?? []), name]);
  }
  return open;
}

/** Whether the files of a host take a method that changes them. */
function mayChange({ readOnly, methods }: HostConfig): boolean {
  return !readOnly && (!methods || methods.some((method) => !["GET", "HEAD", "OPTIONS"].includes(method)));
}

function reasonOf({ plugins = [] }: HostConfig): Reason | undefined {
  const guards = listPlugins(plugins).filter(({ plugin }) => !harmless.has(plugin.name));
  if (guards.length === 0) return "there is no authentication";
  const everywhere = guards.filter(isEverywhere);
  if (everywhere.length === 0) return "the authentication covers a part of the paths only";
  return everywhere.every(({ plugin }) => isOpen(plugin)) ? "a rule allows it to everyone" : undefined;
}

/** `basicAuth` knows its rules. Of a plugin of the host program the worst is not assumed. */
function isOpen(plugin: Plugin): boolean {
  const mayWrite: unknown = Reflect.get(plugin, "anonymousMayWrite");
  return typeof mayWrite === "function" && mayWrite.call(plugin) === true;
}

/** Whether only programs of this computer can reach an address. `false` for names other than `localhost`. */
export function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address);
}
