import type { EventEmitter } from "node:events";
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { Http2SecureServer, Http2Server } from "node:http2";
import type { Server as HttpsServer } from "node:https";
import type { Duplex } from "node:stream";
import type { Deliver, PassOn, ServeRequest } from "../hosts/serve-request.ts";
import type { ErrorCode } from "../http/http-error.ts";
import { discard, type Reply } from "../server/reply.ts";
import { type FetchedReply, fetchReply } from "./fetch-reply.ts";
import { FetchIncoming, type FetchInfo } from "./fetch-request.ts";
import { holdContinue, inTurn, NodeIncoming, type NodeRequest, type NodeResponse } from "./node-request.ts";
import { sendReply } from "./send-reply.ts";
import { upgradeResponse } from "./upgrade-response.ts";

/** A server of `node:http`, `node:https` or `node:http2`. */
export type NodeServer = HttpServer | HttpsServer | Http2Server | Http2SecureServer;

/** How a request comes in, and its reply goes out again. */
export interface Entries {
  /** The handler of `node:http`, `node:http2` and Express. */
  handle(request: NodeRequest, response: NodeResponse, next?: PassOn): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Has a server of node send all that comes to the two above. */
  listenTo(server: NodeServer): void;
  fetch(request: Request, info?: FetchInfo): Promise<Response>;
  /** Gives up every `Response` that nobody has begun to read; a program that looked at the status only never would. */
  abandonUnread(): void;
}

/** What the entries need to know of their server. */
export interface EntryOptions {
  /** Whether what is not taken and what is not found is passed to Express's `next()`. */
  readonly fallthrough: boolean;
  /** Whether the server is closing, and so is each connection after its reply. */
  readonly life: { readonly isClosing: boolean };
}

/** The three ways into a server: a request of node, an upgrade of node, a `Request` of the Fetch standard. */
export function createEntries(serve: ServeRequest, { fallthrough, life }: EntryOptions): Entries {
  const handedOut = new Set<FetchedReply>();

  const handle: Entries["handle"] = (request, response, next) => {
    const incoming = new NodeIncoming(request, response); // now: Express takes its prefix from the URL for a moment only
    const passOn = fallthrough ? next : undefined;
    const wasRead = request.readableDidRead; // by a body parser
    const deliver: Deliver = (reply) => {
      const isForOthers = passOn && isNotOurs(reply) && request.readableDidRead === wasRead;
      if (!isForOthers) return sendReply(request, response, reply, life.isClosing);
      discard(reply.body);
      passOn();
      return undefined;
    };
    inTurn(request, () => serve(incoming, deliver, passOn));
  };

  const upgrade: Entries["upgrade"] = (request, socket, head) => {
    const response = upgradeResponse(request, socket);
    if (!response) return;
    void serve(new NodeIncoming(request, response, "upgrade"), (reply) => {
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

  return {
    handle,
    upgrade,
    listenTo(server) {
      const emitter: EventEmitter = server;
      emitter.on("request", handle).on("upgrade", upgrade);
      emitter.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
        holdContinue(request, response);
        handle(request, response);
      });
    },
    fetch: (request, info) =>
      new Promise((resolve) => {
        void serve(new FetchIncoming(request, info), (reply) => {
          const fetched = fetchReply(reply, request.signal);
          handedOut.add(fetched);
          resolve(fetched.response);
          return fetched.sent.finally(() => handedOut.delete(fetched));
        });
      }),
    abandonUnread() {
      for (const fetched of handedOut) fetched.abandon();
    },
  };
}

/** The errors that say: there is nothing here for such a request. */
const notOurs: ReadonlySet<string> = new Set<ErrorCode>([
  "LISTING_DISABLED",
  "METHOD_NOT_ALLOWED",
  "NOT_FOUND",
  "UNKNOWN_HOST",
]);

function isNotOurs({ error }: Reply): boolean {
  return error !== undefined && notOurs.has(error.code);
}
