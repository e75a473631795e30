import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { HttpError } from "../http/http-error.ts";

/** A request as host programs have it: of `node:http` and so of Express, of `node:http2`, or of the Fetch standard. */
export type HostRequest = IncomingMessage | Http2ServerRequest | Request;

/** A request before any of it has been judged; what is not explained here becomes a field of the exchange. */
export interface IncomingRequest {
  readonly request: HostRequest;
  readonly method: string;
  readonly url: string;
  /** The part of `url` below the mount point; `undefined` for a request that lies elsewhere. */
  readonly target: string | undefined;
  readonly mount: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the socket's peer. */
  readonly peer: string;
  /** Whether the connection itself is TLS. */
  readonly encrypted: boolean;
  readonly httpVersion: string;
  readonly isUpgrade: boolean;
  /** Set where the request is refused before anything is judged. */
  readonly refusal?: HttpError | undefined;
  count(field: string): number;
  /** The content; throws if it was read already. */
  content(): AsyncIterable<Uint8Array>;
  signal(): AbortSignal;
}
