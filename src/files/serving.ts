import { compilePathPattern } from "../http/path-pattern.ts";
import type { CacheControl, Download, FileOptions, SentFile } from "../server/site.ts";
import type { StoredStat } from "../storage/storage.ts";

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

export function servingOf(options: FileOptions): Serving {
  const { cacheControl, download, index, single, ignores, headers } = options;
  const isIgnored = anyOfPatterns(ignores);
  return {
    cacheControlOf: cacheControlOf(cacheControl),
    savedAs: savedAs(download),
    asksEachTime: [cacheControl, download, headers].some((option) => typeof option === "function"),
    indexes: index === false ? [] : [index].flat(),
    single: single === true ? "/index.html" : single || undefined,
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
