import type { EventEmitter } from "node:events";
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { Http2SecureServer, Http2Server, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Server as HttpsServer } from "node:https";
import type { Duplex } from "node:stream";
import type { FileServerConfig } from "./config.ts";
import { createSite, type HostedSite } from "./hosts/site.ts";
import { createVirtualHosts } from "./hosts/virtual-hosts.ts";
import { clientAddress } from "./http/client-address.ts";
import { isCrossSite } from "./http/cross-site.ts";
import { parseHost } from "./http/host-name.ts";
import { HttpError } from "./http/http-error.ts";
import { requestId } from "./http/request-id.ts";
import { parseRequestPath } from "./http/request-path.ts";
import { checkConfig } from "./options/check-config.ts";
import { type FetchedReply, fetchReply } from "./runtime/fetch-reply.ts";
import { FetchIncoming, type FetchInfo } from "./runtime/fetch-request.ts";
import { holdContinue, inTurn, NodeIncoming } from "./runtime/node-request.ts";
import { type Sent, sendReply } from "./runtime/send-reply.ts";
import { upgradeResponse } from "./runtime/upgrade-response.ts";
import { ChangeFeed } from "./server/change-feed.ts";
import { completeReply } from "./server/complete-reply.ts";
import { errorReply } from "./server/error-reply.ts";
import { Exchange, type IncomingRequest } from "./server/exchange.ts";
import { silentLogger } from "./server/logger.ts";
import { notify } from "./server/notify.ts";
import { unavailable } from "./server/outage.ts";
import type { Outcome } from "./server/plugin.ts";
import { discard, type Reply } from "./server/reply.ts";
import { tooLarge } from "./server/request-body.ts";
import type { ServerParts } from "./server/site.ts";
import { ProtectedFiles } from "./storage/protected-files.ts";

/**
 * A file server to embed: the handler of `http.createServer(files)`, of `http2.createServer(files)` (compatibility API)
 * and of `app.use("/docs", files)` in Express.
 */
export interface FileServer {
  /** Answers a request. `next` is called only with the option `fallthrough`, for a GET or HEAD that finds nothing. */
  (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
    next?: (error?: unknown) => void,
  ): void;
  /** Answers a request to take over the connection: `server.on("upgrade", files.upgrade)`. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Listens to requests and upgrades of a server, and refuses content before a client sends it (`Expect`). */
  attach(server: HttpServer | HttpsServer | Http2Server | Http2SecureServer): FileServer;
  /** Answers a `Request` in-process, with the same semantics and streaming both ways. Never rejects. */
  fetch(request: Request, info?: FetchInfo): Promise<Response>;
  /** Every committed change, once and in order. */
  readonly changes: ChangeFeed;
  /** Starts plugins and storages, which otherwise happens at the first request. Rejects with what keeps them from it. */
  ready(): Promise<void>;
  /**
   * Answers new requests with 503, waits for those in flight, then closes plugins and storages. Rejects with an
   * `AggregateError` where some of these fail; the others are closed all the same. A `Response` of `fetch` that nobody has
   * begun to read by now is given up.
   */
  close(): Promise<void>;
}

/**
 * Makes a file server. Throws a {@link ConfigError} that names every unknown option, wrong type and missing root.
 *
 * @example http.createServer(createFileServer({ root: "site" })).listen(3000);
 */
