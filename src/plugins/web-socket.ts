import type { IncomingMessage } from "node:http";
import { WebSocketServer } from "ws";
import { TimeSlice } from "../event-loop/time-slice.ts";
import { checkOptions } from "../options/check-config.ts";
import type { Exchange } from "../server/exchange.ts";
import { unavailable } from "../server/outage.ts";
import type { Plugin } from "../server/plugin.ts";
import type { Reply } from "../server/reply.ts";
import type { Site } from "../server/site.ts";
import type { Audience } from "./live/audience.ts";
import { Broadcast } from "./live/broadcast.ts";
import { helloText } from "./live/change-message.ts";
import { type IsProven, provenPaths } from "./live/proven-paths.ts";
import { textFrame } from "./web-socket/frame.ts";
import { checkHandshake } from "./web-socket/handshake.ts";
import { webSocketOptions } from "./web-socket/options.ts";
import { jsonFormat, SocketClient, streamItemFormat } from "./web-socket/socket-client.ts";
import {
  addressedDocument,
  changesOfDocument,
  changesOfQuery,
  type WantedChanges,
} from "./web-socket/wanted-changes.ts";

/** Options for {@link webSocket}. */
export interface WebSocketOptions {
  /** Path to connect to for the changes of the host. @default "/ws" */
  readonly path?: string | undefined;
  /** Whether clients may connect to a document's own URL for the changes of that document. @default true */
  readonly documents?: boolean | undefined;
  /** Clients that may be connected at once; more get 503. @default 10000 */
  readonly maxClients?: number | undefined;
  /** Origins besides the host's own whose pages may connect. @default those of the host's option `allowedOrigins` */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Seconds from one ping to the next; who has not answered by then is disconnected. @default 30 */
  readonly pingInterval?: number | undefined;
  /** Bytes that may wait for a client to read them; one with more is disconnected. @default 1048576 (1 MiB) */
  readonly maxUnsentBytes?: number | undefined;
  /** Largest message in bytes that a client may send. @default 1024 */
  readonly maxMessageBytes?: number | undefined;
}

/** How long the last requests of a closing server may go on to change something, for its clients to hear of. */
const drainMs = 1_000;
/** How long a client that is disconnected may take to say goodbye, in milliseconds. */
const closeTimeout = 1_000;
/** Most pieces that a message may come in. */
const maxFragments = 16;

/**
 * Tells clients of every change, at once and in order, over web sockets. What a client may not read it does not hear of.
 * Throws a `ConfigError` for options that cannot work, and at the start where it stands before `basicAuth`.
 *
 * @example
 * const files = createFileServer({ root: "site", plugins: [webSocket()] });
 * files.attach(http.createServer()).listen(3000);
 */
export function webSocket(options: WebSocketOptions = {}): Plugin {
  checkOptions("webSocket", webSocketOptions, options);
  const { path = "/ws", documents = true, maxClients = 10_000, pingInterval = 30 } = options;
  const { maxUnsentBytes = 1024 * 1024, maxMessageBytes = 1024 } = options;
  const allowedOrigins = options.allowedOrigins && new Set(options.allowedOrigins);
  const sockets = webSocketServer(maxMessageBytes);
  const clients = new Set<SocketClient>();
  const provenAt = new Map<Site, IsProven>();
  let handshakes = 0;
  let broadcast: Broadcast | undefined;
  let pings: NodeJS.Timeout | undefined;
  let goodbye: NodeJS.Timeout | undefined;

  /** Agrees to a handshake, or throws what is to be answered instead. */
  function agree(exchange: Exchange, document: string | undefined): Reply {
    const { access, site, search } = exchange;
    if (!access.permits("read", document ?? path)) throw access.refusal();
    const offered = checkHandshake(exchange, allowedOrigins ?? site.options.allowedOrigins);
    const wanted =
      document === undefined
        ? changesOfQuery(search, offered, site.changes.name)
        : changesOfDocument(document, offered);
    if (clients.size + handshakes >= maxClients) throw unavailable("OVERLOADED");
    handshakes += 1;
    exchange.defer(() => {
      handshakes -= 1;
    });
    const audience = audienceOf(exchange, wanted);
    return {
      status: 101,
      headers: {},
      accept(socket, head) {
        // All that `ws` looks at, and all of it was looked at before.
        const request = { method: "GET", headers: handshakeHeaders(exchange, wanted) } as IncomingMessage;
        sockets.handleUpgrade(request, socket, head, (connection) => {
          const format = wanted.isStreamItem ? streamItemFormat : jsonFormat;
          const client = new SocketClient(connection, socket, { audience, format, maxUnsentBytes });
          if (!wanted.isStreamItem) client.write(textFrame(helloText(site.changes)));
          admit(client, wanted);
        });
      },
    };
  }

  function admit(client: SocketClient, { position }: WantedChanges): void {
    clients.add(client);
    const leave = broadcast?.join(client, position);
    void client.closed.then(() => {
      leave?.();
      clients.delete(client);
    });
  }

  /** Without the exchange, which would stay in memory as long as the client is connected. */
  function audienceOf({ access, site, path: connectedAt }: Exchange, wanted: WantedChanges): Audience {
    const proven = provenAt.get(site);
    return { site: site.name, path: wanted.path, access, isProven: (each) => proven?.(connectedAt, each) ?? false };
  }

  async function forEachClient(task: (client: SocketClient) => void): Promise<void> {
    const slice = new TimeSlice();
    for (const client of clients) {
      task(client);
      if (slice.isOver) await slice.renew();
    }
  }

  /** Closes all clients, after what was published by now. */
  async function sayGoodbye(): Promise<void> {
    await broadcast?.told();
    await forEachClient((client) => client.close(1001, "the server is closing"));
  }

  const plugin: Plugin = {
    name: "web-socket",
    start(site) {
      provenAt.set(site, provenPaths(site, plugin, "webSocket"));
      broadcast ??= new Broadcast(site.changes, (error) => site.report(error));
      pings ??= setInterval(() => void forEachClient((client) => client.ping()), pingInterval * 1000).unref();
    },
    handle(exchange, next) {
      if (exchange.path === path) return agree(exchange, undefined);
      const document = documents && exchange.isUpgrade ? addressedDocument(exchange) : undefined;
      return document === undefined ? next() : agree(exchange, document);
    },
    drain() {
      goodbye ??= setTimeout(() => void sayGoodbye(), drainMs).unref();
    },
    async close() {
      clearInterval(pings);
      clearTimeout(goodbye);
      pings = undefined;
      goodbye = undefined;
      const closed = [...clients].map((client) => client.closed);
      await sayGoodbye();
      await Promise.all(closed);
      broadcast?.close();
      broadcast = undefined;
      provenAt.clear();
    },
  };
  return plugin;
}

/** Messages are not compressed: that would be done for each client anew, and takes hundreds of kilobytes for each. */
function webSocketServer(maxPayload: number): WebSocketServer {
  const limits = { maxPayload, maxFragments, closeTimeout };
  const server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, ...limits });
  server.on("headers", (headers, { headers: sent }) => headers.push(`X-Request-ID: ${sent["x-request-id"]}`));
  return server;
}

/** The fields of a handshake, with what was agreed in place of what was offered. */
function handshakeHeaders({ id, headers }: Exchange, { protocol }: WantedChanges): IncomingMessage["headers"] {
  const { "sec-websocket-protocol": _offered, ...others } = headers;
  return { ...others, "x-request-id": id, ...(protocol !== undefined && { "sec-websocket-protocol": protocol }) };
}
