import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { TlsContents } from "./tls-files.ts";

/** How long whom is waited for, in milliseconds. */
export interface Patience {
  /** A client that sends its header section. */
  readonly headersTimeout: number;
  /** A client that sends its whole request: 100 MiB at 0.5 Mbit/s. */
  readonly requestTimeout: number;
  /** A connection of HTTP/1 between two requests. Longer than proxies keep theirs (nginx: 60 s), who else get a reset. */
  readonly keepAliveTimeout: number;
  /** A connection on which nothing moves, be it in the middle of a request or a reply. */
  readonly timeout: number;
  /** How often the first two are looked at. */
  readonly connectionsCheckingInterval: number;
  /** A client that opens a TLS connection. */
  readonly handshakeTimeout: number;
  /** Requests in flight when the server is told to stop; container runtimes kill what is still there after 10 s. */
  readonly drainMs: number;
  /** Clients that have been answered and told that the connection is over. */
  readonly farewellMs: number;
}

const patience: Patience = {
  headersTimeout: 30_000,
  requestTimeout: 1_800_000,
  keepAliveTimeout: 65_000,
  timeout: 120_000,
  connectionsCheckingInterval: 5_000,
  handshakeTimeout: 10_000,
  drainMs: 8_000,
  farewellMs: 500,
};

/** The server that listens, with or without TLS; what answers is attached to it. */
export class Listener {
  readonly server: Server | Http2SecureServer;
  readonly #patience: Patience;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  #deadline: NodeJS.Timeout | undefined;

  constructor(tls: TlsContents | undefined, impatience: Partial<Patience> = {}) {
    this.#patience = { ...patience, ...impatience };
    const { handshakeTimeout, drainMs, farewellMs, ...timeouts } = this.#patience;
    const server = tls ? createSecureServer({ ...tls, allowHTTP1: true, handshakeTimeout }) : createServer();
    // As properties, because the TLS server takes them neither as options of its own nor as `http1Options`.
    this.server = Object.assign(server, timeouts);
    const emitter: NodeJS.EventEmitter = server;
    emitter.on("connection", (socket: Socket) => keepUntilClosed(this.#sockets, socket));
    emitter.on("session", (session: ServerHttp2Session) => keepUntilClosed(this.#sessions, session));
  }

  /** Resolves with the address it has got. Rejects with a sentence for people. */
  async listen(host: string, port: number): Promise<AddressInfo> {
    this.server.listen(port, host);
    try {
      await once(this.server, "listening");
    } catch (cause) {
      throw new Error(listenProblem(cause as NodeJS.ErrnoException, host, port), { cause }); // by a system call
    }
    return this.server.address() as AddressInfo; // no pipe, since it was given a port
  }

  /** New connections get this certificate. */
  renewCertificate(tls: TlsContents): void {
    if ("setSecureContext" in this.server) this.server.setSecureContext(tls);
  }

  /** Accepts no more connections, closes the idle ones, and after a while those with requests in flight, too. */
  stop(): void {
    this.server.close();
    for (const session of this.#sessions) session.close();
    this.#endAllAfter(this.#patience.drainMs);
  }

  /** Says good-bye on the connections that are left, now that everything is answered. */
  finish(): void {
    if ("closeIdleConnections" in this.server) this.server.closeIdleConnections(); // of both, whatever the types say
    this.#endAllAfter(this.#patience.farewellMs);
  }

  #endAllAfter(milliseconds: number): void {
    clearTimeout(this.#deadline);
    // Unref'd: the connections keep the process, and without any there is nothing to end.
    this.#deadline = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, milliseconds).unref();
  }
}

function keepUntilClosed<T extends NodeJS.EventEmitter>(open: Set<T>, each: T): void {
  open.add(each);
  each.once("close", () => open.delete(each));
}

function listenProblem(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === "EADDRINUSE") return `port ${port} on ${host} is in use; choose another with --port`;
  if (error.code === "EACCES") return `port ${port} on ${host} may not be used by this user; choose one above 1023`;
  return `cannot listen on ${host}:${port}: ${error.message}`;
}
