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

/** Begins a request of `node:http`, which unlike `fetch` sends the target as it is spelled. */
export function open(origin: string, method: string, target: string, { headers = {} }: Sending = {}): ClientRequest {
  const { hostname, port } = new URL(origin);
  return request({ hostname, port, method, path: target, headers: headers as Record<string, string>, agent });
}

/** Sends a request and reads the reply to its end. */
export async function send(origin: string, method: string, target: string, sending: Sending = {}): Promise<Answer> {
  const { body } = sending;
  const outgoing = open(origin, method, target, sending);
  const response = once(outgoing, "response") as Promise<[IncomingMessage]>;
  if (body === undefined) outgoing.end();
  else if (typeof body === "string" || body instanceof Uint8Array) {
    const bytes = Buffer.from(body); // together with text node would send the header fields as UTF-8, not as latin1
    outgoing.setHeader("content-length", bytes.length).end(bytes);
  } else {
    pipeline(body, outgoing).catch(() => {}); // a server that refuses stops reading; its reply says why
  }
  const [incoming] = await response;
  const bytes = await buffer(incoming);
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, bytes, text: bytes.toString() };
}

/** Announces content and sends none of it: the reply that comes all the same. The connection is given up then. */
export async function announce(
  origin: string,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const outgoing = open(origin, method, target, { headers });
  outgoing.flushHeaders();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const bytes = await firstBytes(incoming);
  outgoing.destroy();
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, bytes, text: bytes.toString() };
}

/** The content up to its announced length; the server may leave the connection open after it. */
async function firstBytes(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let missing = Number(incoming.headers["content-length"]);
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    missing -= chunk.length;
    if (missing <= 0) break;
  }
  return Buffer.concat(chunks);
}
