import type { HttpError, ReplyHeaders } from "../http/http-error.ts";
import type { Storage } from "../storage/storage.ts";
import type { Right } from "./access.ts";
import type { BeforeWrite } from "./before-write.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { Logger } from "./logger.ts";

/** Names of the ways of speaking the protocol. */
export type DialectName = "spec" | "draft-00";

/** A file that is sent, as functions of the host program see it. */
export interface SentFile {
  /** In bytes. */
  readonly size: number;
  readonly modified: Date;
}

/** Values of `Cache-Control`: one for all files, none, by path pattern, or what a function says; otherwise `no-cache`. */
export type CacheControl =
  | string
  | false
  | Readonly<Record<string, string>>
  | ((path: string, file: SentFile) => string | undefined);

/** Files to be saved and not shown: all, those of path patterns, or what a function says, which may give another name. */
export type Download = boolean | readonly string[] | ((path: string, file: SentFile) => boolean | string);

/** An entry of a {@link Listing}. */
export interface ListingEntry {
  /** As it is on the disk: to be escaped where it is put into HTML. */
  readonly name: string;
  readonly type: "file" | "directory";
  /** A link to it, from the listing. */
  readonly href: string;
  /** In bytes; 0 for a directory. */
  readonly size: number;
  readonly modified: Date;
}

/** A directory, or a page of a long one, for a function that makes HTML of it. */
export interface Listing {
  /** Canonical path; ends in `/`. */
  readonly path: string;
  /** What the root directory is called. */
  readonly title: string;
  /** What this user may see, in the order that the query asks for; 5,000 at most. */
  readonly entries: readonly ListingEntry[];
  /** A link to the next page; `undefined` for the last. */
  readonly next: string | undefined;
  /** Whether the user who asks may do something to an entry, or to a name that is not there yet. */
  permits(right: Right, name: string): boolean;
}

/** What the `.zip` of a directory may hold. */
export interface ZipOptions {
  /** Files and directories in it. @default 10000 */
  readonly maxEntries?: number;
  /** Bytes that its files have together. @default 4294967296 (4 GiB) */
  readonly maxBytes?: number;
}

/** What people can do with the page of a directory. */
export interface ListingFeatures {
  /** Upload, write and delete files there, as far as they have the right. @default false */
  readonly edit?: boolean | undefined;
  /**
   * Download the directory with all below it that they may read, as a `.zip` (`?zip`); a larger one is 413. `true` stands for
   * 10,000 entries and 4 GiB. @default false
   */
  readonly zip?: boolean | ZipOptions | undefined;
}

/** The options of a file handler with all defaults filled in. */
export interface FileOptions {
  /** Name of the file that stands for its directory, several in order, or `false` for none. */
  readonly index: string | readonly string[] | false;
  /** The `Cache-Control` of files; `undefined` for what `maxAge` says. */
  readonly cacheControl: CacheControl | undefined;
  /** Seconds for which caches need not ask again; `undefined` for none. */
  readonly maxAge: number | undefined;
  readonly immutable: boolean;
  /** Whether files are sent with an `ETag`, and with `Last-Modified`. */
  readonly etag: boolean;
  /** Which files browsers are to save. */
  readonly download: Download;
  /** Further header fields of files. */
  readonly headers: ((path: string, file: SentFile) => ReplyHeaders) | undefined;
  /** What may be missing at the end of a path, with its dot. */
  readonly extensions: readonly string[];
  /** The page that is sent for paths where nothing is; `true` for `/index.html`. */
  readonly single: string | boolean;
  /** Path patterns for which it is not. */
  readonly ignores: readonly string[];
  readonly listing: boolean | ListingFeatures;
  /** Makes the HTML of listings. */
  readonly renderListing: ((listing: Listing) => string | Promise<string>) | undefined;
  /** What listings call the root directory; `undefined` for the name by which the client addressed the host. */
  readonly title: string | undefined;
  readonly dotfiles: "ignore" | "allow";
  /** Content types by extension with its dot, before the built-in table. */
  readonly contentTypes: Readonly<Record<string, string>>;
  readonly createParents: boolean;
  readonly untrustedContent: boolean;
  /** Whether `app.js.br` is sent for `app.js` to clients that take it. */
  readonly precompressed: boolean;
  /** Whether text is compressed on its way, and the smallest file that is, in bytes. */
  readonly compress: boolean;
  /** Largest file in bytes, an append's result included. */
  readonly maxFileSize: number;
  /** Largest document that is parsed, in bytes. */
  readonly maxDocumentSize: number;
  /** Most elements that may be open at once in a document. */
  readonly maxDocumentDepth: number;
  readonly maxParseSteps: number;
  readonly maxMatches: number;
  /** Most edits in a list. */
  readonly maxEdits: number;
  readonly maxSelectorLength: number;
  readonly maxSelectorCompounds: number;
  readonly maxSelectionSteps: number;
  /** Memory for parsed documents, in bytes. */
  readonly documentCacheSize: number;
  /** Memory for the bodies of element requests under way, in bytes. */
  readonly elementBodyMemory: number;
  /** Whether PUT of a fragment in place of a whole page is refused. */
  readonly refuseFragments: boolean;
  /** The `DAV` field of replies to OPTIONS. */
  readonly dav: string | undefined;
  /** Asked before each change. */
  readonly beforeWrite: BeforeWrite | undefined;
  /** Whether changes of elements carry what was there. */
  readonly recordRemoved: boolean;
  readonly dialect: DialectName;
}

/** The options of a host with all defaults filled in. */
export interface SiteOptions extends FileOptions {
  /** Methods that the host's files take; a file handler may take fewer. */
  readonly methods: readonly string[];
  /** Origins besides the host's own whose pages may write, as browsers name them: `https://admin.example`. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** The `Server` field of replies; `undefined` for none. */
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
  /** Why the server answers nobody at the moment (503): closing, overloaded, or under maintenance. */
  outage(): HttpError | undefined;
  /**
   * Reports a failure that is the server's own to `config.onError`, with the exchange in which it happened and, where it is
   * known, the status that the client gets.
   */
  report(error: unknown, exchange?: { readonly id: string }, status?: number): void;
  /** Hides a file of the disk from every host and every method, wherever a path or a link leads to it. */
  protect(location: string): Promise<void>;
  /** Hides in a storage what is protected, now and later; for plugins that serve files of their own. */
  cover(storage: Storage): Promise<void>;
}

/** How often something was found in a cache, and how often not, since the start. */
export interface CacheCounts {
  readonly hits: number;
  readonly misses: number;
}

/** One host, as plugins and operations see it. */
export interface Site extends ServerParts {
  /** The first name of the host; `"*"` for the default host. */
  readonly name: string;
  readonly options: SiteOptions;
  /** Where the host's files live; `undefined` where its file handlers bring their own. */
  readonly storage: Storage | undefined;
  /**
   * Whether what is decided about a client at one path holds at another: no plugin that may find out who it is, and no other
   * file handler, is there for just one of them.
   */
  isGuardedAlike(path: string, other: string): boolean;
  /**
   * The path of the document that a GET of a path finds: the file itself, an index file, or what stands in. `accept` is that
   * field of the request. `undefined` where there is no document.
   */
  documentAt(path: string, accept?: string): Promise<string | undefined>;
  /** How often parsed documents were at hand, for each file handler that was started. */
  readonly documentCaches: Set<CacheCounts>;
}
