import { stat } from "node:fs/promises";
import type { FileServerConfig, HostConfig, PageConfig } from "../config.ts";
import { loadConfig } from "../config-page/load-when-asked.ts";
import { doneInTime } from "../event-loop/in-time.ts";
import { createFileServer, type FileServer } from "../file-server.ts";
import type { Plugin } from "../server/plugin.ts";
import { isBucketUrl } from "../storage/s3/bucket-url.ts";
import { withBuckets } from "./bucket-roots.ts";
import type { CommandLine } from "./command-line.ts";
import type { OperatorLog } from "./log-lines.ts";
import { isLoopback } from "./open-hosts.ts";
import { requestLog } from "./request-log.ts";

/** How long all plugins and storages together may take to start, in milliseconds. */
const startMs = 60_000;

export interface StartedFiles {
  readonly files: FileServer;
  readonly config: FileServerConfig;
  readonly address: Pick<PageConfig, "bindAddress" | "bindPort">;
}

export const defaultAddress = "127.0.0.1";

type Asked = Pick<CommandLine, "target" | "tls" | "verbose"> &
  Partial<Pick<CommandLine, "host" | "allowedHosts" | "readOnly">> &
  DirectoryOptions;

type DirectoryOptions = Partial<Pick<CommandLine, "live" | "users" | "history" | "single" | "cors" | "accessLog">> & {
  /** Whether language models may connect; or the plugin for one over standard input and output. */
  readonly mcp?: boolean | Plugin;
};

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
  const { target, tls, verbose, host, allowedHosts = [], readOnly = false } = asked;
  const loaded: PageConfig = (await isPage(target)) ? await loadConfig(target) : await directoryConfig(target, asked);
  const secrets = tls ? [tls.cert, tls.key] : [];
  const { bindAddress, bindPort } = loaded;
  const config = {
    ...(await withBuckets(loaded)),
    ...(readOnly && { readOnly }),
    allowedHosts: allowedNames(loaded, host ?? bindAddress ?? defaultAddress, allowedHosts),
    protectedFiles: [...(loaded.protectedFiles ?? []), ...secrets],
  };
  return { config: verbose ? withPlugins(config, [requestLog()]) : config, address: { bindAddress, bindPort } };
}

async function directoryConfig(root: string, options: DirectoryOptions): Promise<FileServerConfig> {
  const { live = false, users: authfile, history: repository, single = false, cors, accessLog, mcp } = options;
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

/** A server without a name, which only this computer can reach, answers to no name that another server may have. */
function allowedNames(
  config: FileServerConfig,
  address: string,
  asked: readonly string[],
): readonly string[] | undefined {
  const { hosts = {}, allowedHosts } = config;
  const names = Object.entries(hosts).flatMap(([name, { aliases = [] }]) => [name, ...aliases]);
  const isNameless = names.every((name) => name === "*");
  const isRestricted = allowedHosts || asked.length > 0 || (isNameless && isLoopback(address));
  return isRestricted ? [...(allowedHosts ?? []), ...asked] : undefined;
}

function withPlugins(config: FileServerConfig, first: readonly Plugin[]): FileServerConfig {
  const extended = <Config extends HostConfig>(host: Config): Config => ({
    ...host,
    plugins: [...first, ...(host.plugins ?? config.plugins ?? [])],
  });
  const hosts = Object.entries(config.hosts ?? {}).map(([name, host]) => [name, extended(host)] as const);
  return hosts.length === 0 ? extended(config) : { ...config, hosts: Object.fromEntries(hosts) };
}
