import type { HttpError, ReplyHeaders } from "../http/http-error.ts";
import type { Storage } from "../storage/storage.ts";
import type { BeforeWrite } from "./before-write.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { FileHistory } from "./file-history.ts";
import type { Logger } from "./logger.ts";

/** Names of the ways of speaking the protocol. */
export type DialectName = "spec" | "draft-00";

/** Where clients hear of changes. */
export interface FeedAddress {
  readonly kind: "events" | "socket";
  readonly path: string;
}

/** A file that is sent, as functions of the host program see it. */
export interface SentFile {
  /** In bytes. */
  readonly size: number;
  readonly modified: Date;
}

/** Values of `Cache-Control`: one for all files, none, by path pattern, or by a function; otherwise `no-cache`. */
export type CacheControl =
  | string
  | false
  | Readonly<Record<string, string>>
  | ((path: string, file: SentFile) => string | undefined);

/** Files to be saved and not shown: all, by path patterns, or by a function, which may give another name. */
export type Download = boolean | readonly string[] | ((path: string, file: SentFile) => boolean | string);

/** What the `.zip` of a directory may hold. */
export interface ZipOptions {
  /** Files and directories in it. @default 10000 */
  readonly maxEntries?: number;
  /** Bytes that its files have together. @default 4294967296 (4 GiB) */
  readonly maxBytes?: number;
}

/** What people can do with the page of a directory, as far as they have the right. */
interface ListingFeatures {
  /** Upload, write and delete files there. @default false */
  readonly edit?: boolean | undefined;
  /** Download the directory with all below it, as a `.zip` (`?zip`); a larger one is 413. @default false */
  readonly zip?: boolean | ZipOptions | undefined;
}

/** How files are served and changed: options of a host, and of a file handler. */
export interface FileHandling {
  /** Name of the file that stands for its directory, or several in order, or `false`. @default "index.html" */
  readonly index?: string | readonly string[] | false | undefined;
  /**
   * `Cache-Control` of files: one value, values by path pattern (`{ "/assets/*": "max-age=31536000, immutable" }`), a
   * function of path and file, or `false` for no such field. @default "no-cache"
   */
  readonly cacheControl?: CacheControl | undefined;
  /** Files that browsers save, not show: all, path patterns, or a function, which may name them. @default false */
  readonly download?: Download | undefined;
  /** Further header fields of files, by canonical path. @default none */
  readonly headers?: ((path: string, file: SentFile) => ReplyHeaders) | undefined;
  /** What a path may leave out at its end: with `[".html"]`, `/about` is `about.html`. @default [] */
  readonly extensions?: readonly string[] | undefined;
  /** The page where no file is, of a single-page application; `true` is `index.html` in the root. @default false */
  readonly single?: string | boolean | undefined;
  /** Path patterns for which `single` does not hold: `["/api/*"]`. @default [] */
  readonly ignores?: readonly string[] | undefined;
  /**
   * List directories that have no index file; otherwise 403. With `{ edit: true }` people may change files from the
   * page, with `{ zip: true }` download a directory. @default true; with `fallthrough`, false
   */
  readonly listing?: boolean | ListingFeatures | undefined;
  /** What listings call the root directory. @default the name of the host */
  readonly title?: string | undefined;
  /** Names that begin with a dot do not exist for clients (`"ignore"`), or are files like others. @default "ignore" */
  readonly dotfiles?: "ignore" | "allow" | undefined;
  /** Content types by extension, before the built-in table: `{ ".md": "text/markdown" }`. @default {} */
  readonly contentTypes?: Readonly<Record<string, string>> | undefined;
  /** PUT makes missing parent directories; otherwise 409. @default true */
  readonly createParents?: boolean | undefined;
  /** Send HTML, SVG and XML with `Content-Security-Policy: sandbox`. @default false */
  readonly untrustedContent?: boolean | undefined;
  /** Send `app.js.br`, `.zst` or `.gz` for `app.js` to clients that take it, unless it is older. @default false */
  readonly precompressed?: boolean | undefined;
  /** Compress text for clients that take it, by brotli or gzip; of large files 100 at once. @default false */
  readonly compress?: boolean | undefined;
  /** Largest file in bytes; more is 413. @default 104857600 (100 MiB) */
  readonly maxFileSize?: number | undefined;
  /** Largest document in bytes that selectors work on; more is 413. @default 16777216 (16 MiB) */
  readonly maxDocumentSize?: number | undefined;
  /** Most elements that may be open at once in a document; more is 422. @default 512 */
  readonly maxDocumentDepth?: number | undefined;
  /** Most steps of parsing a document: characters, and open elements looked through; more is 422. @default 268435456 */
  readonly maxParseSteps?: number | undefined;
  /** Most elements that one selector may match; more is 400. @default 10000 */
  readonly maxMatches?: number | undefined;
  /** Most edits in the list of a PATCH; more is 400. @default 1000 */
  readonly maxEdits?: number | undefined;
  /** Longest selector, in characters; more is 400. @default 4096 */
  readonly maxSelectorLength?: number | undefined;
  /** Most compound selectors (`a.b:hover`) in one selector; more is 400. @default 64 */
  readonly maxSelectorCompounds?: number | undefined;
  /** Most steps of evaluating a selector: nodes visited, characters compared; more is 503. @default 20000000 */
  readonly maxSelectionSteps?: number | undefined;
  /** Memory in bytes for parsed documents that are kept for the next request. @default 67108864 (64 MiB) */
  readonly documentCacheSize?: number | undefined;
  /** Memory in bytes for the bodies of all element requests under way; more is 503. @default 67108864 (64 MiB) */
  readonly elementBodyMemory?: number | undefined;
  /** Refuse a PUT of a mere fragment in place of a whole HTML page: 409. @default false */
  readonly refuseFragments?: boolean | undefined;
  /** Called before each change: it may throw an `HttpError` to refuse it, or return other content. @default none */
  readonly beforeWrite?: BeforeWrite | undefined;
  /** The `DAV` field of replies to OPTIONS: `"1"` for programs that save only where they see it. @default none */
  readonly dav?: string | undefined;
  /** How selector requests are answered: as documented, or as the Internet-Draft has it. @default "spec" */
  readonly dialect?: DialectName | undefined;
}

