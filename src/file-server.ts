import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { FileServerConfig } from "./config.ts";
import { askInside } from "./hosts/inner-exchange.ts";
import { LifeCycle } from "./hosts/life-cycle.ts";
import { type ProgramFiles, programFiles } from "./hosts/program-files.ts";
import { requestPath } from "./hosts/serve-request.ts";
import { createSite, createVirtualHosts, type HostParts, type VirtualHosts } from "./hosts/site.ts";
import { clientAddress } from "./http/client-address.ts";
import { mountOf } from "./http/request-target.ts";
import { checkConfig } from "./options/check-config.ts";
import { createEntries, type NodeServer, type UpgradeOptions } from "./runtime/entries.ts";
import type { FetchInfo } from "./runtime/fetch-request.ts";
import type { NodeRequest, NodeResponse } from "./runtime/node-request.ts";
import { usageLimit } from "./server/admission.ts";
import { ChangeFeed } from "./server/change-feed.ts";
import { Exchange } from "./server/exchange.ts";
import { type Logger, notify, quietLogger } from "./server/logger.ts";
import type { ConnectedClient } from "./server/plugin.ts";
import type { ServerParts } from "./server/site.ts";
import { ProtectedFiles } from "./storage/protected-files.ts";

/**
 * A file server to embed: the handler of `http.createServer(files)`, of `http2.createServer(files)` (compatibility API)
 * and of `app.use("/docs", files)` in Express.
 */
export interface FileServer<Fetched extends Response | undefined = Response> extends ProgramFiles {
  /** Answers a request. `next` is called only with the option `fallthrough`, which says for what. */
  (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void): void;
  /**
   * Answers the web socket handshakes that one of its plugins answers, and leaves all others to the other listeners:
   * `server.on("upgrade", files.upgrade)`. Say where the server is mounted with the option `mount`. `before` names
   * middleware that requests run through as well: `files.upgrade(request, socket, head, { before: sessions })`.
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, options?: UpgradeOptions) => void;
  /**
   * Listens to requests and upgrades of a server, and refuses content before a client sends it (`Expect`). Throws for
   * what is not a server, and for a server whose requests are answered already.
   */
  attach(server: NodeServer): FileServer<Fetched>;
  /**
   * Answers a `Request` in-process, with the same semantics and streaming both ways. A URL stands for its GET, a path
   * for that of `http://localhost`. With the option `fallthrough` it resolves with `undefined` for what is passed on.
   * Rejects for a text that is not a URL, and for a second argument that is not a `FetchInfo`.
   */
  fetch(request: Request | URL | string, info?: FetchInfo): Promise<Fetched>;
  /** Every committed change, once and in order. */
  readonly changes: ChangeFeed;
  /**
   * Ends web sockets and event streams now, those of a user who signs out for instance, and returns how many. A client
   * that comes back is judged like any other.
   */
  disconnect(isMeant: (client: ConnectedClient) => boolean): number;
  /** Starts plugins and storages, which otherwise happens at the first request. Rejects if one cannot start. */
  ready(): Promise<void>;
  /**
   * Answers new requests with 503, waits for those in flight, then closes plugins and storages. Rejects with an
   * `AggregateError` where some of these fail; the others are closed all the same. A `Response` of `fetch`
   * that is still unread is given up.
   */
  close(): Promise<void>;
}

/**
 * Makes a file server. Throws a {@link ConfigError} that names every unknown option, wrong type and missing root.
 *
 * @example http.createServer(createFileServer({ root: "site" })).listen(3000);
 */
export function createFileServer(
  config: FileServerConfig & { readonly fallthrough: true },
): FileServer<Response | undefined>;
export function createFileServer(config: FileServerConfig): FileServer;
export function createFileServer(config: FileServerConfig): FileServer<Response | undefined> {
  checkConfig(config);
  const { logger = quietLogger(), maxConcurrentRequests = 10_000, fallthrough = false, upgrades = "own" } = config;
  const report = reporter(logger, config.onError);
  const changes = new ChangeFeed(report);
  const life = new LifeCycle(config, changes, () => hosts.sites);
  const protectedFiles = new ProtectedFiles();
  const parts: HostParts = {
    changes,
    logger,
    report,
    outage: () => life.outage(),
    protect: (location) => protectedFiles.protect(location),
    cover: (storage) => protectedFiles.cover(storage),
    ask: (site, request) => askInside(life, site, request),
  };
  const hosts: VirtualHosts = createVirtualHosts(config, parts);
  const clients = clientAddress(config.trustProxy ?? false, config.forwardedHeader ?? "x-forwarded-for");
  const takeUpload = usageLimit(maxConcurrentRequests);
  const nowhere = createSite("", {}, parts);
  const serve = requestPath({ clients, life, takeUpload, hosts, nowhere });
  const entries = createEntries(serve, { fallthrough, life, mount: mountOf(config.mount), upgrades, report });

  const files: FileServer<Response | undefined> = Object.assign(entries.handle, {
    upgrade: entries.upgrade,
    attach(server: NodeServer): FileServer<Response | undefined> {
      entries.listenTo(server);
      return files;
    },
    fetch: entries.fetch,
    changes,
    ...programFiles(life, hosts),
    disconnect(isMeant: (client: ConnectedClient) => boolean): number {
      const plugins = new Set(hosts.sites.flatMap((site) => site.plugins));
      return [...plugins].reduce((ended, plugin) => ended + (plugin.disconnect?.(isMeant) ?? 0), 0);
    },
    ready: () => life.ready(),
    close: () => life.close(entries.abandonUnread, report),
  });
  return files;
}

/** Reports failures to `config.onError`. What that throws is dropped. */
function reporter(logger: Logger, onError: FileServerConfig["onError"]): ServerParts["report"] {
  return (error, about, status) => {
    const exchange = about instanceof Exchange ? about : undefined;
    const log = (): void =>
      exchange
        ? logger.error({ ...failedRequest(exchange, status), err: error }, "request failed")
        : logger.error({ err: error }, "something failed");
    notify(onError ? () => onError(error, exchange) : log, () => {});
  };
}

/** What it takes to find a request in other logs, and to send it again. */
function failedRequest({ id, method, path, host, user, startedAt }: Exchange, status: number | undefined): object {
  const ms = Math.round((performance.now() - startedAt) * 10) / 10;
  return {
    requestId: id,
    method,
    path,
    host,
    ...(user && { user: user.name }),
    ...(status !== undefined && { status }),
    ms,
  };
}
