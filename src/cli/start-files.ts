import { stat } from "node:fs/promises";
import { ConfigError, type FileServerConfig, type HostConfig, type PageConfig } from "../config.ts";
import { loadConfig } from "../config-page/load-when-asked.ts";
import { doneInTime } from "../event-loop/in-time.ts";
import { createFileServer, type FileServer } from "../file-server.ts";
import { openHostWarnings as warningsOf } from "../hosts/authentication.ts";
import { withoutUserInfo } from "../plugins/access-log/entry.ts";
import { messageOf } from "../server/logger.ts";
import type { Plugin } from "../server/plugin.ts";
import { bucketUrlProblem, isBucketUrl, readBucketUrl } from "../storage/s3/bucket-url.ts";
import type { CommandLine } from "./command-line.ts";
import type { OperatorLog } from "./log-lines.ts";

/** How long all plugins and storages together may take to start, in milliseconds. */
const startMs = 60_000;

export interface StartedFiles {
  readonly files: FileServer;
  readonly config: FileServerConfig;
  /** Where to listen: the command line takes precedence over the configuration. */
  readonly address: { readonly host: string; readonly port: number };
}

interface Asked extends Partial<Omit<CommandLine, "target" | "mcp">> {
  readonly target: string;
  readonly mcp?: boolean | Plugin;
  /** The address of a server that listens already. */
  readonly boundHost?: string;
}

export async function startFiles(asked: Asked, logger: OperatorLog, limitMs: number = startMs): Promise<StartedFiles> {
  const { config, address } = await configOf(asked);
  // The library does not know the address; the command warns in its own words.
  const warn: OperatorLog["warn"] = (fields, message) => "openHosts" in fields || logger.warn(fields, message);
  const files = createFileServer({ ...config, logger: { ...logger, warn } });
  try {
    await doneInTime(files.ready(), limitMs, `the plugins have not started within ${limitMs / 1000} s`);
    return { files, config, address };
  } catch (error) {
    // Not awaited: a plugin that does not start may never close.
    files.close().catch(() => {});
    throw error;
  }
}

/** Whether the target is a configuration page. A missing one is reported when it is read. */
export async function isPage(target: string): Promise<boolean> {
  if (isBucketUrl(target)) return false;
  const found = await stat(target).catch(() => undefined);
  return found?.isFile() ?? /\.html?$/i.test(target);
}

async function configOf(asked: Asked): Promise<Pick<StartedFiles, "config" | "address">> {
  const { target, tls, verbose, allowedHosts = [], readOnly = false } = asked;
  const loaded: PageConfig = (await isPage(target)) ? await loadConfig(target) : await directoryConfig(asked);
  const secrets = tls ? [tls.cert, tls.key] : [];
  const { bindAddress = "127.0.0.1", bindPort = 3000 } = loaded;
  const { host = bindAddress, port = bindPort, boundHost = host } = asked;
  const config = await eachHost(loaded, withBucket);
  const ours = {
    ...config,
    ...(readOnly && { readOnly }),
    allowedHosts: allowedNames(loaded, boundHost, allowedHosts),
    protectedFiles: [...(loaded.protectedFiles ?? []), ...secrets],
  };
  const withLog = <Config extends HostConfig>(each: Config): Config => ({
    ...each,
    plugins: [requestLog(), ...(each.plugins ?? config.plugins ?? [])],
  });
  return { config: verbose ? await eachHost(ours, withLog) : ours, address: { host, port } };
}

async function eachHost<Config extends FileServerConfig>(
  config: Config,
  change: <Each extends HostConfig>(each: Each) => Each | Promise<Each>,
): Promise<Config> {
  if (Object.keys(config.hosts ?? {}).length === 0) return change(config);
  const hosts: Record<string, HostConfig> = {};
  for (const [name, host] of Object.entries(config.hosts ?? {})) hosts[name] = await change(host);
  return { ...config, hosts };
}

async function directoryConfig(asked: Asked): Promise<FileServerConfig> {
  const { target: root, live = false, users: authfile, history: repository, single = false } = asked;
  const { cors, accessLog, mcp } = asked;
  const plugins: Plugin[] = [];
  if (accessLog) {
    const { accessLog } = await import("../plugins/access-log.ts");
    plugins.push(accessLog({ file: "/dev/stdout", format: "common" }));
  }
  if (cors) plugins.push((await import("../plugins/cors.ts")).cors({ origins: ["*"] }));
  if (authfile !== undefined) plugins.push((await import("../plugins/basic-auth.ts")).basicAuth({ authfile }));
  if (repository !== undefined) plugins.push((await import("../plugins/history.ts")).history({ repository }));
  if (live) plugins.push((await import("../plugins/web-socket.ts")).webSocket());
  if (mcp) plugins.push(mcp === true ? (await import("../plugins/mcp.ts")).mcp() : mcp);
  const watch = live && !isBucketUrl(root); // nothing tells of changes that others make in a bucket
  return { root, listing: { edit: true, zip: true }, single, plugins, client: live, watch };
}

export function hostNames({ hosts = {} }: FileServerConfig): readonly string[] {
  return Object.entries(hosts).flatMap(([name, { aliases = [] }]) => [name, ...aliases]);
}

/** A server without a name, which only this computer can reach, answers to no name that another server may have. */
function allowedNames(
  config: FileServerConfig,
  address: string,
  asked: readonly string[],
): readonly string[] | undefined {
  const { allowedHosts } = config;
  const isNameless = hostNames(config).every((name) => name === "*");
  const isRestricted = allowedHosts || asked.length > 0 || (isNameless && isLoopback(address));
  return isRestricted ? [...(allowedHosts ?? []), ...asked] : undefined;
}

/** Whether only programs of this computer can reach an address. `false` for names other than `localhost`. */
export function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address);
}

/** Warnings of hosts to which anonymous clients may write. Their plugins have to be started. */
export function openHostWarnings(config: FileServerConfig, address: string): readonly string[] {
  const clients = isLoopback(address) ? "every program on this computer" : `every client that can reach ${address}`;
  return warningsOf(config, clients, "--read-only or --users FILE changes that, and basic-auth in a page");
}

async function withBucket<Config extends HostConfig>(config: Config): Promise<Config> {
  const { root } = config;
  if (!isBucketUrl(root)) return config;
  const place = readBucketUrl(root);
  if (!place) throw new ConfigError([`root is ${bucketUrlProblem(root)}`]);
  const { s3Storage } = await import("../storage/s3/s3-storage.ts");
  try {
    return { ...config, root: undefined, storage: s3Storage({ ...place, credentials: "environment" }) };
  } catch (error) {
    throw new ConfigError([`root is ${JSON.stringify(root)}: ${messageOf(error)}`]);
  }
}

function requestLog(): Plugin {
  return {
    name: "request-log",
    observe({ id, address, method, host, url, site }, { status, bytes, durationMs, aborted }) {
      const request = { requestId: id, address, method, host, url: withoutUserInfo(url) };
      const ms = Math.round(durationMs * 10) / 10;
      site.logger.info({ ...request, status, bytes, ms, ...(aborted && { aborted }) }, "request");
    },
  };
}
