import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";

/** A request as host programs have it: of `node:http` and so of Express, of `node:http2`, or of the Fetch standard. */
export type HostRequest = IncomingMessage | Http2ServerRequest | Request;

/** A request as it comes from `node:http`, `node:http2` or `fetch`, before any of it has been judged. */
export interface IncomingRequest {
  /** The request of the host program itself. */
  readonly request: HostRequest;
  readonly method: string;
  /** The request target as the client sent it, query included. */
  readonly url: string;
  /**
   * The part of the target below the mount point: `url` unless the server is mounted under a prefix. `undefined` for a
   * request that lies elsewhere.
   */
  readonly target: string | undefined;
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
  /** The content; throws if it was read already. */
  content(): AsyncIterable<Uint8Array>;
  /** Aborted when the client leaves before the reply is complete. */
  signal(): AbortSignal;
}
