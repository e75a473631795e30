import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { TlsContents } from "./tls-files.ts";

const defaults = {
  /** For the header section of a request; of one over HTTP/2 behind others, up to twice that. */
  headersTimeout: 30_000,
  /** For a whole request: 100 MiB at 0.5 Mbit/s. */
  requestTimeout: 1_800_000,
  /** For the next request of a connection. Proxies that keep theirs longer (nginx: 60 s) would get a reset. */
  keepAliveTimeout: 65_000,
  /** For any byte on an idle connection, also within a request or a reply. */
  timeout: 120_000,
  /** Between two checks of the first two limits. */
  connectionsCheckingInterval: 5_000,
  handshakeTimeout: 10_000,
  /** For requests in flight at a stop. Container runtimes kill the process after 10 s. */
  drainMs: 8_000,
  /** For clients to close their connections after the last reply. */
  closeMs: 500,
};

export type Timeouts = Readonly<typeof defaults>;

/** Requests that a client of HTTP/2 may have under way over one connection; browsers open no more. */
const maxConcurrentStreams = 100;

export class Listener {
  readonly server: Server | Http2SecureServer;
  readonly #timeouts: Timeouts;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  #deadline: NodeJS.Timeout | undefined;

  constructor(tls: TlsContents | undefined, overrides: Partial<Timeouts> = {}) {
    this.#timeouts = { ...defaults, ...overrides };
    const { handshakeTimeout, drainMs, closeMs, ...ofServer } = this.#timeouts;
    const server = tls
      ? createSecureServer({ ...tls, allowHTTP1: true, handshakeTimeout, settings: { maxConcurrentStreams } })
      : createServer();
    // As properties, because the TLS server takes them neither as options of its own nor as `http1Options`.
    this.server = Object.assign(server, ofServer);
    const emitter: NodeJS.EventEmitter = server;
    emitter.on("connection", (socket: Socket) => keepUntilClosed(this.#sockets, socket));
    emitter.on("session", (session: ServerHttp2Session) => {
      keepUntilClosed(this.#sessions, session);
      endUnused(session, this.#timeouts);
    });
  }

  /** Resolves with the bound address. Rejects with an error whose message an operator can act on. */
  async listen(host: string, port: number): Promise<AddressInfo> {
    this.server.listen(port, host);
    try {
      await once(this.server, "listening");
    } catch (cause) {
      throw new Error(listenProblem(cause as NodeJS.ErrnoException, host, port), { cause }); // by a system call
    }
    return this.server.address() as AddressInfo; // no pipe, since it was given a port
  }

  renewCertificate(tls: TlsContents): void {
    if ("setSecureContext" in this.server) this.server.setSecureContext(tls);
  }

  /** Accepts no more connections; a while later calls `beforeCut` and cuts those that are left. */
  stop(beforeCut: () => void = () => {}): void {
    this.server.close();
    for (const session of this.#sessions) session.close();
    this.#endAllAfter(this.#timeouts.drainMs, beforeCut);
  }

  finish(): void {
    if ("closeIdleConnections" in this.server) this.server.closeIdleConnections(); // of both, whatever the types say
    this.#endAllAfter(this.#timeouts.closeMs);
  }

  #endAllAfter(milliseconds: number, before: () => void = () => {}): void {
    clearTimeout(this.#deadline);
    // Unref'd: open connections keep the process alive, and without any the timer has nothing to do.
    this.#deadline = setTimeout(() => {
      before();
      for (const socket of this.#sockets) socket.destroy();
    }, milliseconds).unref();
  }
}

/** Node's time limits for HTTP/2 begin anew with each byte, so that a header section may come one byte at a time. */
function endUnused(session: ServerHttp2Session, { headersTimeout, keepAliveTimeout }: Timeouts): void {
  let open = 0;
  let newest = 0;
  let begun = 0;
  const endAfter = (milliseconds: number): NodeJS.Timeout => setTimeout(() => session.destroy(), milliseconds).unref();
  let timer = endAfter(headersTimeout);
  // A header section that comes beside an open stream: its number is known as soon as it begins.
  const looks = setInterval(() => {
    const { lastProcStreamID = 0 } = session.state;
    if (lastProcStreamID > newest && lastProcStreamID === begun) session.destroy();
    begun = lastProcStreamID;
  }, headersTimeout).unref();
  session.once("close", () => {
    clearTimeout(timer);
    clearInterval(looks);
  });
  session.on("stream", (stream) => {
    clearTimeout(timer);
    open += 1;
    newest = stream.id ?? 0;
    stream.once("close", () => {
      open -= 1;
      if (open === 0 && !session.destroyed) timer = endAfter(keepAliveTimeout);
    });
  });
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
