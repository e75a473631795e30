import { type IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { methodsWithContent } from "../../http/methods.ts";
import type { Exchange } from "../../server/exchange.ts";

type Connection = Pick<Socket, "remoteAddress"> & { readonly encrypted?: boolean };

/** Gives a stream what middleware looks for in a connection: the address of the peer, and whether it is TLS. */
export function asConnection(stream: Duplex, { remoteAddress, encrypted = false }: Connection): Socket {
  stream.setMaxListeners(0); // every middleware of the exchange listens for "close"
  stream.on("error", () => {}); // of destroy(error); without a listener it would end the process
  const setTimeout = (): Duplex => stream;
  return Object.assign(stream, { remoteAddress, encrypted, setTimeout }) as unknown as Socket;
}

const requests = new WeakMap<Exchange, IncomingMessage>();

/**
 * The request of an exchange: one for all its middleware, so that what one puts there (`req.cookies`) others find.
 * Where Express or Connect has mounted the server it is theirs; elsewhere one with what the host program has added to
 * its own.
 */
export function requestOf(exchange: Exchange): IncomingMessage {
  const { request: asked } = exchange;
  // The framework has made it one as middleware knows it: `url` is below the mount point.
  if (asked instanceof IncomingMessage && "originalUrl" in asked) return asked;
  const known = requests.get(exchange);
  if (known) return known;
  const request = connectRequest(exchange);
  requests.set(exchange, request);
  for (const [name, value] of Object.entries(exchange.request))
    if (!(name in request)) Reflect.set(request, name, value);

  const { signal } = exchange;
  const leave = (): void => {
    request.destroy(Object.assign(new Error("aborted"), { code: "ECONNRESET" })); // as node:http words it
    request.socket.destroy();
  };
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  exchange.defer(() => {
    signal.removeEventListener("abort", leave);
    request.destroy();
  });
  return request;
}

/** An exchange as a request of `node:http`. Express changes its prototype, so all that differs is its own. */
function connectRequest(exchange: Exchange): IncomingMessage {
  const [stream] = duplexPair();
  const peer = { remoteAddress: exchange.address, encrypted: exchange.protocol === "https" };
  const request = new IncomingMessage(asConnection(stream, peer));
  const headers = headersOf(exchange);
  const lines = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, each]));
  const [httpVersionMajor = 1, httpVersionMinor = 0] = exchange.httpVersion.split(".").map(Number);
  let content: AsyncIterator<Uint8Array> | undefined;
  return Object.assign(request, {
    method: exchange.method,
    /** As the client sent it; `url` is the part below the mount point. */
    originalUrl: exchange.url,
    baseUrl: exchange.mount,
    url: targetBelowMount(exchange),
    ip: exchange.address,
    headers,
    rawHeaders: lines.flat(),
    httpVersion: exchange.httpVersion,
    httpVersionMajor,
    httpVersionMinor,
    /** Takes the content from the exchange when it is first read: the file handler may need it instead. */
    _read(size: number) {
      IncomingMessage.prototype._read.call(request, size); // lets Node note that the message is being consumed
      content ??= exchange.body[Symbol.asyncIterator]();
      content.next().then(
        ({ done, value }) => {
          if (done) request.complete = true;
          request.push(done ? null : value);
        },
        (error) => request.destroy(error),
      );
    },
    _destroy(error: Error | null, done: (error?: Error | null) => void) {
      if (!request.complete && exchange.signal.aborted) {
        request.aborted = true;
        request.emit("aborted"); // deprecated in Node, yet what raw-body and multipart parsers listen for
      }
      content?.return?.().catch(() => {}); // the exchange is over
      done(request.listenerCount("error") > 0 ? error : null); // as in node:http: "error" only for those who listen
    },
  });
}

function targetBelowMount({ url, mount, path, search }: Exchange): string {
  if (mount === "") return url;
  if (!url.startsWith(mount)) return path + search;
  const target = url.slice(mount.length);
  return target.startsWith("/") ? target : `/${target}`;
}

/** A copy, for middleware may write to it: without HTTP/2's pseudo-header fields, and with what HTTP/1 always has. */
function headersOf({ headers, host, method }: Exchange): IncomingHttpHeaders {
  const fields = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(":")));
  const authority = headers[":authority"];
  fields["host"] ??= typeof authority === "string" ? authority : host;
  // Body parsers look for one of the two before they read; HTTP/2 and fetch may send content with neither.
  const isFramed = fields["content-length"] !== undefined || fields["transfer-encoding"] !== undefined;
  if (!isFramed && methodsWithContent.has(method)) fields["transfer-encoding"] = "chunked";
  return fields;
}
