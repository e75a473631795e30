import type { EventEmitter } from "node:events";
import { type Server as HttpServer, type IncomingMessage, ServerResponse } from "node:http";
import type { Http2SecureServer, Http2Server } from "node:http2";
import type { Server as HttpsServer } from "node:https";
import type { Duplex } from "node:stream";
import { isPromise } from "node:util/types";
import type { Claim, Deliver, PassOn, ServeRequest } from "../hosts/serve-request.ts";
import type { ErrorCode } from "../http/http-error.ts";
import { type Mount, mountOf } from "../http/request-target.ts";
import type { ConnectMiddleware } from "../plugins/from-middleware.ts";
import { discard, type Reply } from "../server/reply.ts";
import { type FetchedReply, fetchReply } from "./fetch-reply.ts";
import { checkFetchInfo, type FetchInfo, fetchIncoming, isRequest } from "./fetch-request.ts";
import { awaitingContinue, inTurn, NodeIncoming, type NodeRequest, type NodeResponse } from "./node-request.ts";
import { sendReply } from "./send-reply.ts";
import { takenByOthers, takeSocket } from "./upgrade-response.ts";

/** A server of `node:http`, `node:https` or `node:http2`. */
export type NodeServer = HttpServer | HttpsServer | Http2Server | Http2SecureServer;

/** The ways on which requests come in and replies go out. */
export interface Entries {
  /** The handler of `node:http`, `node:http2` and Express. */
  handle(request: NodeRequest, response: NodeResponse, next?: PassOn): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, options?: UpgradeOptions): void;
  listenTo(server: NodeServer): void;
  /** `undefined` for what is passed on. */
  fetch(request: Request | URL | string, info?: FetchInfo): Promise<Response | undefined>;
  /** Gives up every unread `Response`: a program that only looks at the status never reads it. */
  abandonUnread(): void;
}

/** How a handshake is taken. */
export interface UpgradeOptions {
  /** Middleware that requests run through as well, such as that of a session. @default none */
  readonly before?: ConnectMiddleware | readonly ConnectMiddleware[] | undefined;
}

export interface EntryOptions {
  readonly fallthrough: boolean;
  /** While the server is closing, so is each connection after its reply. */
  readonly life: { readonly isClosing: boolean };
  readonly mount: Mount;
  readonly upgrades: "own" | "all";
  report(error: unknown): void;
}