export function createFileServer(config: FileServerConfig): FileServer {
  checkConfig(config);
  const { logger = silentLogger, maxConcurrentRequests = 10_000, maintenance = false, fallthrough = false } = config;
  const { onError = (error: unknown) => logger.error({ err: error }, "request failed") } = config;
  const proxies = clientAddress(config.trustProxy ?? false, config.forwardedHeader ?? "x-forwarded-for");

  let inFlight = 0;
  const handedOut = new Set<FetchedReply>();
  let closing: Promise<void> | undefined;
  let started: Promise<void> | undefined;
  let isStarted = false;
  let drained: (() => void) | undefined;

  // An `onError` that fails has nobody to tell.
  const report: ServerParts["report"] = (error, exchange) =>
    notify(
      () => onError(error, exchange instanceof Exchange ? exchange : undefined),
      () => {},
    );
  const changes = new ChangeFeed(report);
  const protectedFiles = new ProtectedFiles();
  const parts: ServerParts = {
    changes,
    logger,
    outage,
    report,
    protect: (location) => protectedFiles.protect(location),
    cover: (storage) => protectedFiles.cover(storage),
  };
  const hosts = createVirtualHosts(config, parts);
  const nowhere = createSite("", {}, parts); // stands for the host of a request that named none of ours

  /** The whole path of a request, in order. `deliver` returns `undefined` where it passed the request on. */
  async function serve(incoming: IncomingRequest, deliver: Deliver): Promise<void> {
    inFlight += 1;
    const opened = openExchange(incoming);
    const { exchange } = opened;
    try {
      await conclude(opened, await answer(opened), deliver);
    } catch (error) {
      // The reply could not even be begun: a plugin gave it a header field that HTTP does not know.
      await conclude(opened, errorReply(exchange, error), deliver);
    } finally {
      await exchange.end();
      inFlight -= 1;
      if (inFlight === 0) drained?.();
    }
  }

  /** Finds out who asks whom for what. A request that cannot be understood is still an exchange, for the access log. */
  function openExchange(incoming: IncomingRequest): OpenedExchange {
    const { headers, peer } = incoming;
    let address = peer;
    let path = "";
    let search = "";
    let authority = "";
    let host = "";
    let isEncrypted = incoming.encrypted;
    let problem: { readonly thrown: unknown } | undefined;
    try {
      address = proxies.address(peer, headers);
      const isProxied = proxies.trusts(peer);
      const forwardedHost = isProxied ? first(headers["x-forwarded-host"]) : undefined;
      if (isProxied && first(headers["x-forwarded-proto"]) === "https") isEncrypted = true;
      const target = parseRequestPath(incoming.target);
      ({ path, search } = target);
      // The next server may take the other one (RFC 9112 §3.2).
      if (incoming.count("host") > 1) throw new HttpError(400, "INVALID_HOST", "There are several Host fields.");
      authority = forwardedHost ?? target.authority ?? headers[":authority"]?.toString() ?? headers.host ?? "";
      host = parseHost(authority);
    } catch (thrown) {
      problem = { thrown };
    }
    const site = hosts.find(host) ?? nowhere;
    if (site === nowhere)
      problem ??= { thrown: new HttpError(421, "UNKNOWN_HOST", "No host of that name is served here.") };
    const protocol = isEncrypted ? "https" : "http";
    const id = requestId(headers["x-request-id"]?.toString());
    const exchange = new Exchange({ id, incoming, site, path, search, host, address, protocol });
    return { exchange, site, authority, problem };
  }

  async function answer({ exchange, site, authority, problem }: OpenedExchange): Promise<Reply> {
    try {
      if (problem) throw problem.thrown;
      if (!isStarted && !closing) await ready();
      refuseTooLarge(exchange);
      refuseCrossSite(exchange, authority);
      return await (outage() ? site.answerDuringOutage(exchange) : site.answer(exchange));
    } catch (error) {
      return errorReply(exchange, error);
    }
  }

  /** Sends the reply, and tells what became of it. */
  async function conclude({ exchange, site }: OpenedExchange, given: Reply, deliver: Deliver): Promise<void> {
    const reply = completeReply(exchange, given, site.options.serverHeader);
    const sent = await deliver(reply);
    if (!sent) return;
    const { failure, ...outcome } = sent;
    if (failure !== undefined) report(failure, exchange);
    tellObservers(site, exchange, reply, outcome);
  }

  function outage(): HttpError | undefined {
    if (closing) return unavailable("CLOSING");
    if (typeof maintenance === "function" ? maintenance() : maintenance) return unavailable("MAINTENANCE");
    return inFlight > maxConcurrentRequests ? unavailable("OVERLOADED") : undefined;
  }

  function tellObservers({ observers }: HostedSite, exchange: Exchange, { status, headers }: Reply, sent: Sent): void {
    const outcome: Outcome = { status, headers, ...sent, durationMs: performance.now() - exchange.startedAt };
    for (const { plugin, covers } of observers) {
      if (!covers(exchange.path)) continue;
      notify(
        () => plugin.observe?.(exchange, outcome),
        (error) => report(error, exchange),
      );
    }
  }

  function ready(): Promise<void> {
    started ??= closing ? Promise.reject(new Error("the file server was closed before it was started")) : start();
    return started;
  }

  async function start(): Promise<void> {
    for (const site of hosts.sites) for (const plugin of site.plugins) await plugin.start?.(site);
    isStarted = true;
  }

  async function close(): Promise<void> {
    await started?.catch(() => {}); // whoever asked for the start was told
    for (const fetched of handedOut) fetched.abandon(); // a test that looked at the status only would wait forever
    const plugins = new Set(hosts.sites.flatMap((site) => site.plugins));
    for (const plugin of plugins) notify(() => plugin.drain?.(), report);
    if (inFlight > 0) {
      await new Promise<void>((resolve) => {
        drained = resolve;
      });
    }
    changes.end();
    const storages = new Set(hosts.sites.map((site) => site.storage));
    const failures: unknown[] = [];
    for (const each of [...[...plugins].reverse(), ...storages]) {
      try {
        await each?.close?.();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `closing failed: ${failures.join("; ")}`);
  }

  const handle = (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
    next?: (error?: unknown) => void,
  ): void => {
    const incoming = new NodeIncoming(request, response); // now: Express takes its prefix from the URL for a moment only
    const deliver: Deliver = async (reply) => {
      if (!fallthrough || !next || !isPassedOn(request.method, reply)) {
        return sendReply(request, response, reply, closing !== undefined);
      }
      discard(reply.body);
      next();
      return undefined;
    };
    inTurn(request, () => serve(incoming, deliver));
  };

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const response = upgradeResponse(request, socket);
    if (!response) return;
    void serve(new NodeIncoming(request, response, "upgrade"), async (reply) => {
      if (!reply.accept || socket.destroyed) return sendReply(request, response, reply, true);
      response.detachSocket(socket as never);
      try {
        reply.accept(socket, head);
        return { bytes: 0, aborted: false };
      } catch (failure) {
        socket.destroy(); // nobody knows what was written to it
        return { bytes: 0, aborted: true, failure };
      }
    });
  };

  const fetch = (request: Request, info?: FetchInfo): Promise<Response> =>
    new Promise((resolve) => {
      void serve(new FetchIncoming(request, info), (reply) => {
        const fetched = fetchReply(reply, request.signal);
        handedOut.add(fetched);
        resolve(fetched.response);
        return fetched.sent.finally(() => handedOut.delete(fetched));
      });
    });

  const files: FileServer = Object.assign(handle, {
    upgrade,
    attach(server: HttpServer | HttpsServer | Http2Server | Http2SecureServer): FileServer {
      const emitter: EventEmitter = server;
      emitter.on("request", handle).on("upgrade", upgrade);
      emitter.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
        holdContinue(request, response);
        handle(request, response);
      });
      return files;
    },
    fetch,
    changes,
    ready,
    close: () => {
      closing ??= Promise.resolve().then(close); // a microtask later, so that `closing` is set before anything runs
      return closing;
    },
  });
  return files;
}

