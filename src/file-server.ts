import type { EventEmitter } from "node:events";
import { type Server as HttpServer, type IncomingMessage, ServerResponse } from "node:http";
import type { Http2SecureServer, Http2Server, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Server as HttpsServer } from "node:https";
import type { Duplex } from "node:stream";
import { ChangeFeed } from "./change-feed.ts";
import { checkConfig, type FileServerConfig } from "./config.ts";
import { errorReply } from "./error-reply.ts";
import { Exchange, type IncomingRequest } from "./exchange.ts";
import { fetchReply } from "./fetch-reply.ts";
import { FetchIncoming, type FetchInfo } from "./fetch-request.ts";
import { clientAddress } from "./http/client-address.ts";
import { isCrossSite } from "./http/cross-site.ts";
import { parseHost } from "./http/host-name.ts";
import { requestId } from "./http/request-id.ts";
import { parseRequestPath } from "./http/request-path.ts";
import { HttpError } from "./http-error.ts";
import { silentLogger } from "./logger.ts";
import { holdContinue, NodeIncoming } from "./node-request.ts";
import type { Outcome } from "./plugin.ts";
import { bodyLength, type Reply } from "./reply.ts";
import { tooLarge } from "./request-body.ts";
import { discard, type Sent, sendReply } from "./send-reply.ts";
import { createSite, type ServerParts } from "./site.ts";
import { createVirtualHosts } from "./virtual-hosts.ts";

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
  /** Answers new requests with 503, waits for those in flight, then closes plugins and storages. */
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
  let closing: Promise<void> | undefined;
  let started: Promise<void> | undefined;
  let isStarted = false;
  let drained: (() => void) | undefined;

  const report: ServerParts["report"] = (error, exchange) => onError(error, exchange);
  const changes = new ChangeFeed(report);
  const parts: ServerParts = { changes, logger, outage, report };
  const hosts = createVirtualHosts(config, parts);
  const nowhere = createSite("", {}, parts); // stands for the host of a request that named none of ours

  /** The whole path of a request, in order. `deliver` returns `undefined` where it passed the request on. */
  async function serve(incoming: IncomingRequest, deliver: (reply: Reply) => Promise<Sent | undefined>): Promise<void> {
    inFlight += 1;
    const { exchange, problem } = openExchange(incoming);
    const reply = complete(exchange, await answer(exchange, problem));
    try {
      const sent = await deliver(reply);
      if (sent) tellObservers(exchange, reply, sent);
    } catch (error) {
      // The reply could not even be begun: a plugin gave it a status or a header field that HTTP does not know.
      const failure = complete(exchange, errorReply(exchange, error));
      const sent = await deliver(failure);
      if (sent) tellObservers(exchange, failure, sent);
    } finally {
      await exchange.end();
      inFlight -= 1;
      if (inFlight === 0) drained?.();
    }
  }

  /** Finds out who asks whom for what. A request that cannot be understood is still an exchange, for the access log. */
  function openExchange(incoming: IncomingRequest): { exchange: Exchange; problem?: HttpError } {
    const { headers, peer } = incoming;
    const isProxied = proxies.trusts(peer);
    const forwardedProtocol = isProxied ? first(headers["x-forwarded-proto"]) : undefined;
    let path = "";
    let search = "";
    let host = "";
    let problem: HttpError | undefined;
    try {
      const target = parseRequestPath(incoming.target);
      ({ path, search } = target);
      const forwardedHost = isProxied ? first(headers["x-forwarded-host"]) : undefined;
      host = parseHost(forwardedHost ?? target.authority ?? first(headers[":authority"]) ?? headers.host);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      problem = error;
    }
    const site = hosts.find(host);
    if (!site) problem ??= new HttpError(421, "UNKNOWN_HOST", "No host of that name is served here.");
    const exchange = new Exchange({
      id: requestId(headers["x-request-id"]?.toString()),
      incoming,
      site: site ?? nowhere,
      path,
      search,
      host,
      address: proxies.address(peer, headers),
      protocol: incoming.encrypted || forwardedProtocol === "https" ? "https" : "http",
    });
    return problem ? { exchange, problem } : { exchange };
  }

  async function answer(exchange: Exchange, problem: HttpError | undefined): Promise<Reply> {
    try {
      if (problem) throw problem;
      if (!isStarted) await ready();
      refuseTooLarge(exchange);
      refuseCrossSite(exchange);
      const { site } = exchange;
      return await (outage() ? site.answerDuringOutage(exchange) : site.answer(exchange));
    } catch (error) {
      return errorReply(exchange, error);
    }
  }

  function outage(): HttpError | undefined {
    if (closing) return unavailable("CLOSING", "The server is shutting down.");
    if (typeof maintenance === "function" ? maintenance() : maintenance) {
      return unavailable("MAINTENANCE", "The server is under maintenance.");
    }
    return inFlight > maxConcurrentRequests ? unavailable("OVERLOADED", "The server is overloaded.") : undefined;
  }

  /** Adds to a reply what every reply has. */
  function complete(exchange: Exchange, reply: Reply): Reply {
    const { body, ...head } = reply;
    const headers = { ...reply.headers };
    headers["x-request-id"] = exchange.id;
    headers["x-content-type-options"] = "nosniff";
    if (closing && exchange.httpVersion.startsWith("1")) headers["connection"] = "close";
    const hasNoContent = reply.status === 204 || reply.status === 304;
    // Of a HEAD without content only the operation can know what a GET would send.
    const length = exchange.method === "HEAD" && body === undefined ? undefined : bodyLength(body);
    if (!hasNoContent && length !== undefined) headers["content-length"] ??= String(length);
    if (!hasNoContent && exchange.method !== "HEAD" && body !== undefined) return { ...head, headers, body };
    discard(body);
    return { ...head, headers };
  }

  function tellObservers(exchange: Exchange, reply: Reply, sent: Sent): void {
    const { status, headers } = reply;
    const outcome: Outcome = { status, headers, ...sent, durationMs: performance.now() - exchange.startedAt };
    for (const plugin of exchange.site.plugins) {
      try {
        plugin.observe?.(exchange, outcome);
      } catch (error) {
        report(error, exchange);
      }
    }
  }

  function ready(): Promise<void> {
    started ??= start();
    return started;
  }

  async function start(): Promise<void> {
    for (const site of hosts.sites) for (const plugin of site.plugins) await plugin.start?.(site);
    isStarted = true;
  }

  async function close(): Promise<void> {
    await started?.catch(() => {}); // whoever asked for the start was told
    if (inFlight > 0) {
      await new Promise<void>((resolve) => {
        drained = resolve;
      });
    }
    const plugins = new Set(hosts.sites.flatMap((site) => site.plugins));
    for (const plugin of [...plugins].reverse()) await plugin.close?.();
    const storages = new Set(hosts.sites.map((site) => site.storage));
    for (const storage of storages) await storage?.close?.();
  }

  const files = (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
    next?: (error?: unknown) => void,
  ): void => {
    void serve(new NodeIncoming(request, response), async (reply) => {
      if (!fallthrough || !next || !isPassedOn(request.method, reply)) return sendReply(request, response, reply);
      discard(reply.body);
      next();
      return undefined;
    });
  };

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on("error", () => socket.destroy());
    void serve(new NodeIncoming(request, socket), (reply) => {
      if (!reply.accept) return sendOverSocket(request, socket, reply);
      reply.accept(socket, head);
      return Promise.resolve({ bytes: 0, aborted: false });
    });
  };

  return Object.assign(files, {
    upgrade,
    attach(server: HttpServer | HttpsServer | Http2Server | Http2SecureServer): FileServer {
      const emitter: EventEmitter = server;
      emitter.on("request", files).on("upgrade", upgrade);
      emitter.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
        holdContinue(request, response);
        files(request, response);
      });
      return this as unknown as FileServer; // Object.assign makes this object the handler's own
    },
    fetch: (request: Request, info?: FetchInfo) =>
      new Promise<Response>((resolve) => {
        void serve(new FetchIncoming(request, info), (reply) => {
          const { response, sent } = fetchReply(reply);
          resolve(response);
          return sent;
        });
      }),
    changes,
    ready,
    close: () => {
      closing ??= Promise.resolve().then(close); // a microtask later, so that `closing` is set before anything runs
      return closing;
    },
  });
}

