import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { ClientAddresses } from "../http/client-address.ts";
import { type Access, type ChangedElements, permitAll, type User } from "./access.ts";
import { tooLarge } from "./admission.ts";
import type { MadeChange } from "./change-feed.ts";
import type { HostRequest, IncomingRequest } from "./incoming-request.ts";
import type { Inspection } from "./inspection.ts";
import type { Site } from "./site.ts";

export type { Access, User } from "./access.ts";
export type { HostRequest, IncomingRequest } from "./incoming-request.ts";

// Safe to repeat in a header, a log line and a file name.
const usableId = /^[A-Za-z0-9._-]{1,128}$/;

/** What {@link Exchange} is made of, once path and host are known. */
export interface ExchangeInit
  extends Pick<Exchange, "site" | "path" | "search" | "host" | "protocol">,
    Partial<Pick<Exchange, "isProgram">> {
  readonly incoming: IncomingRequest;
  /** @internal */
  readonly inspection?: Inspection | undefined;
  /** Who the client is, behind the proxies that are trusted. */
  readonly clients: Pick<ClientAddresses, "address">;
}

/**
 * One request, as plugins see it. A plugin for one host program can name the type of its requests:
 * `handle(exchange: Exchange<express.Request>, next)`.
 */
export class Exchange<Hosted extends HostRequest = HostRequest> {
  /** The request of the host program, with what others have put there: `request.session` in Express. */
  readonly request: Hosted;
  /** Upper-case. */
  readonly method: string;
  /** The request target as the client sent it, mount prefix and query included; for logs and links. */
  readonly url: string;
  /** Path prefix under which the server is mounted, without a trailing slash; `""` without a mount. */
  readonly mount: string;
  /** Header fields; lower-case names, values as latin1. */
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: string;
  /** Whether the client wants to take over the connection (a web socket handshake). */
  readonly isUpgrade: boolean;
  /** The host that answers. */
  readonly site: Site;
  /** The query with its `?`, or `""`. */
  readonly search: string;
  /** Name of the addressed host: lower-case, without port. */
  readonly host: string;
  readonly protocol: "http" | "https";
  /** When the header section had arrived, in milliseconds of `performance.now()`. */
  readonly startedAt: number = performance.now();
  /** Whether the host program itself asks, which may do everything. */
  readonly isProgram: boolean;
  /** @internal What a plugin that has made the request wants to know. */
  readonly inspection: Inspection | undefined;
  /** Set by an authentication plugin. */
  user: User | undefined = undefined;
  /** What this request may do. @default everything */
  access: Access = permitAll;
  /** @internal Path of the file that was found: another than `path` where an index file, for instance, stands in. */
  file: string | undefined = undefined;
  /** The reply waits for this while changes are made faster than they are delivered; for the server itself. */
  congestion: Promise<void> | undefined = undefined;

  readonly #path: string;
  readonly #incoming: IncomingRequest;
  readonly #clients: ExchangeInit["clients"];
  // Made at first use; most requests are answered without.
  #id: string | undefined;
  #address: string | undefined;
  #body: RequestBody | undefined;
  #metadata: Map<string, unknown> | undefined;
  #releases: (() => unknown)[] | undefined;
  #isOver = false;

  constructor(init: ExchangeInit) {
    const { incoming } = init;
    this.request = incoming.request as Hosted; // a plugin that names another type vouches for it
    this.method = incoming.method;
    this.url = incoming.url;
    this.mount = incoming.mount;
    this.headers = incoming.headers;
    this.httpVersion = incoming.httpVersion;
    this.isUpgrade = incoming.isUpgrade;
    this.isProgram = init.isProgram ?? false;
    this.inspection = init.inspection;
    this.#incoming = incoming;
    this.#clients = init.clients;
    this.site = init.site;
    this.#path = init.path;
    this.search = init.search;
    this.host = init.host;
    this.protocol = init.protocol;
  }

  /**
   * The canonical path below the mount: decoded, absolute, no empty or dot segments. It cannot be set: rules, limits
   * and logs before have decided by it.
   */
  get path(): string {
    return this.#path;
  }

  /** The client's `X-Request-ID` where it is usable, else a UUID. */
  get id(): string {
    const sent = this.headers["x-request-id"];
    this.#id ??= typeof sent === "string" && usableId.test(sent) ? sent : randomUUID();
    return this.#id;
  }

  /** IP address of the client; behind a trusted proxy, the one that the proxy reports. */
  get address(): string {
    this.#address ??= this.#clients.address(this.#incoming.peer, this.headers);
    return this.#address;
  }

  /** The content of the request; read at most once. */
  get body(): RequestBody {
    this.#body ??= new RequestBody(this.#incoming, this.site.options.maxFileSize);
    return this.#body;
  }

  /** Bytes of content that were read so far. */
  get received(): number {
    return this.#body?.received ?? 0;
  }

  /** Aborted when the client leaves before the reply is complete. */
  get signal(): AbortSignal {
    return this.#incoming.signal();
  }

  /** Notes from one plugin to later ones, for instance `authenticated_user`. */
  get metadata(): Map<string, unknown> {
    this.#metadata ??= new Map();
    return this.#metadata;
  }

  /** A request header field as one text; `undefined` where it was not sent. */
  header(name: string): string | undefined {
    const value = this.headers[name];
    return typeof value === "object" ? value.join(", ") : value;
  }

  /** How often a header field was sent; tells a list value from two fields of one name. */
  count(field: string): number {
    return this.#incoming.count(field);
  }

  /** @internal Entity tag of what a change is on top of, `""` for nothing: the last that was judged. */
  follows: string | undefined;

  /** Announces a committed change to the listeners of the host's `changes`; `elements` are those that changed. */
  changed(change: MadeChange, elements?: readonly ChangedElements[]): void {
    const { site, method, host, user, id } = this;
    const published = { ...change, method, host, ...(user && { user: user.name }), requestId: id };
    site.changes.publish(published, { site: site.name, elements, follows: this.follows });
    this.congestion = site.changes.congestion;
  }

  /** Calls `release` when the exchange is over, however it ends; at once where it is over already. */
  defer(release: () => unknown): void {
    // A plugin may answer without waiting for the rest of the pipeline, which then opens a file in vain.
    if (this.#isOver) void this.#release(release);
    else this.#releases = [...(this.#releases ?? []), release];
  }

  /** @internal Calls what was deferred; for the server itself. Never rejects. */
  async end(): Promise<void> {
    this.#isOver = true;
    const releases = this.#releases;
    this.#releases = undefined;
    if (releases) await Promise.all(releases.map((release) => this.#release(release)));
  }

  async #release(release: () => unknown): Promise<void> {
    try {
      await release();
    } catch (error) {
      this.site.report(error, this);
    }
  }
}

/** The content of a request, as it arrives: 413 beyond the size limit, 400 if the client sends less than announced. */
export class RequestBody implements AsyncIterable<Uint8Array> {
  readonly #source: Pick<IncomingRequest, "content">;
  readonly #maxFileSize: number;
  /** Bytes that were read so far. */
  received = 0;

  constructor(source: Pick<IncomingRequest, "content">, maxFileSize: number) {
    this.#source = source;
    this.#maxFileSize = maxFileSize;
  }

  /** All of the content. `maxBytes` is a limit below the server's own. */
  async bytes(maxBytes: number = this.#maxFileSize): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
    const [only] = chunks;
    return chunks.length === 1 && only ? only : Buffer.concat(chunks);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of this.#source.content()) {
      this.received += chunk.byteLength;
      if (this.received > this.#maxFileSize) throw tooLarge(this.#maxFileSize);
      yield chunk;
    }
  }
}
