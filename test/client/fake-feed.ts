import { on, once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";

/** A connection that a page has made. */
export interface Caller {
  /** What it asked for: `since`, `feed`, `path`. */
  readonly query: Readonly<Record<string, string>>;
  send(...messages: readonly object[]): void;
  /** Closes it, as a server does, and waits until it is. */
  cut(): Promise<void>;
  readonly gone: Promise<unknown>;
  /** The next message of the page. */
  heard(): Promise<unknown>;
}

/** A server that tells pages just what a test wants. */
export interface FakeFeed {
  readonly url: string;
  /** The next connection; one after the other, none is left out. */
  next(): Promise<Caller>;
}

/** Listens until the test is over. */
export async function fakeFeed(): Promise<FakeFeed> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const callers: Caller[] = [];
  const waiting: ((caller: Caller) => void)[] = [];
  server.on("connection", (socket: WebSocket, request: IncomingMessage) => {
    const gone = once(socket, "close");
    const messages = on(socket, "message");
    const caller: Caller = {
      query: Object.fromEntries(new URL(request.url ?? "/", "http://localhost").searchParams),
      send: (...messages) => {
        for (const message of messages) socket.send(JSON.stringify(message));
      },
      cut: async () => {
        socket.terminate();
        await gone;
      },
      gone,
      heard: async () => JSON.parse(String((await messages.next()).value[0])),
    };
    const resolve = waiting.shift();
    if (resolve) resolve(caller);
    else callers.push(caller);
  });
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`,
    next() {
      const caller = callers.shift();
      return caller ? Promise.resolve(caller) : new Promise((resolve) => waiting.push(resolve));
    },
  };
}

/** A message about a change, as short as it can be. */
export function change(id: number, fields: object = {}): object {
  return { type: "change", id, kind: "replaced", path: "/page.html", requestId: `request-${id}`, ...fields };
}
