import { ConfigError, type FileServerConfig, type HostConfig } from "../config.ts";
import { browserModule, listingModule, moduleReply } from "../files/browser-module.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import { takenMethods } from "../http/methods.ts";
import { isLocalName } from "../http/request-target.ts";
import { hostConfigs, hostKey, siteOptions } from "../options/check-config.ts";
import { clientModule } from "../plugins/client-module.ts";
import { serverOptionsReply } from "../plugins/file-handler/operations.ts";
import { fileHandler } from "../plugins/file-handler.ts";
import { requireReading } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import { messageOf, notify } from "../server/logger.ts";
import {
  composePipeline,
  distinctPlugins,
  type Handler,
  isEverywhere,
  type ListedPlugin,
  listPlugins,
  type OnAnswer,
} from "../server/pipeline.ts";
import type { InnerAnswer, InnerRequest, Plugin, PluginSite } from "../server/plugin.ts";
import type { Reply } from "../server/reply.ts";
import type { ServerParts } from "../server/site.ts";
import { rootStorage } from "../storage/root-storage.ts";
import type { Storage } from "../storage/storage.ts";
import { isFileHandler, mayIdentify, problemsOfOrder } from "./authentication.ts";

export interface HostedSite extends PluginSite {
  readonly observers: readonly ListedPlugin[];
  answersUpgrade(exchange: Exchange): Promise<boolean>;
  /** Runs the pipeline. Never rejects: what is thrown becomes a reply. */
  readonly answer: Handler;
  /** Runs the file handler alone, for the host program. */
  readonly answerProgram: Handler;
  /** Runs the plugins that are `alwaysOn`, and answers 503 where they do not answer. */
  readonly answerDuringOutage: Handler;
}

export interface HostParts extends ServerParts {
  ask(site: HostedSite, request: InnerRequest): Promise<InnerAnswer>;
}

export function createSite(name: string, config: HostConfig, server: HostParts): HostedSite {
  const storage = storageOf(name, config);
  const own = withFileHandler(listPlugins(config.plugins ?? []), storage);
  // The browser module stands behind everything that protects the host, and before the files.
  const place = own.findIndex((each) => isFileHandler(each.plugin) && isEverywhere(each));
  const listed = [...own];
  if (config.client) listed.splice(place === -1 ? own.length : place, 0, ...listPlugins([clientModule()]));
  const problems = problemsOfOrder(listed);
  if (problems.length > 0) throw new ConfigError(problems.map(({ text }) => `${inHost(name)}plugins: ${text}`));
  const distinct = distinctPlugins(listed);
  const partial = listed.filter(
    (each) => !isEverywhere(each) && (isFileHandler(each.plugin) || mayIdentify(each.plugin)),
  );
  const site: HostedSite = {
    ...server,
    name,
    options: siteOptions(config),
    storage,
    plugins: distinct.map(({ plugin }) => plugin),
    observers: distinct.filter(({ plugin }) => plugin.observe),
    fileHandlerOf: (path) => listed.find(({ plugin, covers }) => isFileHandler(plugin) && covers(path))?.plugin,
    isGuardedAlike: (path, other) => partial.every(({ covers }) => covers(path) === covers(other)),
    history: distinct.find(({ plugin }) => plugin.history)?.plugin.history,
    feed: distinct.find(({ plugin }) => plugin.feed)?.plugin.feed,
    handled: new Set(),
    documentCaches: new Set(),
    ask: (request) => server.ask(site, request),
    documentAt: async (path, accept) => site.fileHandlerOf(path)?.documentAt?.(site, path, accept),
    versionedPath: async (path) => ((await site.history?.has(path)) ? path : ((await site.documentAt(path)) ?? path)),
    async answersUpgrade(exchange) {
      for (const { plugin, covers } of listed) {
        if (covers(exchange.path) && (await plugin.acceptsUpgrade?.(exchange))) return true;
      }
      return false;
    },
    answer: composePipeline(listed, answerRest, refusalNotes(listed, config, server)),
    answerProgram: composePipeline([], async (exchange) => {
      const handler = site.fileHandlerOf(exchange.path);
      if (!handler?.handle) throw new HttpError(404, "NOT_FOUND", `No files are at ${exchange.path}.`);
      return handler.handle(exchange, () => Promise.reject(new TypeError("a file handler passes nothing on")));
    }),
    answerDuringOutage: composePipeline(
      listed.filter(({ plugin }) => plugin.alwaysOn),
      () => Promise.reject(server.outage() ?? new HttpError(503, "OVERLOADED", "Try again.")),
    ),
  };
  return site;
}

