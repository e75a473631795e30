import type { IncomingMessage } from "node:http";
import type { WebSocketServer } from "ws";
import { checkOptions } from "../options/check-config.ts";
import { pluginOptions, positiveInteger, requestPath, timerSeconds } from "../options/option-types.ts";
import type { OptionsSchema } from "../options/schema.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import type { Reply } from "../server/reply.ts";
import type { Site } from "../server/site.ts";
import { documentOf } from "./live/feed-query.ts";
import { LiveClients } from "./live/live-clients.ts";
import { checkHandshake, offersStreamItems, wantedChanges } from "./web-socket/handshake.ts";
import { SocketClient } from "./web-socket/socket-client.ts";

/** Options for {@link webSocket}. */
export interface WebSocketOptions {
  /** Path to connect to for the changes of the host. @default "/ws" */
  readonly path?: string | undefined;
  /** Clients that may be connected at once, half of them from one address; more get 503. @default 10000 */
  readonly maxClients?: number | undefined;
  /** Seconds between two pings; a client that has not answered by then is disconnected. @default 10 */
  readonly pingInterval?: number | undefined;
}

export const webSocketOptions: OptionsSchema = pluginOptions({
  path: requestPath,
  maxClients: positiveInteger,
  pingInterval: timerSeconds,
});

/** Time for the last requests of a closing server to make changes that clients still receive, in milliseconds. */
const drainMs = 1_000;
/** How long a disconnected client may take to close, in milliseconds. */
const closeTimeout = 1_000;
/** Largest message of a client in bytes, and most pieces that it may come in. */
const maxPayload = 1024;
const maxFragments = 16;

/**
 * Sends clients every change, at once and in order, over web sockets. A client gets no change of what it may not read
 * at that moment. Throws a `ConfigError` for options that cannot work, and at the start where it stands before
 * `basicAuth`.
 *
 * @example
 * const server = http.createServer().listen(3000);
 * createFileServer({ root: "site", plugins: [webSocket()] }).attach(server);
 */
export function webSocket(options: WebSocketOptions = {}): Plugin {
  checkOptions("webSocket", webSocketOptions, options);
  const { path = "/ws", maxClients = 10_000, pingInterval = 10 } = options;
  const clients = new LiveClients<SocketClient>(maxClients, pingInterval);
  const guarded = new Set<Site>();
  let sockets: WebSocketServer | undefined;
  let draining: NodeJS.Timeout | undefined;

  /** Agrees to a handshake. Throws the reply to a wrong one. */
  async function agree(exchange: Exchange, document: string | undefined): Promise<Reply> {
    const server = sockets;
    if (!server) throw new Error("webSocket was not started");
    const { access, site } = exchange;
    const connectedTo = document ?? path;
    if (!access.permitsPath("read", connectedTo)) throw access.refusal();
    const feedName = site.changes.name;
    const wanted = await wantedChanges(exchange, document, checkHandshake(exchange));
    const giveBack = clients.takePlace(exchange);
    let isConnected = false;
    exchange.defer(() => {
      if (!isConnected) giveBack();
    });
    const audience = clients.audienceOf(exchange, wanted.path, connectedTo);
    return {
      status: 101,
      headers: {},
      accept(socket, head) {
        // `ws` looks at nothing else, and all of it is checked already: what was agreed stands for what was offered.
        const { "sec-websocket-protocol": _offered, ...others } = exchange.headers;
        const agreed = wanted.protocol !== undefined && { "sec-websocket-protocol": wanted.protocol };
        const headers: IncomingMessage["headers"] = { ...others, "x-request-id": exchange.id, ...agreed };
        const request = { method: "GET", headers } as IncomingMessage;
        server.handleUpgrade(request, socket, head, (connection) => {
          isConnected = true;
          const client = new SocketClient(connection, socket, audience, wanted.isStreamItem);
          client.writeHello(site.changes);
          // The ids of a shared feed may have begun anew since the handshake.
          const isSameFeed = wanted.position === "now" || site.changes.name === feedName;
          clients.add(client, isSameFeed ? wanted.position : "unknown", giveBack);
        });
      },
    };
  }

  /** Whether a client may wait for changes there. Where some may not read, this must not tell them what exists. */
  async function hasDocument(exchange: Exchange): Promise<boolean> {
    const { site, path, headers } = exchange;
    if (guarded.has(site)) return (await documentOf(exchange, path)) !== undefined;
    return (await site.documentAt(path, headers.accept)) !== undefined;
  }

  /** Closes all clients, after what was published by now. */
  async function closeClients(): Promise<void> {
    await clients.delivered();
    await clients.visit((client) => client.close(1001, "the server is closing"));
  }

  const plugin: Plugin = {
    name: "web-socket",
    feed: { kind: "socket", path },
    async start(site) {
      if (site.plugins.some(({ anonymousMayWrite }) => anonymousMayWrite)) guarded.add(site);
      clients.start(site, plugin, "webSocket");
      sockets ??= await webSocketServer();
    },
    async acceptsUpgrade(exchange) {
      return exchange.path === path || (offersStreamItems(exchange) && (await hasDocument(exchange)));
    },
    async handle(exchange, next) {
      if (exchange.path === path) return agree(exchange, undefined);
      const document = exchange.isUpgrade ? await documentOf(exchange, exchange.path) : undefined;
      return document === undefined ? next() : agree(exchange, document);
    },
    drain() {
      draining ??= setTimeout(() => void closeClients(), drainMs).unref();
    },
    disconnect: (isMeant) => clients.disconnect(isMeant),
    async close() {
      clearTimeout(draining);
      draining = undefined;
      await closeClients();
      await clients.stop();
    },
  };
  return plugin;
}

/** Messages are not compressed: that would be done for each client anew, and takes hundreds of kilobytes for each. */
async function webSocketServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import("ws"); // with all of Node's TLS: not before there is such a plugin
  const limits = { maxPayload, maxFragments, closeTimeout };
  const server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, ...limits });
  server.on("headers", (headers, { headers: sent }) => headers.push(`X-Request-ID: ${sent["x-request-id"]}`));
  return server;
}
