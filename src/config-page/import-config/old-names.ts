import type { BundledName } from "../library.ts";

/** The names of properties here by those of rusty-beam, as `optionName` spells them; `undefined`: no effect. */
export type OldProperties = Readonly<Record<string, string | undefined>>;

export const oldOfServer: OldProperties = { port: "bindPort", address: "bindAddress", name: undefined };

export const oldOfHost: OldProperties = { hostName: "hostname" };

const oldOfPlugin: OldProperties = { pluginPath: "library", name: undefined };

const oldOfPlugins: Readonly<Partial<Record<BundledName, OldProperties>>> = {
  "access-log": {
    logFile: "file",
    logfile: "file",
    bufferSize: undefined,
    rotateSizeMb: undefined,
    rotateDaily: undefined,
  },
  cors: {
    allowedOrigins: "origins",
    allowedHeaders: "headers",
    allowedMethods: undefined,
    allowCredentials: "credentials",
  },
  "health-check": {
    healthEndpoint: "path",
    readyEndpoint: undefined,
    liveEndpoint: undefined,
    detailedChecks: undefined,
    checkDiskSpace: "check_storage",
    minDiskSpaceMb: undefined,
  },
  "rate-limit": { requests: undefined, limit: undefined, window: undefined, burst: undefined },
  websocket: { maxConnections: "max_clients", messageSizeLimit: undefined, broadcastBufferSize: undefined },
};

export function oldPropertiesOf(plugin: string): OldProperties {
  const own = Object.hasOwn(oldOfPlugins, plugin) ? oldOfPlugins[plugin as keyof typeof oldOfPlugins] : {};
  return { ...oldOfPlugin, ...own };
}

export const newPluginNames: ReadonlyMap<string, BundledName> = new Map([
  ["file-handler-v2", "file-handler"],
  ["file-authz", "authorization"],
  ["apache-access-log", "access-log"],
]);

export const builtIn: ReadonlySet<string> = new Set(["config-reload", "error-handler"]);
