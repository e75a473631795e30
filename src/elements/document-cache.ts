import { LRUCache } from "lru-cache";
import type { SourceDocument } from "../html/document/source-document.ts";
import { DocumentError, type DocumentErrorCode } from "../html/document-error.ts";

/** Options of {@link DocumentCache}. */
export interface DocumentCacheOptions {
  /** Memory that the documents may hold together, in bytes. @default 64 MiB */
  readonly maxBytes?: number;
}

interface KnownDocument {
  readonly version: string;
  readonly document: SourceDocument;
}

/** A version that cannot be parsed: nested too deep, too costly, not well-formed. */
interface RefusedDocument {
  readonly version: string;
  readonly error: DocumentError;
}

/** So many refusals are remembered: what costs seconds to find out is not found out for every request. */
const maxRefused = 1000;

/** What will be said of the same bytes again. */
const refusals: ReadonlySet<DocumentErrorCode> = new Set([
  "DOCUMENT_TOO_COSTLY",
  "DOCUMENT_TOO_DEEP",
  "NOT_WELL_FORMED",
]);

/**
 * Parsed documents, the most recently used ones, the newest version of each path. Requests that come while a version is
 * being parsed wait for that parse.
 */
export class DocumentCache {
  /** How often a document was there, or being parsed, when it was asked for; and how often it was not. */
  hits = 0;
  misses = 0;
  readonly #documents: LRUCache<string, KnownDocument>;
  readonly #refused = new LRUCache<string, RefusedDocument>({ max: maxRefused });
  readonly #loading = new Map<string, Promise<SourceDocument>>();

  constructor(options: DocumentCacheOptions = {}) {
    const { maxBytes = 64 * 1024 * 1024 } = options;
    const sizeCalculation = ({ document }: KnownDocument): number => document.memoryBytes;
    this.#documents = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  /** The document that `version` of `path` is; `load` makes it where it is not known. */
  async get(
    path: string,
    version: string,
    load: () => Promise<SourceDocument> | SourceDocument,
  ): Promise<SourceDocument> {
    const known = this.#documents.get(path);
    const loadingKey = `${version}:${path}`;
    const loading = known?.version === version ? known.document : this.#loading.get(loadingKey);
    if (loading) {
      this.hits += 1;
      return loading;
    }
    const refused = this.#refused.get(path);
    if (refused?.version === version) throw refused.error;
    this.misses += 1;
    const loaded = Promise.resolve().then(load);
    this.#loading.set(loadingKey, loaded);
    try {
      const document = await loaded;
      this.set(path, version, document);
      return document;
    } catch (error) {
      if (error instanceof DocumentError && refusals.has(error.code)) this.#refused.set(path, { version, error });
      throw error;
    } finally {
      this.#loading.delete(loadingKey);
    }
  }

  /** Keeps the document that `version` of `path` is known to be: an edit has parsed its own result. */
  set(path: string, version: string, document: SourceDocument): void {
    this.#documents.set(path, { version, document });
  }
}
