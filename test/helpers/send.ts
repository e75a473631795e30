import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

/** What goes with a request besides its method and URL. */
export interface Sending {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Text and bytes go with a `Content-Length`, pieces in chunks. */
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array> | undefined;
}

/** A reply, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
}

// A connection for each request: what one test leaves on it does not reach the next.
const agent = new Agent({ keepAlive: false });

/** Begins a request of `node:http`, which unlike `fetch` sends just what it is told; the target goes as it is spelled. */
export function open(origin: string, method: string, target: string, { headers = {} }: Sending = {}): ClientRequest {
  const { hostname, port } = new URL(origin);
  return request({ hostname, port, method, path: target, headers: headers as Record<string, string>, agent });
}

/** Sends a request and reads the reply to its end. */
export async function send(origin: string, method: string, target: string, sending: Sending = {}): Promise<Answer> {
  const { body } = sending;
  const outgoing = open(origin, method, target, sending);
  const response = once(outgoing, "response") as Promise<[IncomingMessage]>;
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) {
    if (body !== undefined) outgoing.setHeader("content-length", Buffer.byteLength(body));
    outgoing.end(body);
  } else {
    pipeline(body, outgoing).catch(() => {}); // a server that refuses stops reading; its reply says why
  }
  const [incoming] = await response;
  const bytes = await buffer(incoming);
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, bytes, text: bytes.toString() };
}