/** Sends a reply to the client, or returns `undefined` where it passed the request on. */
type Deliver = (reply: Reply) => Promise<Sent | undefined>;

interface OpenedExchange {
  readonly exchange: Exchange;
  readonly site: HostedSite;
  /** Host and port that the client addressed, as it spelled them. */
  readonly authority: string;
  /** Why there is no answer but an error. */
  readonly problem: { readonly thrown: unknown } | undefined;
}

function refuseTooLarge(exchange: Exchange): void {
  const { maxFileSize } = exchange.site.options;
  if (Number(exchange.headers["content-length"] ?? 0) > maxFileSize) throw tooLarge(maxFileSize);
}

function refuseCrossSite({ method, headers, protocol, site }: Exchange, authority: string): void {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  if (!isCrossSite(headers, { protocol, host: authority }, site.options.allowedOrigins)) return;
  throw new HttpError(403, "CROSS_SITE", "A page of another site may not change anything here.");
}

function isPassedOn(method: string | undefined, reply: Reply): boolean {
  return reply.error?.code === "NOT_FOUND" && (method === "GET" || method === "HEAD");
}

/** The first value of a header field that proxies append to. */
function first(value: string | readonly string[] | undefined): string | undefined {
  const text = typeof value === "string" ? value : value?.[0];
  return text?.split(",", 1)[0]?.trim();
}
