import type { ForwardingHeader, TrustProxy } from "./http/client-address.ts";
import type { FileMethod } from "./http/methods.ts";
import type { MountPoint } from "./http/request-target.ts";
import type { SharedFeed } from "./server/change-feed.ts";
import type { Exchange } from "./server/exchange.ts";
import type { Logger } from "./server/logger.ts";
import type { Plugin } from "./server/plugin.ts";
import type { FileHandling } from "./server/site.ts";
import type { Storage } from "./storage/storage.ts";

/** What a host serves, and how. */
export interface HostConfig extends FileHandling {
  /** Directory on disk to serve, as a path or a `file:` URL; short for `storage: diskStorage(root)`. */
  readonly root?: string | URL | undefined;
  /** Where the files live, in place of `root`. */
  readonly storage?: Storage | undefined;
  /** The pipeline, in order. Without a file handler, one is added at the end. @default [] */
  readonly plugins?: readonly Plugin[] | undefined;
  /** Further names of this host. @default [] */
  readonly aliases?: readonly string[] | undefined;
  /** Methods that the files take, HEAD with GET; others get 405. @default all; with `fallthrough`, GET and HEAD */
  readonly methods?: readonly FileMethod[] | undefined;
  /** Take only those of `methods` that change nothing. Nothing inside allows more. @default false */
  readonly readOnly?: boolean | undefined;
  /** Follow symbolic links while they stay inside the root, or never. @default "within-root" */
  readonly symlinks?: "within-root" | "never" | undefined;
  /** Whether a reply to a write waits until the disk has the bytes. @default "fsync" */
  readonly durability?: "fsync" | "rename" | undefined;
  /** Origins besides the host's own whose pages may write: `["https://admin.example"]`. @default [] */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** The `Server` field of every reply, where no plugin sets one. @default none */
  readonly serverHeader?: string | undefined;
  /** Announce changes that other programs make on the disk. @default false */
  readonly watch?: boolean | undefined;
  /** Serve the browser module under `/.well-known/filement/client.js`. @default false */
  readonly client?: boolean | undefined;
}

/** Configuration of {@link createFileServer}. Options of a host here hold for each host without its own. */
export interface FileServerConfig extends Omit<HostConfig, "aliases"> {
  /** Virtual hosts by name; `"*"` answers for every other name. @default only the default host */
  readonly hosts?: Readonly<Record<string, HostConfig>> | undefined;
  /**
   * Which proxies may say who the client is; the semantics of Express's `trust proxy`: `true`, a number of hops,
   * addresses and subnets (`"loopback, 10.0.0.0/8"`), or a function. @default false
   */
  readonly trustProxy?: TrustProxy | undefined;
  /** The one header that trusted proxies report the client's address in. @default "x-forwarded-for" */
  readonly forwardedHeader?: ForwardingHeader | undefined;
  /**
   * Names, besides IP addresses and `localhost`, by which the default host may be called; others get 421. For servers
   * that only listen on this computer, which a page can call by a name that leads to 127.0.0.1. @default any name
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Paths on the disk that no client can read, list or change, on any host: keys, configurations, code. @default [] */
  readonly protectedFiles?: readonly string[] | undefined;
  /** Requests in flight at once, half of them writes of one address (or IPv6 /64); more get 503. @default 10000 */
  readonly maxConcurrentRequests?: number | undefined;
  /** Answer 503 to everybody, always or while a function says so. @default false */
  readonly maintenance?: boolean | (() => boolean) | undefined;
  /**
   * Under Express: call `next()` for methods that are not among `methods`, for what is not found, for directories that
   * may not be listed, and for unknown hosts. @default false
   */
  readonly fallthrough?: boolean | undefined;
  /**
   * Path under which the server is mounted, where the host program does not say so: `"/wiki"`. For a framework that has
   * taken the path off already, `{ path: "/wiki", stripped: true }`. @default what a framework says, or none
   */
  readonly mount?: string | MountPoint | undefined;
  /** Handshakes that are answered: those of a plugin (`"own"`), or all, the others with 404. @default "own" */
  readonly upgrades?: "own" | "all" | undefined;
  /**
   * What shares the changes of this server with others: the URL of a Redis (`redis://...`), or what `redisFeed` gives.
   * @default each server tells its own
   */
  readonly feed?: string | SharedFeed | undefined;
  /** Where the server reports what it does; pino's shape. @default the first error is a warning of the process */
  readonly logger?: Logger | undefined;
  /** Called with every failure that the client only saw as a 500. @default `logger.error` */
  readonly onError?: ((error: unknown, exchange?: Exchange) => void) | undefined;
}

/** A configuration that was read from a page. Where to listen is not enumerable: a spread copies only options. */
export interface PageConfig extends FileServerConfig {
  /** Address that the page says to listen on. @default none */
  readonly bindAddress?: string | undefined;
  /** Port that the page says to listen on; 0 for any. @default none */
  readonly bindPort?: number | undefined;
}

/** A configuration that cannot work. The message names each option, its value, and what was expected. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "INVALID_CONFIG";
  /** One sentence for each thing that is wrong. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid configuration: ${problems.join("; ")}`);
    this.problems = problems;
  }
}