/** The three ways into a server: a request of node, an upgrade of node, a `Request` of the Fetch standard. */
export function createEntries(serve: ServeRequest, options: EntryOptions): Entries {
  const { fallthrough, life, mount } = options;
  const handedOut = new Set<FetchedReply>();
  const attached = new WeakSet<NodeServer>();

  const handle: Entries["handle"] = (request, response, next) => {
    const incoming = new NodeIncoming(request, response, "reply", mount); // now: Express puts its prefix back
    const passOn = fallthrough ? next : undefined;
    const wasRead = request.readableDidRead; // by a body parser
    const deliver: Deliver = (reply) => {
      const isUntouched = request.readableDidRead === wasRead;
      if (isUntouched && isPassedOn(reply, passOn)) return undefined;
      return sendReply(request, response, reply, life.isClosing);
    };
    inTurn(incoming, response, () => serve(incoming, deliver, passOn));
  };

  const upgrade = async (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { before = [] }: UpgradeOptions = {},
    isForAll = options.upgrades === "all",
  ): Promise<void> => {
    const response = new ServerResponse(request);
    const incoming = new NodeIncoming(request, response, "upgrade", mount);
    const isOthers = takenByOthers(socket);
    const claim: Claim = async () => {
      if (isOthers() || !takeSocket(response, socket)) return false;
      try {
        for (const middleware of [before].flat()) await passedOn(middleware, request, response);
        return true;
      } catch (error) {
        options.report(error);
        sendReply(request, response, { status: 500, headers: {} }, true);
        return false;
      }
    };
    const deliver: Deliver = (reply) => {
      if (isOthers()) {
        discard(reply.body);
        return { bytes: 0, aborted: true };
      }
      if (!reply.accept || socket.destroyed) return sendReply(request, response, reply, true);
      response.detachSocket(socket as never);
      try {
        reply.accept(socket, head);
        return { bytes: 0, aborted: false };
      } catch (failure) {
        socket.destroy(); // it is unknown what was written to it
        return { bytes: 0, aborted: true, failure };
      }
    };
    if (isForAll ? await claim() : incoming.isUpgrade) {
      void serve(incoming, deliver, undefined, isForAll ? undefined : claim);
    }
  };

  return {
    handle,
    upgrade: (request, socket, head, how) => void upgrade(request, socket, head, how),
    listenTo(server) {
      const emitter: EventEmitter = server;
      requireServer(server);
      if (attached.has(server)) return;
      attached.add(server);
      if (!emitter.listeners("request").includes(handle)) {
        if (emitter.listenerCount("request") > 0) throw answeredTwice();
        emitter.on("request", handle);
        emitter.on("newListener", (event, listener) => {
          if (event === "request" && listener === handle) throw answeredTwice();
        });
      }
      emitter.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        // Only a WebSocket server wants the raw connection; other upgrades are plain requests as well.
        const isAlone = emitter.listenerCount("upgrade") === 1 || !/^websocket$/i.test(request.headers.upgrade ?? "");
        void upgrade(request, socket, head, {}, isAlone || options.upgrades === "all");
      });
      emitter.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
        awaitingContinue.set(request, response);
        handle(request, response);
      });
    },
    async fetch(input, info = {}) {
      checkFetchInfo(info);
      const request = isRequest(input) ? input : new Request(new URL(input, "http://localhost"));
      const incoming = fetchIncoming(request, info, info.mount === undefined ? mount : mountOf(info.mount));
      const wasRead = request.bodyUsed;
      return new Promise((resolve) => {
        const passOn = fallthrough ? (): void => resolve(undefined) : undefined;
        let whole: Response | undefined;
        const deliver: Deliver = (reply) => {
          if (request.bodyUsed === wasRead && isPassedOn(reply, passOn)) return undefined;
          const fetched = fetchReply(reply, request.signal);
          const { response, sent } = fetched;
          if (!isPromise(sent)) {
            whole = response;
            return sent;
          }
          handedOut.add(fetched);
          resolve(response);
          return sent.finally(() => handedOut.delete(fetched));
        };
        // With all of its content at hand it comes last: the request is over then, its place free, its line in the log.
        void serve(incoming, deliver, passOn).then(() => whole && resolve(whole));
      });
    },
    abandonUnread() {
      for (const fetched of handedOut) fetched.abandon();
    },
  };
}

/** Resolves when a middleware passes the request on; never where it answers by itself. */
function passedOn(middleware: ConnectMiddleware, request: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (error?: unknown): void => (error ? reject(error) : resolve());
    const run = async (): Promise<void> => middleware(request, response, next); // what it throws at once, too
    run().catch(reject);
  });
}

/** Applications of frameworks have methods of the same names as a server, and would ignore the listeners. */
function requireServer(value: unknown): void {
  const has = (method: string): boolean => typeof Reflect.get(Object(value), method) === "function";
  if (typeof value === "object" && has("on") && has("listenerCount") && !has("use")) return;
  const got = has("use") || has("inject") ? "the application of a framework" : value === null ? "null" : typeof value;
  throw new TypeError(
    `attach expects a server of node:http, node:https or node:http2, but got ${got}. In an application, mount the file ` +
      'server as a handler, and forward web sockets with server.on("upgrade", files.upgrade): see docs/embedding.md.',
  );
}

function answeredTwice(): Error {
  return new Error(
    "attach: the server has a handler of requests already, and both would answer. Mount the file server in that handler, " +
      'and forward web sockets with server.on("upgrade", files.upgrade); or attach before other programs add theirs.',
  );
}

/** The errors that say: there is nothing here for such a request. */
const notOurs: ReadonlySet<string> = new Set<ErrorCode>([
  "LISTING_DISABLED",
  "METHOD_NOT_ALLOWED",
  "NOT_FOUND",
  "UNKNOWN_HOST",
]);

/** Passes a request on that has found nothing here, where it can be; whether it was. */
function isPassedOn({ error, body }: Reply, passOn: PassOn | undefined): boolean {
  if (!passOn || !error || !notOurs.has(error.code)) return false;
  discard(body);
  passOn();
  return true;
}
