import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { onTestFinished } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import type { FileServer } from "../../src/file-server.ts";

/** A message of the feed, as JSON. */
export interface LiveMessage {
  readonly type: string;
  readonly id?: number;
  readonly feed?: string;
  readonly kind?: string;
  readonly path?: string;
  readonly [other: string]: unknown;
}

/** Messages in the order of their arrival, to be taken one by one. */
export class Inbox<T = LiveMessage> {
  readonly all: T[] = [];
  #taken = 0;
  #wake: (() => void) | undefined;

  add(message: T): void {
    this.all.push(message);
    this.#wake?.();
  }

  /** The next message that was not taken yet; waits for it. */
  async next(): Promise<T> {
    while (this.all.length <= this.#taken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#taken += 1;
    return this.all[this.#taken - 1] as T;
  }

  /** The next few. */
  async take(count: number): Promise<T[]> {
    const taken: T[] = [];
    while (taken.length < count) taken.push(await this.next());
    return taken;
  }
}

/** A connected web socket client. */
export interface LiveClient {
  readonly socket: WebSocket;
  /** What came as text; JSON is parsed. */
  readonly inbox: Inbox;
  /** The same, as it came. */
  readonly texts: Inbox<string>;
  /** Status code and reason of the end. */
  readonly closed: Promise<readonly [code: number, reason: string]>;
}

/** How to connect besides the URL. */
export interface Connecting extends ClientOptions {
  readonly protocols?: readonly string[];
}

/** Connects, and disconnects when the test is over. */
export async function connectLive(
  origin: string,
  target: string,
  { protocols = [], ...options }: Connecting = {},
): Promise<LiveClient> {
  const socket = new WebSocket(`${origin.replace(/^http/, "ws")}${target}`, [...protocols], options);
  onTestFinished(() => socket.terminate());
  const inbox = new Inbox();
  const texts = new Inbox<string>();
  socket.on("message", (data) => {
    const text = String(data);
    texts.add(text);
    if (text.startsWith("{")) inbox.add(JSON.parse(text));
  });
  const closed = new Promise<readonly [number, string]>((resolve) => {
    socket.on("close", (code, reason) => resolve([code, String(reason)]));
  });
  await once(socket, "open");
  socket.on("error", () => {});
  return { socket, inbox, texts, closed };
}

/** Tries to connect and returns the plain answer that comes instead. */
export async function refusedLive(
  origin: string,
  target: string,
  { protocols = [], ...options }: Connecting = {},
): Promise<{ status: number; headers: IncomingMessage["headers"]; code: string | undefined }> {
  const socket = new WebSocket(`${origin.replace(/^http/, "ws")}${target}`, [...protocols], options);
  onTestFinished(() => socket.terminate());
  socket.on("error", () => {});
  const [, response] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, code: JSON.parse(text).code };
}

/** Publishes changes of files that no request made. */
export function publish({ files }: { readonly files: FileServer }, ...paths: string[]): void {
  for (const path of paths) {
    const change = { kind: "replaced", method: "PUT", host: "127.0.0.1", path, requestId: "r" } as const;
    files.changes.publish(change, { site: "*" });
  }
}
