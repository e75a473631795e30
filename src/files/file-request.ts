import type { ContentTypeOf } from "../http/content-type.ts";
import { preferredType } from "../http/negotiation.ts";
import { compilePathPattern } from "../http/path-pattern.ts";
import { asksForElements } from "../http/selector-range.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Reply } from "../server/reply.ts";
import type { CacheControl, Download, FileOptions, SentFile } from "../server/site.ts";
import type { OpenFile, OpenFor, Storage, StoredStat } from "../storage/storage.ts";
import type { OpenListing } from "./names-budget.ts";

export interface FileSpace {
  readonly storage: Storage;
  /** Canonical path of the directory that is the storage's root: `/`, unless `at` says otherwise. */
  readonly root: string;
  readonly options: FileOptions;
  readonly serving: Serving;
  readonly contentTypeOf: ContentTypeOf;
  readonly openListing: OpenListing;
}

/** A request for a file or directory, after the file handler has found out what is there. */
export interface FileRequest extends FileSpace {
  readonly exchange: Exchange;
  readonly path: string;
  readonly stat: StoredStat | undefined;
  /** The file, if it was opened for reading; closed when the exchange is over. */
  readonly file?: OpenFile | undefined;
}

export type FileOperation = (request: FileRequest) => Promise<Reply>;

/** Closes an open file when the exchange is over; one in memory needs no closing. */
export function closeAtEnd(exchange: Exchange, file: OpenFile): void {
  if (!file.content) exchange.defer(() => file.close());
}

export function purposeOf({ method, headers }: Exchange): OpenFor {
  if (method === "PATCH" || asksForElements(headers.range)) return "version"; // a parsed page may be at hand
  const mayBeUnchanged = headers["if-none-match"] ?? headers["if-modified-since"];
  return method !== "GET" || headers.range !== undefined || mayBeUnchanged !== undefined ? "properties" : "content";
}

/** Up to this many bytes are read and sent in one piece, which is faster than a stream. */
export const maxPiece: number = 128 * 1024;

// `/logo.png` was meant to be that file: a page in its place would be shown as a broken picture.
const hasExtension = /\.\w+$/;

/** Paths tried where a path is not a file: index files, the path with an extension, the single-page application. */
export function standInPaths(
  { options, serving }: FileSpace,
  path: string,
  type: StoredStat["type"] | undefined,
  accept: string | undefined,
): string[] {
  const extended = path.endsWith("/") ? [] : options.extensions.map((extension) => path + extension);
  const paths = type === "directory" ? serving.indexes.map((index) => path + index) : extended;
  const wantsPage = preferredType(accept, ["text/html", "application/json"]) === "text/html";
  const isPage = serving.single !== undefined && wantsPage && !hasExtension.test(path) && !serving.ignores(path);
  return isPage ? [...paths, serving.single] : paths;
}

export async function openStandIn<Request extends FileRequest>(request: Request): Promise<Request | undefined> {
  const { exchange, storage } = request;
  for (const path of standInPaths(request, request.path, request.stat?.type, exchange.headers.accept)) {
    const file = await storage.open(path, purposeOf(exchange));
    if (!file) continue;
    closeAtEnd(exchange, file);
    exchange.file = path;
    return { ...request, path, stat: file.stat, file };
  }
  return undefined;
}

/** What the root directory is called: the title that the host was given, else host name and mount path. */
export function siteTitle({ exchange: { host, mount }, options }: FileRequest): string {
  const isNumber = host === "" || /^[\d.]+$|^\[/.test(host);
  return options.title ?? (isNumber ? mount.slice(1) || "Home" : host + mount);
}

/** How files are sent, and which of them stand in for others; compiled from the options of a file handler. */
export interface Serving {
  cacheControlOf(path: string, stat: StoredStat): string | undefined;
  /** The name under which browsers are to save a file; `undefined` where they are to show it. */
  savedAs(path: string, stat: StoredStat): string | undefined;
  /** Whether the program around the server is asked for header fields anew at each request. */
  readonly asksEachTime: boolean;
  readonly indexes: readonly string[];
  readonly single: string | undefined;
  ignores(path: string): boolean;
}

// Files change by PUT; a browser that guesses how long they live would show old ones.
const always = "no-cache";

export function servingOf(options: FileOptions, root: string): Serving {
  const { cacheControl, download, index, single, ignores, headers } = options;
  const isIgnored = anyOfPatterns(ignores);
  return {
    cacheControlOf: cacheControlOf(cacheControl),
    savedAs: savedAs(download),
    asksEachTime: [cacheControl, download, headers].some((option) => typeof option === "function"),
    indexes: index === false ? [] : [index].flat(),
    single: single === true ? `${root}index.html` : single || undefined,
    ignores: isIgnored,
  };
}

function anyOfPatterns(patterns: readonly string[]): (path: string) => boolean {
  const compiled = patterns.map((pattern) => compilePathPattern(pattern));
  return (path) => compiled.some((pattern) => pattern.matches(path));
}

function savedAs(download: Download): Serving["savedAs"] {
  const nameOf = (path: string, isSaved: boolean | string): string | undefined =>
    isSaved === true ? path.slice(path.lastIndexOf("/") + 1) : isSaved || undefined;
  if (typeof download === "boolean") return (path) => nameOf(path, download);
  if (typeof download === "function") return (path, stat) => nameOf(path, download(path, sentFile(stat)));
  const isMeant = anyOfPatterns(download);
  return (path) => nameOf(path, isMeant(path));
}

function cacheControlOf(option: CacheControl | undefined): Serving["cacheControlOf"] {
  if (option === undefined) return (_path, { fields }) => fields?.["cache-control"] ?? always;
  if (option === false) return () => undefined;
  if (typeof option === "string") return () => option;
  if (typeof option === "function") return (path, stat) => option(path, sentFile(stat)) ?? always;
  const patterns = Object.entries(option)
    .map(([pattern, value]) => ({ ...compilePathPattern(pattern), value }))
    .sort((one, other) => other.literalLength - one.literalLength);
  return (path) => patterns.find((pattern) => pattern.matches(path))?.value ?? always;
}

/** What functions of the host program are told of a file. */
export function sentFile({ size, modified }: StoredStat): SentFile {
  return { size, modified };
}