function refuseTooLarge(exchange: Exchange): void {
  const { maxFileSize } = exchange.site.options;
  if (Number(exchange.headers["content-length"] ?? 0) > maxFileSize) throw tooLarge(maxFileSize);
}

function refuseCrossSite(exchange: Exchange): void {
  const { method, headers, protocol, site } = exchange;
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  const authority = first(headers[":authority"]) ?? headers.host ?? "";
  if (!isCrossSite(headers, { protocol, host: authority }, site.options.allowedOrigins)) return;
  throw new HttpError(403, "CROSS_SITE", "A page of another site may not change anything here.");
}

function unavailable(code: "CLOSING" | "MAINTENANCE" | "OVERLOADED", details: string): HttpError {
  return new HttpError(503, code, `${details} Try again shortly.`, { headers: { "retry-after": retryAfter[code] } });
}

/** Seconds after which asking again is worth the while. */
const retryAfter = { CLOSING: "5", MAINTENANCE: "60", OVERLOADED: "1" } as const;

function isPassedOn(method: string | undefined, reply: Reply): boolean {
  return reply.error?.code === "NOT_FOUND" && (method === "GET" || method === "HEAD");
}

/** Answers an upgrade that nobody accepts as plain HTTP, and ends the connection. */
async function sendOverSocket(request: IncomingMessage, socket: Duplex, reply: Reply): Promise<Sent> {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as never); // the type wants a net.Socket; any duplex stream works
  const sent = await sendReply(request, response, reply);
  response.detachSocket(socket as never);
  socket.end();
  return sent;
}

/** The first value of a header field that proxies append to. */
function first(value: string | readonly string[] | undefined): string | undefined {
  const text = typeof value === "string" ? value : value?.[0];
  return text?.split(",", 1)[0]?.trim();
}
