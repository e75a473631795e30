import { Buffer } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { Edit } from "../html/edit/edits.ts";
import type { HostRequest } from "./incoming-request.ts";

/** A change of a file or of elements that is about to be made. */
export type PendingWrite = FileWrite | ElementWrite | EditsWrite;

/** The exchange that asks for a change, as far as it matters for that. */
export interface WritingExchange {
  readonly id: string;
  readonly method: string;
  readonly host: string;
  readonly address: string;
  readonly headers: IncomingHttpHeaders;
  readonly user: { readonly name: string; readonly roles: readonly string[] } | undefined;
  /** The request of the host program. */
  readonly request: HostRequest;
  readonly metadata: ReadonlyMap<string, unknown>;
}

/** A change of a whole file, or of a directory, whose path ends in a slash, that is to be made or removed. */
export interface FileWrite {
  readonly kind: "created" | "replaced" | "appended" | "deleted";
  readonly path: string;
  readonly exchange: WritingExchange;
  /** The content of the file, or what is added to it; empty for `deleted`. */
  readonly content: Uint8Array;
}

/** A change of elements of a document. */
export interface ElementWrite {
  readonly kind: "elements-replaced" | "elements-appended" | "elements-deleted";
  readonly path: string;
  readonly exchange: WritingExchange;
  readonly selector: string;
  /** How many elements the selector matches. */
  readonly matches: number;
  /** The elements as they are now, in document order, the outermost where they nest. */
  readonly before: string;
  /** What takes their place or is added to each of them; empty for `elements-deleted`. */
  readonly html: string;
}

/** A list of edits of a document. */
export interface EditsWrite {
  readonly kind: "elements-edited";
  readonly path: string;
  readonly exchange: WritingExchange;
  readonly edits: readonly Edit[];
}

// biome-ignore lint/suspicious/noConfusingVoidType: a function that only looks returns nothing, and should not have to
type OtherContent = string | Uint8Array | readonly Edit[] | undefined | void;

/**
 * Sees a change right before it is made, after every check of the server. Other changes of the file wait, except
 * appends. What it throws is the reply, and nothing is changed; what it returns replaces the content, a list of edits
 * the edits. It is called again if the file has changed meanwhile, so it must not have side effects.
 */
export type BeforeWrite = (write: PendingWrite) => OtherContent | Promise<OtherContent>;

/** What the host program puts in the place of the content or HTML of a request; `undefined` for nothing. */
export async function decidedContent(
  beforeWrite: BeforeWrite,
  write: FileWrite | ElementWrite,
): Promise<Buffer | undefined> {
  const other = await beforeWrite(write);
  if (other === undefined) return undefined;
  if (write.kind === "deleted" || write.kind === "elements-deleted" || isList(other)) throw notToBeReplaced(write.kind);
  return typeof other === "string" ? Buffer.from(other) : Buffer.from(other);
}

/** The edits that are to be made; `undefined` for those of the request. */
export async function decidedEdits(beforeWrite: BeforeWrite, write: EditsWrite): Promise<readonly Edit[] | undefined> {
  const other = await beforeWrite(write);
  if (other === undefined) return undefined;
  if (isList(other)) return other;
  throw notToBeReplaced(write.kind);
}

function isList(other: OtherContent): other is readonly Edit[] {
  return Array.isArray(other);
}

function notToBeReplaced(kind: PendingWrite["kind"]): TypeError {
  return new TypeError(`beforeWrite returned something that cannot be the content of a change of the kind "${kind}"`);
}
