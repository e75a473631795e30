import type { ContentTypeOf } from "../http/content-type.ts";
import { preferredType } from "../http/negotiation.ts";
import { asksForElements } from "../http/selector-range.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Reply } from "../server/reply.ts";
import type { FileOptions } from "../server/site.ts";
import type { OpenFile, OpenFor, Storage, StoredStat } from "../storage/storage.ts";
import type { NamesBudget } from "./names-budget.ts";
import type { Serving } from "./serving.ts";

export interface FileSpace {
  readonly storage: Storage;
  /** Canonical path of the directory that is the storage's root: `/`, unless `at` says otherwise. */
  readonly root: string;
  readonly options: FileOptions;
  readonly serving: Serving;
  readonly contentTypeOf: ContentTypeOf;
  readonly listings: NamesBudget;
}

/** A request for a file or directory, after the file handler has found out what is there. */
export interface FileRequest extends FileSpace {
  readonly exchange: Exchange;
  readonly path: string;
  readonly stat: StoredStat | undefined;
  /** The file, if it was opened for reading; closed when the exchange is over. */
  readonly file?: OpenFile | undefined;
}

export type FileOperation = (request: FileRequest) => Reply | Promise<Reply>;

/** Closes an open file when the exchange is over; one in memory needs no closing. */
export function closeAtEnd(exchange: Exchange, file: OpenFile): void {
  if (!file.content) exchange.defer(() => file.close());
}

/** What a request reads a file for. */
export function purposeOf({ method, headers }: Exchange): OpenFor {
  const isForElements = method === "PATCH" || (headers.range !== undefined && asksForElements(headers.range));
  if (isForElements) return "version"; // a parsed page may be at hand
  const mayBeUnchanged = headers["if-none-match"] ?? headers["if-modified-since"];
  return method !== "GET" || headers.range !== undefined || mayBeUnchanged !== undefined ? "properties" : "content";
}

// `/logo.png` was meant to be that file: a page in its place would be shown as a broken picture.
const hasExtension = /\.\w+$/;

/** The paths that stand in for one where nothing is: with an extension more, then the single-page application. */
export function standInPaths({ options, serving }: FileSpace, path: string, accept: string | undefined): string[] {
  const paths = path.endsWith("/") ? [] : options.extensions.map((extension) => path + extension);
  const wantsPage = preferredType(accept, ["text/html", "application/json"]) === "text/html";
  const isPage = serving.single !== undefined && wantsPage && !hasExtension.test(path) && !serving.ignores(path);
  return isPage ? [...paths, serving.single] : paths;
}

export async function openStandIn<Request extends FileRequest>(request: Request): Promise<Request | undefined> {
  for (const path of standInPaths(request, request.path, request.exchange.headers.accept)) {
    const file = await openedAt(request, path);
    if (file) return file;
  }
  return undefined;
}

export async function openedAt<Request extends FileRequest>(
  request: Request,
  path: string,
): Promise<Request | undefined> {
  const file = await request.storage.open(path, purposeOf(request.exchange));
  if (!file) return undefined;
  closeAtEnd(request.exchange, file);
  return { ...request, path, stat: file.stat, file };
}

/** What the root directory is called: the title that the host was given, else host name and mount path. */
export function siteTitle({ exchange: { host, mount }, options }: FileRequest): string {
  const isNumber = host === "" || /^[\d.]+$|^\[/.test(host);
  return options.title ?? (isNumber ? mount.slice(1) || "Home" : host + mount);
}
