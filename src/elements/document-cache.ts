import { LRUCache } from "lru-cache";
import type { HtmlDocument } from "./html-document.ts";

/** Options of {@link DocumentCache}. */
export interface DocumentCacheOptions {
  /** Memory that the documents may hold together, in bytes. @default 64 MiB */
  readonly maxBytes?: number;
}

interface KnownDocument {
  readonly version: string;
  readonly document: HtmlDocument;
}

/**
 * Parsed documents, the most recently used ones, the newest version of each path. Requests that come while a version is
 * being parsed wait for that parse.
 */
export class DocumentCache {
  /** How often a document was there, or being parsed, when it was asked for; and how often it was not. */
  hits = 0;
  misses = 0;
  readonly #documents: LRUCache<string, KnownDocument>;
  readonly #loading = new Map<string, Promise<HtmlDocument>>();

  constructor(options: DocumentCacheOptions = {}) {
    const { maxBytes = 64 * 1024 * 1024 } = options;
    const sizeCalculation = ({ document }: KnownDocument): number => document.memoryBytes;
    this.#documents = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  /** The document that `version` of `path` is; `load` makes it where it is not known. */
  async get(path: string, version: string, load: () => Promise<HtmlDocument> | HtmlDocument): Promise<HtmlDocument> {
    const known = this.#documents.get(path);
    const loadingKey = `${version}:${path}`;
    const loading = known?.version === version ? known.document : this.#loading.get(loadingKey);
    if (loading) {
      this.hits += 1;
      return loading;
    }
    this.misses += 1;
    const loaded = Promise.resolve().then(load);
    this.#loading.set(loadingKey, loaded);
    try {
      const document = await loaded;
      this.set(path, version, document);
      return document;
    } finally {
      this.#loading.delete(loadingKey);
    }
  }

  /** Keeps the document that `version` of `path` is known to be: an edit has parsed its own result. */
  set(path: string, version: string, document: HtmlDocument): void {
    this.#documents.set(path, { version, document });
  }
}
