import { ConfigError, type HostConfig } from "../config.ts";
import type { FileOptions } from "../files/file-request.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import { clientModule } from "../plugins/client-module.ts";
import { fileHandler } from "../plugins/file-handler.ts";
import type { ChangeFeed } from "../server/change-feed.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Logger } from "../server/logger.ts";
import { composePipeline, type Handler } from "../server/pipeline.ts";
import type { Plugin } from "../server/plugin.ts";
import { distinctPlugins, isEverywhere, type ListedPlugin, listPlugins } from "../server/plugin-list.ts";
import { diskStorage } from "../storage/disk/disk-storage.ts";
import type { Storage } from "../storage/storage.ts";

/** The options of a host with all defaults filled in. */
export interface SiteOptions extends FileOptions {
  /** Origins besides the host's own whose pages may write, as browsers name them: `https://admin.example`. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** The `Server` field of replies; `undefined` for none. */
  readonly serverHeader: string | undefined;
  /** Whether changes that other programs make on the disk are announced. */
  readonly watch: boolean;
  /** Whether the browser module is served. */
  readonly client: boolean;
}

/** What all hosts of a server share. */
export interface ServerParts {
  /** Every change on the server, whichever host it happened on. */
  readonly changes: ChangeFeed;
  readonly logger: Logger;
  /** Why the server answers nobody at the moment (503): closing, overloaded, or under maintenance. */
  outage(): HttpError | undefined;
  /** Reports a failure that is the server's own to `config.onError`. */
  report(error: unknown, exchange?: Exchange): void;
  /** Hides a file of the disk from every host and every method, wherever a path or a link leads to it. */
  protect(location: string): Promise<void>;
  /** Has a storage hide what is protected, now and later; for plugins that serve files of their own. */
  cover(storage: Storage): Promise<void>;
}

/** How often something was found in a cache, and how often not, since the start. */
export interface CacheCounts {
  readonly hits: number;
  readonly misses: number;
}

/** One host: its options, its storage and its pipeline. */
export interface Site extends ServerParts {
  /** The first name of the host; `"*"` for the default host. */
  readonly name: string;
  readonly options: SiteOptions;
  /** Where the host's files live; `undefined` where its file handlers bring their own. */
  readonly storage: Storage | undefined;
  /** In the order of the pipeline, nested ones among them, each once. */
  readonly plugins: readonly Plugin[];
  /** Those to be told what became of an exchange, and for which paths. */
  readonly observers: readonly ListedPlugin[];
  /** The file handler that answers for a canonical path; the first of several. */
  fileHandlerOf(path: string): Plugin | undefined;
  /** How often parsed documents were at hand, for each file handler that was started. */
  readonly documentCaches: Set<CacheCounts>;
  /** Runs the pipeline. Never rejects: what is thrown becomes a reply. */
  readonly answer: Handler;
  /** Runs the plugins that are `alwaysOn`, and answers 503 where none of them does. */
  readonly answerDuringOutage: Handler;
}

const defaults: SiteOptions = {
  index: "index.html",
  listing: true,
  dotfiles: "ignore",
  contentTypes: {},
  createParents: true,
  untrustedContent: false,
  maxFileSize: 100 * 1024 * 1024,
  maxDocumentSize: 16 * 1024 * 1024,
  maxDocumentDepth: 512,
  maxMatches: 10_000,
  maxSelectorLength: 4096,
  maxSelectorCompounds: 64,
  maxSelectionMs: 250,
  documentCacheSize: 64 * 1024 * 1024,
  refuseFragments: false,
  dialect: "spec",
  allowedOrigins: new Set(),
  serverHeader: undefined,
  watch: false,
  client: false,
};

/** Puts a host together; everything that can be done before the first request is done here. */
export function createSite(name: string, config: HostConfig, server: ServerParts): Site {
  const storage = storageOf(name, config);
  const own = withFileHandler(listPlugins(config.plugins ?? []), storage);
  const listed = config.client ? withClientModule(own) : own;
  const distinct = distinctPlugins(listed);
  return {
    ...server,
    name,
    options: { ...defaults, ...definedOptions(config), allowedOrigins: new Set(config.allowedOrigins) },
    storage,
    plugins: distinct.map(({ plugin }) => plugin),
    observers: distinct.filter(({ plugin }) => plugin.observe),
    fileHandlerOf: (path) => listed.find(({ plugin, covers }) => isFileHandler(plugin) && covers(path))?.plugin,
    documentCaches: new Set(),
    answer: composePipeline(listed, nobodyAnswered),
    answerDuringOutage: composePipeline(
      listed.filter(({ plugin }) => plugin.alwaysOn),
      () => Promise.reject(server.outage() ?? new HttpError(503, "OVERLOADED", "Try again.")),
    ),
  };
}

/** The option values that the configuration gives; an option set to `undefined` keeps its default. */
function definedOptions(config: HostConfig): Partial<SiteOptions> {
  const given = Object.entries(config).filter(([name, value]) => name in defaults && value !== undefined);
  return Object.fromEntries(given) as Partial<SiteOptions>; // names and types were checked with the configuration
}

function storageOf(name: string, config: HostConfig): Storage | undefined {
  const { storage, root, symlinks = "within-root", durability = "fsync" } = config;
  if (storage || root === undefined) return storage;
  try {
    return diskStorage(root, { symlinks, durability });
  } catch (error) {
    const host = name === "*" ? "" : `hosts.${name}.`;
    throw new ConfigError([host + (error instanceof Error ? error.message : String(error))]);
  }
}

/** Adds the file handler that answers for all that no other one is there for. */
function withFileHandler(listed: readonly ListedPlugin[], storage: Storage | undefined): readonly ListedPlugin[] {
  const given = listed.filter(({ plugin }) => isFileHandler(plugin));
  const isComplete = given.some(isEverywhere) || (given.length > 0 && !storage);
  return isComplete ? listed : [...listed, ...listPlugins([fileHandler()])];
}

/** Adds the browser module, behind everything that protects the host and before the files. */
function withClientModule(listed: readonly ListedPlugin[]): readonly ListedPlugin[] {
  const place = listed.findIndex((each) => isFileHandler(each.plugin) && isEverywhere(each));
  return listed.toSpliced(place === -1 ? listed.length : place, 0, ...listPlugins([clientModule()]));
}

function isFileHandler({ name }: Plugin): boolean {
  return name === "file-handler";
}

const nobodyAnswered: Handler = () => Promise.reject(notFound());
