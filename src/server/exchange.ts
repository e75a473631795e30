import type { IncomingHttpHeaders } from "node:http";
import { type Access, permitAll, type SelectedElements, type User } from "./access.ts";
import type { NewChange } from "./change-feed.ts";
import { notify } from "./notify.ts";
import { RequestBody } from "./request-body.ts";
import type { Site } from "./site.ts";

export type { Access, Right, SelectedElements, User } from "./access.ts";

/** A request as it comes from `node:http`, `node:http2` or `fetch`, before any of it has been judged. */
export interface IncomingRequest {
  readonly method: string;
  /** The request target as the client sent it, query included. */
  readonly url: string;
  /** The part of the target below the mount point: `url` unless a framework mounted the server under a prefix. */
  readonly target: string;
  /** Path prefix under which a framework mounted the server, as in `url`; `""` for none. */
  readonly mount: string;
  /** Lower-case names, values as latin1. */
  readonly headers: IncomingHttpHeaders;
  /** Address of the socket's peer. */
  readonly peer: string;
  /** Whether the connection itself is TLS. */
  readonly encrypted: boolean;
  readonly httpVersion: string;
  /** Whether the connection is to be taken over (a web socket handshake). */
  readonly isUpgrade: boolean;
  /** How often a header field was sent; tells a list value from two fields of one name. */
  count(field: string): number;
  /** The content; throws where somebody else has read it already. */
  content(): AsyncIterable<Uint8Array>;
  /** Aborted when the client leaves before the reply is complete. */
  signal(): AbortSignal;
}

/** What {@link Exchange} is made of, once path, host and client are known. */
export interface ExchangeInit {
  readonly id: string;
  readonly incoming: IncomingRequest;
  readonly site: Site;
  /** Canonical path and query, see `http/request-path.ts`. */
  readonly path: string;
  readonly search: string;
  readonly host: string;
  readonly address: string;
  readonly protocol: "http" | "https";
}

/** One request, as plugins see it. */
export class Exchange {
  /** The client's `X-Request-ID` where it is usable, else a UUID. */
  readonly id: string;
  /** Upper-case. */
  readonly method: string;
  /** The request target as the client sent it, mount prefix and query included; for logs and links. */
  readonly url: string;
  /** Path prefix under which the server is mounted, without a trailing slash; `""` for none. */
  readonly mount: string;
  /** The canonical path below the mount: decoded, absolute, no empty or dot segments. */
  readonly path: string;
  /** The query with its `?`, or `""`. */
  readonly search: string;
  /** Header fields; lower-case names, values as latin1. */
  readonly headers: IncomingHttpHeaders;
  /** Name of the addressed host: lower-case, without port. */
  readonly host: string;
  /** IP address of the client; behind a trusted proxy, the one that the proxy reports. */
  readonly address: string;
  readonly protocol: "http" | "https";
  readonly httpVersion: string;
  /** Whether the client wants to take over the connection (a web socket handshake). */
  readonly isUpgrade: boolean;
  /** The content of the request; read at most once. */
  readonly body: RequestBody;
  /** The host that answers. */
  readonly site: Site;
  /** When the header section had arrived, in milliseconds of `performance.now()`. */
  readonly startedAt: number = performance.now();
  /** Set by an authentication plugin. */
  user: User | undefined = undefined;
  /** What this request may do. @default everything */
  access: Access = permitAll;
  /** Notes from one plugin to later ones, for instance `authenticated_user`. */
  readonly metadata: Map<string, unknown> = new Map();

  readonly #incoming: IncomingRequest;
  readonly #releases: (() => unknown)[] = [];
  #isOver = false;

  constructor(init: ExchangeInit) {
    const { incoming, site } = init;
    this.#incoming = incoming;
    this.id = init.id;
    this.method = incoming.method;
    this.url = incoming.url;
    this.mount = incoming.mount;
    this.path = init.path;
    this.search = init.search;
    this.headers = incoming.headers;
    this.host = init.host;
    this.address = init.address;
    this.protocol = init.protocol;
    this.httpVersion = incoming.httpVersion;
    this.isUpgrade = incoming.isUpgrade;
    this.body = new RequestBody(incoming, site.options.maxFileSize);
    this.site = site;
  }

  /** Aborted when the client leaves before the reply is complete. */
  get signal(): AbortSignal {
    return this.#incoming.signal();
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

  /** Announces a committed change to everyone who follows the host's `changes`; `elements` are those that changed. */
  changed(
    change: Pick<NewChange, "kind" | "path" | "selector" | "matches" | "html" | "etag">,
    elements?: SelectedElements,
  ): void {
    const { site, method, host, user, id } = this;
    const published = { ...change, method, host, ...(user && { user: user.name }), requestId: id };
    site.changes.publish(published, { site: site.name, elements });
  }

  /** Has `release` called when the exchange is over, however it ends; at once where it is over already. */
  defer(release: () => unknown): void {
    // A plugin may answer without waiting for the rest of the pipeline, which then opens a file for nobody.
    if (this.#isOver) notify(release, (error) => this.site.report(error, this));
    else this.#releases.push(release);
  }

  /** Calls what was deferred; for the server itself. */
  async end(): Promise<void> {
    this.#isOver = true;
    const released = await Promise.allSettled(this.#releases.splice(0).map(async (release) => release()));
    for (const result of released) if (result.status === "rejected") this.site.report(result.reason, this);
  }
}