/** Plugins that send clients more than the file that they ask for. */
const feeds: ReadonlySet<string> = new Set(["event-stream", "web-socket"]);

/** Warns once of a plugin that refuses reads by itself: feeds and archives do not follow it. */
function refusalNotes(
  listed: readonly ListedPlugin[],
  { listing }: HostConfig,
  { logger, report }: ServerParts,
): OnAnswer {
  const telling = listed.map(({ plugin }) => plugin.name).filter((name) => feeds.has(name));
  if (typeof listing === "object" && listing.zip) telling.push("archives");
  if (telling.length === 0) return () => {};
  const noted = new Set<Plugin>();
  return (plugin, { method, path, access }, { status }) => {
    if (status !== 403 || (method !== "GET" && method !== "HEAD") || noted.has(plugin)) return;
    const isAccess = plugin.anonymousMayWrite !== undefined || !access.permitsPath("read", path);
    if (isAccess || !mayIdentify(plugin)) return;
    noted.add(plugin);
    const message = `plugin "${plugin.name}" refused ${path} in its own way, which ${telling.join(", ")} do not follow`;
    notify(() => logger.warn({ plugin: plugin.name, path }, `${message}: use guard`), report);
  };
}

function storageOf(name: string, config: HostConfig): Storage | undefined {
  const { storage, root, symlinks = "within-root", durability = "fsync", readOnly } = config;
  if (storage || root === undefined) return storage;
  try {
    return rootStorage(root, { symlinks, durability, readOnly });
  } catch (error) {
    throw new ConfigError([inHost(name) + messageOf(error)]);
  }
}

function inHost(name: string): string {
  return name === "*" ? "" : `hosts.${name}.`;
}

function withFileHandler(listed: readonly ListedPlugin[], storage: Storage | undefined): readonly ListedPlugin[] {
  const handlers = listed.filter(({ plugin }) => isFileHandler(plugin));
  const isComplete = handlers.some(isEverywhere) || (handlers.length > 0 && !storage);
  return isComplete ? listed : [...listed, ...listPlugins([fileHandler()])];
}

/** Where no file handler is: what is asked of the host as a whole, and the modules of listings below other paths. */
async function answerRest(exchange: Exchange): Promise<Reply> {
  const { path, site, method } = exchange;
  if (path === "*") return serverOptionsReply(method, takenMethods(site.options), site.options);
  const module = listingModule(method, path); // a file handler may list where the host does not
  if (module === undefined) throw notFound();
  requireReading(exchange);
  return moduleReply(exchange, await browserModule(module));
}

export interface VirtualHosts {
  readonly sites: readonly HostedSite[];
  find(name: string): HostedSite | undefined;
}

export function createVirtualHosts(config: FileServerConfig, server: HostParts): VirtualHosts {
  const sites: HostedSite[] = [];
  const byName = new Map<string, HostedSite>();
  for (const [name, host] of hostConfigs(config)) {
    const site = createSite(name, host, server);
    sites.push(site);
    for (const alias of [name, ...(host.aliases ?? [])]) byName.set(hostKey(alias), site);
  }
  const fallback = byName.get("*");
  const { allowedHosts } = config;
  const allowed = allowedHosts && new Set(allowedHosts.map(hostKey));
  const isAllowed = (name: string): boolean => !allowed || allowed.has(name) || isLocalName(name);
  return { sites, find: (name) => byName.get(name) ?? (isAllowed(name) ? fallback : undefined) };
}
