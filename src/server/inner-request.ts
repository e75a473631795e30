import type { Buffer } from "node:buffer";
import type { Exchange } from "./exchange.ts";
import type { Inspection } from "./inspection.ts";
import type { ReplyHeaders } from "./reply.ts";

/** A request that a plugin makes for a client; the whole pipeline of the host judges it as one that the client has sent. */
export interface InnerRequest {
  /** The exchange of the client: its sign-in, address and rights, which are the most that this request has. */
  readonly client?: Exchange | undefined;
  readonly method: string;
  /** Decoded, as `exchange.path` is. */
  readonly path: string;
  readonly search?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly content?: string | undefined;
  /** Content beyond is not read. */
  readonly mostBytes: number;
  readonly inspection?: Inspection | undefined;
}

/** What was answered, with all of the content. */
export interface InnerAnswer {
  readonly status: number;
  readonly headers: Readonly<ReplyHeaders>;
  readonly content: Buffer;
}
