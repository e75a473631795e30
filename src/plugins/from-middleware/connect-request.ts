import { type IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { methodsWithContent } from "../../http/methods.ts";
import type { Exchange, HostRequest } from "../../server/exchange.ts";

/** The part of a connection that middleware uses: the peer's address, whether it is TLS, and when it closes. */
class PeerSocket extends Socket {
  override readonly remoteAddress: string;
  override readonly remoteFamily: string;
  readonly encrypted: boolean;

  constructor(address: string, encrypted: boolean) {
    super();
    this.remoteAddress = address;
    this.remoteFamily = address.includes(":") ? "IPv6" : "IPv4";
    this.encrypted = encrypted;
    this.setMaxListeners(0); // every middleware of the exchange listens for "close"
    this.on("error", () => {}); // from destroy(error), of which "close" tells; without a listener it would end the process
  }
}

/** An exchange as a request of `node:http`. */
export class ConnectRequest extends IncomingMessage {
  /** The request target as the client sent it; `url` is the part below the mount point. */
  originalUrl: string;
  baseUrl: string;
  ip: string;
  readonly #exchange: Exchange;
  #content: AsyncIterator<Uint8Array> | undefined;

  constructor(exchange: Exchange) {
    super(new PeerSocket(exchange.address, exchange.protocol === "https"));
    Object.assign(this, methods);
    this.#exchange = exchange;
    this.method = exchange.method;
    this.originalUrl = exchange.url;
    this.baseUrl = exchange.mount;
    this.url = targetBelowMount(exchange);
    this.ip = exchange.address;
    this.headers = headersOf(exchange);
    this.rawHeaders = Object.entries(this.headers).flatMap(([name, value]) =>
      [value ?? []].flat().flatMap((each) => [name, each]),
    );
    this.httpVersion = exchange.httpVersion;
    const [major = 1, minor = 0] = exchange.httpVersion.split(".").map(Number);
    this.httpVersionMajor = major;
    this.httpVersionMinor = minor;
  }

  /** Takes the content from the exchange when it is first read: the file handler may need it instead. */
  override _read(size: number): void {
    super._read(size); // lets Node note that the message is being consumed
    this.#content ??= this.#exchange.body[Symbol.asyncIterator]();
    this.#content.next().then(
      ({ done, value }) => {
        if (done) this.complete = true;
        this.push(done ? null : value);
      },
      (error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.complete && this.#exchange.signal.aborted) {
      this.aborted = true;
      this.emit("aborted"); // deprecated in Node, yet what raw-body and multipart parsers listen for
    }
    this.#content?.return?.().catch(() => {}); // the exchange is over
    done(this.listenerCount("error") > 0 ? error : null); // as in node:http: "error" only for those who listen
  }
}

/**
 * The methods of a class, for `Object.assign` to an instance. An Express application puts its own prototypes in place of
 * those of the request and the response that it is given, and with them its own idea of where bytes come from and go.
 */
export function methodsOf(prototype: object): Readonly<Record<string, unknown>> {
  const { constructor: _class, ...properties } = Object.getOwnPropertyDescriptors(prototype);
  const methods = Object.entries(properties).filter(([, { value }]) => typeof value === "function");
  return Object.fromEntries(methods.map(([name, { value }]) => [name, value]));
}

const methods = methodsOf(ConnectRequest.prototype);

const requests = new WeakMap<Exchange, ConnectRequest>();

/**
 * The request of an exchange: one for all its middleware, so that what one puts there (`req.cookies`) others find. Where
 * Express or Connect has mounted the server it is theirs; elsewhere one with what the host program has added to its own.
 */
export function requestOf(exchange: Exchange): IncomingMessage {
  if (isMounted(exchange.request)) return exchange.request;
  const known = requests.get(exchange);
  if (known) return known;
  const request = new ConnectRequest(exchange);
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
    request.socket.setTimeout(0); // of a middleware that called setTimeout
    request.destroy();
  });
  return request;
}

/** Whether the framework has made the request one as middleware knows it: `url` is below the mount point. */
function isMounted(request: HostRequest): request is IncomingMessage {
  return request instanceof IncomingMessage && "originalUrl" in request;
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
