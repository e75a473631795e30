import { asksForElements } from "../http/selector-range.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Reply } from "../server/reply.ts";
import type { FileOptions } from "../server/site.ts";
import type { OpenFile, OpenFor, Storage, StoredStat } from "../storage/storage.ts";
import type { NamesBudget } from "./names-budget.ts";
import type { Serving } from "./serving.ts";

/** What all requests to one file handler share. */
export interface FileSpace {
  readonly storage: Storage;
  /** Canonical path of the directory that is the storage's root: `/`, unless `at` says otherwise. */
  readonly root: string;
  readonly options: FileOptions;
  readonly serving: Serving;
  readonly contentTypeOf: (path: string) => string;
  readonly listings: NamesBudget;
}

/** A request for a file or directory, after the file handler has found out what is there. */
export interface FileRequest extends FileSpace {
  readonly exchange: Exchange;
  /** Canonical path of the target; that of a directory ends in `/`. */
  readonly path: string;
  /** What is stored there; `undefined` for nothing. */
  readonly stat: StoredStat | undefined;
  /** The file, if it was opened for reading; closed when the exchange is over. */
  readonly file?: OpenFile | undefined;
}

export type FileOperation = (request: FileRequest) => Reply | Promise<Reply>;

/** Has an open file closed when the exchange is over; one in memory needs no closing. */
export function closeAtEnd(exchange: Exchange, file: OpenFile): void {
  if (!file.content) exchange.defer(() => file.close());
}

/** What a request reads a file for. */
export function purposeOf({ method, headers }: Exchange): OpenFor {
  if (headers.range !== undefined && asksForElements(headers.range)) return "version"; // a parsed page may be at hand
  const mayBeUnchanged = headers["if-none-match"] ?? headers["if-modified-since"];
  return method === "HEAD" || headers.range !== undefined || mayBeUnchanged !== undefined ? "properties" : "content";
}