/** Options without a default of their own. */
type Undecided = "beforeWrite" | "cacheControl" | "dav" | "headers" | "title";

/** The options of a file handler with all defaults filled in. */
export type FileOptions = {
  readonly [Name in keyof FileHandling]-?:
    | Exclude<FileHandling[Name], undefined>
    | (Name extends Undecided ? undefined : never);
};

/** The options of a host with all defaults filled in. */
export interface SiteOptions extends FileOptions {
  /** Methods that the host's files take; a file handler may take fewer. */
  readonly methods: readonly string[];
  /** Origins besides the host's own whose pages may write, as browsers name them: `https://admin.example`. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** The `Server` field of replies; without it they have no such field. */
  readonly serverHeader: string | undefined;
  /** Whether changes that other programs make on the disk are announced. */
  readonly watch: boolean;
  /** Whether the browser module is served. */
  readonly client: boolean;
}

/** What all hosts of a server share. */
export interface ServerParts {
  /** Every change on the server, whichever host it happened on. */
  readonly changes: ChangeFeed;
  readonly logger: Logger;
  /** Why the server refuses all requests at the moment (503): closing, overloaded, or under maintenance. */
  outage(): HttpError | undefined;
  /** Reports a failure of the server to `config.onError`, with its exchange and the status that the client gets. */
  report(error: unknown, exchange?: { readonly id: string }, status?: number): void;
  /** Hides a file of the disk from every host and every method, wherever a path or a link leads to it. */
  protect(location: string): Promise<void>;
  /** Hides in a storage what is protected, now and later; for plugins that serve files of their own. */
  cover(storage: Storage): Promise<void>;
}

/** One host, as plugins and operations see it. */
export interface Site extends ServerParts {
  /** The first name of the host; `"*"` for the default host. */
  readonly name: string;
  readonly options: SiteOptions;
  /** Where the host's files live; `undefined` where its file handlers bring their own. */
  readonly storage: Storage | undefined;
  /** Whether the same file handler, and the same plugins that find out who a client is, are there for two paths. */
  isGuardedAlike(path: string, other: string): boolean;
  /** The path of the document that a GET of a path finds: the file itself, an index file, or what stands in. */
  documentAt(path: string, accept?: string): Promise<string | undefined>;
  /** @internal The file whose versions a path means: one that was there, or the document that stands in for it now. */
  versionedPath(path: string): Promise<string>;
  /** @internal What the files were, where a plugin keeps that. */
  readonly history: FileHistory | undefined;
  /** @internal Where clients hear of changes, where a plugin tells them. */
  readonly feed: FeedAddress | undefined;
  /** Of each file handler that was started: its files at their paths, where they live, and whether it changes them. */
  readonly handled: Set<{ readonly storage: Storage; readonly source: Storage; readonly isWritten: boolean }>;
  /** How often parsed documents were at hand, and how often not, for each file handler that was started. */
  readonly documentCaches: Set<{ readonly hits: number; readonly misses: number }>;
}
