import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import { type AddressInfo, connect, type Server as NetServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";

/** A file server behind a real `node:http` server on a free port of the loopback interface. */
export interface Served {
  readonly files: FileServer;
  readonly server: Server;
  readonly port: number;
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string;
}

/** Serves a configuration until the test is over. */
export async function serve(config: FileServerConfig): Promise<Served> {
  const files = createFileServer(config);
  const server = createServer();
  files.attach(server);
  const port = await listen(server);
  onTestFinished(async () => {
    server.closeAllConnections();
    await files.close();
  });
  return { files, server, port, url: `http://127.0.0.1:${port}` };
}

/** Has any server listen on a free port until the test is over, and returns the port. */
export async function listen(server: NetServer & Partial<Pick<Server, "closeAllConnections">>): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

type Http2Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => unknown;

/** A session of HTTP/2 without TLS with a server of its own, until the test is over. */
export async function openHttp2(handler: RequestListener | FileServer | Http2Listener): Promise<ClientHttp2Session> {
  const server = createHttp2Server(handler as never);
  const session = connectHttp2(`http://127.0.0.1:${await listen(server)}`);
  // Within a callback of its own, Node 20 would write to freed memory.
  onTestFinished(() => void setImmediate(() => session.destroy()));
  return session;
}

/** Opens a bare connection, for bytes that no HTTP client would send; closed when the test is over. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => socket.destroy()); // a server that resets the connection is an answer, too
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Sends bytes over a bare connection and returns everything that comes back until the server closes it. */
export async function exchangeBytes(port: number, bytes: string | Uint8Array): Promise<string> {
  const socket = await openSocket(port);
  socket.write(bytes);
  return text(socket);
}

/** One request with hostile parts, written by hand: `target` and `lines` go onto the wire as they are, as latin1. */
export async function rawRequest(
  port: number,
  method: string,
  target: string,
  lines: readonly string[] = [],
  body = "",
): Promise<{ status: number; head: string; body: string }> {
  const host = lines.some((line) => /^host:/i.test(line)) ? [] : [`Host: 127.0.0.1:${port}`];
  const head = [`${method} ${target} HTTP/1.1`, ...host, "Connection: close", ...lines].join("\r\n");
  const answer = await exchangeBytes(port, Buffer.from(`${head}\r\n\r\n${body}`, "latin1"));
  const [answerHead = "", ...rest] = answer.split("\r\n\r\n");
  return { status: Number(answerHead.split(" ")[1]), head: answerHead, body: rest.join("\r\n\r\n") };
}
