import type { FileServerConfig, HostConfig } from "../config.ts";
import { isLocalName } from "../http/request-target.ts";
import { hostKey } from "../options/check-config.ts";
import { createSite, type HostedSite, type HostParts } from "./site.ts";

export interface VirtualHosts {
  readonly sites: readonly HostedSite[];
  find(name: string): HostedSite | undefined;
}

export function createVirtualHosts(config: FileServerConfig, server: HostParts): VirtualHosts {
  const sites: HostedSite[] = [];
  const byName = new Map<string, HostedSite>();
  for (const [name, host] of Object.entries(hostsOf(config))) {
    const readOnly = config.readOnly || host.readOnly;
    const site = createSite(name, { ...inherited(config), ...withoutUndefined(host), readOnly }, server);
    sites.push(site);
    for (const alias of [name, ...(host.aliases ?? [])]) byName.set(hostKey(alias), site);
  }
  const fallback = byName.get("*");
  const { allowedHosts } = config;
  const allowed = allowedHosts && new Set(allowedHosts.map(hostKey));
  const isAllowed = (name: string): boolean => !allowed || allowed.has(name) || isLocalName(name);
  return { sites, find: (name) => byName.get(name) ?? (isAllowed(name) ? fallback : undefined) };
}

function hostsOf(config: FileServerConfig): Readonly<Record<string, HostConfig>> {
  const { hosts = {}, root, storage } = config;
  const isDefaultHost = root !== undefined || storage !== undefined || config.hosts === undefined;
  return isDefaultHost ? { ...hosts, "*": { root, storage } } : hosts;
}

/** What a host takes over from the server: all but its files. Plugins too, as protection is meant for every host. */
function inherited(config: FileServerConfig): HostConfig {
  const { root, storage, hosts, ...options } = config;
  return options.fallthrough ? { ...besideOthers, ...withoutUndefined(options) } : options;
}

/** With `fallthrough` other routes are behind the files, which take nothing but what is there. */
const besideOthers: HostConfig = { methods: ["GET", "HEAD"], listing: false };

/** An option set to `undefined` is one left out. */
function withoutUndefined(host: HostConfig): HostConfig {
  return Object.fromEntries(Object.entries(host).filter(([, value]) => value !== undefined));
}
