import type { DialectName } from "../elements/dialect.ts";
import type { DocumentCache } from "../elements/document-cache.ts";
import type { Right } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Reply } from "../server/reply.ts";
import type { OpenFile, Storage, StoredStat } from "../storage/storage.ts";

/** The options of the file handler with all defaults filled in. */
export interface FileOptions {
  /** Name of the file that stands for its directory; `false` for none. */
  readonly index: string | false;
  readonly listing: boolean;
  readonly dotfiles: "ignore" | "allow";
  /** Content types by extension with its dot, before the built-in table. */
  readonly contentTypes: Readonly<Record<string, string>>;
  readonly createParents: boolean;
  readonly untrustedContent: boolean;
  /** Largest file in bytes, an append's result included. */
  readonly maxFileSize: number;
  /** Largest document that is parsed, in bytes. */
  readonly maxDocumentSize: number;
  /** Most elements that may be open at once in a document. */
  readonly maxDocumentDepth: number;
  readonly maxMatches: number;
  readonly maxSelectorLength: number;
  readonly maxSelectorCompounds: number;
  readonly maxSelectionMs: number;
  /** Memory for parsed documents, in bytes. */
  readonly documentCacheSize: number;
  /** Whether PUT of a fragment in place of a whole page is refused. */
  readonly refuseFragments: boolean;
  readonly dialect: DialectName;
}

/** What all requests to one file handler share. */
export interface FileSpace {
  readonly storage: Storage;
  /** Canonical path of the directory that is the storage's root: `/`, unless it was put elsewhere. */
  readonly root: string;
  readonly options: FileOptions;
  readonly contentTypeOf: (path: string) => string;
  readonly documents: DocumentCache;
}

/** A request for a file or directory, after the file handler has found out what is there. */
export interface FileRequest extends FileSpace {
  readonly exchange: Exchange;
  /** Canonical path of the target; that of a directory ends in `/`. */
  readonly path: string;
  /** What is stored there; `undefined` for nothing. */
  readonly stat: StoredStat | undefined;
  /** The file, where it was opened to be read; closed when the exchange is over. */
  readonly file?: OpenFile;
}

/** A request for elements of a document that exists. */
export interface ElementRequest extends FileRequest {
  /** The CSS selector as UTF-8 text, trimmed. */
  readonly selector: string;
  readonly stat: StoredStat;
  /** What is asked of each of the elements before anything else is done. */
  readonly right: Right;
}

export type FileOperation = (request: FileRequest) => Promise<Reply>;
export type ElementOperation = (request: ElementRequest) => Promise<Reply>;
