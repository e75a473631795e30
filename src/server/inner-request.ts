import type { Buffer } from "node:buffer";
import type { Exchange } from "./exchange.ts";
import type { Inspection } from "./inspection.ts";
import type { Reply } from "./reply.ts";

/** A request that a plugin makes for a client; the whole pipeline judges it as one that the client has sent. */
export interface InnerRequest {
  /** The exchange of the client: its sign-in, address and rights, which are the most that this request has. */
  readonly client?: Exchange | undefined;
  readonly method: string;
  /** Decoded, as `exchange.path` is. */
  readonly path: string;
  readonly search?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly content?: string | Uint8Array | undefined;
  /** Content beyond is not read. */
  readonly mostBytes: number;
  readonly inspection?: Inspection | undefined;
}

/** What was answered, with its content up to `mostBytes`. */
export type InnerAnswer = Omit<Reply, "body"> & { readonly content: Buffer };

/** Fields of a client's request that say who it is, and nothing about its content, stay; so do those of proxies. */
const ofOneRequest =
  /^(?::|accept|connection$|content-|depth$|destination$|expect$|if-|keep-alive$|last-event-id$|mcp-|overwrite$|prefer$|range$|te$|trailer$|transfer-encoding$|upgrade|x-filename$|x-range-unit$|x-request-id$)/;

/** The header fields of a client that go along with a request that a plugin makes for it. */
export function fieldsOf({ headers }: Exchange): Record<string, string> {
  const own = Object.entries(headers).filter(([name, value]) => !ofOneRequest.test(name) && value !== undefined);
  return Object.fromEntries(own.map(([name, value]) => [name, [value].flat().join(", ")]));
}
