import { Buffer } from "node:buffer";
import { encodePath, parseRequestPath } from "../http/request-target.ts";
import { unavailable } from "../server/admission.ts";
import { Exchange, type HostRequest, type IncomingRequest } from "../server/exchange.ts";
import type { InnerRequest } from "../server/inner-request.ts";
import { bodyBytes, completeReply, isStream, type Reply } from "../server/reply.ts";
import type { LifeCycle } from "./life-cycle.ts";
import { tell } from "./serve-request.ts";
import type { HostedSite } from "./site.ts";

export type Answered = Omit<Reply, "body"> & { readonly content: Buffer };

/** Answers an exchange that has no connection: counts it, waits for the start, and tells the observers. */
export async function answerInside(
  life: LifeCycle,
  site: HostedSite,
  exchange: Exchange,
  answer: () => Promise<Reply>,
  mostBytes: number = Number.POSITIVE_INFINITY,
): Promise<Answered> {
  life.enter();
  try {
    await life.ready();
    const reply = completeReply(exchange, await answer());
    const content = await beginningOf(reply, mostBytes);
    if (exchange.congestion) await exchange.congestion;
    tell(exchange, site, reply, { bytes: content.byteLength, aborted: false });
    return { ...reply, content };
  } finally {
    await exchange.end();
    life.leave();
  }
}

async function beginningOf(reply: Reply, mostBytes: number): Promise<Buffer> {
  const { body } = reply;
  if (!isStream(body) || mostBytes === Number.POSITIVE_INFINITY) return Buffer.from(await bodyBytes(reply));
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body as AsyncIterable<string | Uint8Array>) {
    pieces.push(Buffer.from(piece as string));
    size += pieces.at(-1)?.byteLength ?? 0;
    if (size >= mostBytes) break; // which destroys the stream
  }
  return Buffer.concat(pieces).subarray(0, mostBytes);
}

/** Answers a request that a plugin makes for a client: the plugins of the host judge it as one from the client. */
export async function askInside(life: LifeCycle, site: HostedSite, asked: InnerRequest): Promise<Answered> {
  const { client, method, path, search = "", headers = {}, content, mostBytes, inspection } = asked;
  if (life.isClosing && !client) throw unavailable("CLOSING");
  const { host = "localhost", protocol = "http", mount = "", address = "127.0.0.1" } = client ?? {};
  const url = encodePath(path) + search;
  const incoming = incomingOf({ method, url, mount, headers: { host, ...headers }, content, client });
  const exchange = new Exchange({
    ...{ incoming, site, host, protocol, inspection },
    ...parseRequestPath(url),
    clients: { address: () => address },
  });
  if (client) {
    exchange.user = client.user;
    exchange.access = client.access; // rules only take rights away from it
  }
  return answerInside(life, site, exchange, () => site.answer(exchange), mostBytes);
}

/** A request that did not come over a connection. */
export function incomingOf({
  method,
  url,
  mount = "",
  headers,
  content,
  client,
}: Pick<IncomingRequest, "method" | "url" | "headers"> & {
  readonly mount?: string;
  readonly content?: string | Uint8Array | undefined;
  readonly client?: Exchange | undefined;
}): IncomingRequest {
  return {
    request: hostRequest(new Request(`http://localhost${url}`, { method }), client?.request),
    method,
    url: mount + url,
    target: url,
    mount,
    headers,
    peer: client?.address ?? "127.0.0.1",
    encrypted: client?.protocol === "https",
    httpVersion: client?.httpVersion ?? "1.1",
    isUpgrade: false,
    count: (field) => (headers[field] === undefined ? 0 : 1),
    async *content() {
      if (content !== undefined && content.length > 0) yield Buffer.from(content as string);
    },
    signal: () => client?.signal ?? new AbortController().signal,
  };
}

/** Of the request that the framework around has made, about another request: these stay behind. */
const ofOneRequest: ReadonlySet<string> = new Set(["body", "originalUrl", "baseUrl", "query", "params", "res", "next"]);

/** With what the host program has put into the client's own request, such as its session. */
function hostRequest(request: Request, sent: HostRequest | undefined): HostRequest {
  for (const [name, value] of Object.entries(sent ?? {})) {
    if (!(name in request) && !name.startsWith("_") && !ofOneRequest.has(name)) Reflect.set(request, name, value);
  }
  return request;
}
