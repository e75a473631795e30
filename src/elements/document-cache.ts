import { LRUCache } from "lru-cache";
import type { Client } from "../event-loop/fair-queue.ts";
import { inSlices } from "../event-loop/sliced-work.ts";
import { DocumentError, type DocumentErrorCode } from "../html/document-error.ts";
import type { ParseLimits, SourceDocument } from "../html/engine.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import { documentKind } from "../http/selector-range.ts";
import type { FileOptions } from "../server/site.ts";
import { type OpenFile, type Storage, StorageError, type StoredStat } from "../storage/storage.ts";
import { placeFor } from "./document-places.ts";

/** Memory that the documents of a cache may hold together, in bytes. */
const defaultMaxBytes = 64 * 1024 * 1024;

/** A document whose tree stays as it is until it is released. */
export interface HeldDocument {
  readonly document: SourceDocument;
  /** Called once the document is no longer used; calling it again does nothing. */
  release(): void;
  /** Of a request that has a place for it: gives that to the next, once it has done what takes long. */
  readonly leave?: (() => void) | undefined;
}

interface KnownDocument {
  readonly version: string;
  readonly document: SourceDocument;
}

/** A version that cannot be parsed: nested too deep, too costly, not well-formed. */
interface RefusedDocument extends Pick<DocumentError, "code" | "message"> {
  readonly version: string;
}

/** Most refusals that are remembered: what costs seconds to find out is not found out for every request. */
const maxRefused = 1000;

/** What will be said of the same bytes again. */
const refusals: ReadonlySet<DocumentErrorCode> = new Set([
  "DOCUMENT_TOO_COSTLY",
  "DOCUMENT_TOO_DEEP",
  "NOT_WELL_FORMED",
]);

/** The most recently used parsed documents, the newest version of each path; one parse serves all who wait for it. */
export class DocumentCache {
  /** How often a document was there, or being parsed, when it was asked for; and how often it was not. */
  hits = 0;
  misses = 0;
  readonly #documents: LRUCache<string, KnownDocument>;
  readonly #refused = new LRUCache<string, RefusedDocument>({ maxSize: maxRefused, sizeCalculation: () => 1 });
  readonly #loading = new Map<string, Promise<SourceDocument>>();
  /** How many requests work with a document. */
  readonly #holders = new WeakMap<SourceDocument, number>();
  readonly #taken = new WeakSet<SourceDocument>();
  /** How many edits are under way, by path. */
  readonly #edits = new Map<string, number>();
  /** The latest one, which may be larger than all of the cache: for as long as its memory is not needed. */
  #latest: { readonly path: string; readonly version: string; readonly document: WeakRef<SourceDocument> } | undefined;

  constructor(maxBytes: number = defaultMaxBytes) {
    const sizeCalculation = ({ document }: KnownDocument): number => document.memoryBytes;
    this.#documents = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  /** The document of a version, if it is known. Its tree stays the same until the release. */
  holdKnown(path: string, version: string): HeldDocument | undefined {
    const [known, latest] = [this.#documents.get(path), this.#latest];
    const isLatest = latest?.path === path && latest.version === version;
    const document = known?.version === version ? known.document : isLatest && latest.document.deref();
    if (!document) return undefined;
    this.hits += 1;
    return this.keep(document);
  }

  /**
   * The document of `version` of `path`, made by `load` where unknown, or where no version is given by which it would
   * be known again. Its tree stays the same until the release.
   */
  async hold(
    path: string,
    version: string | undefined,
    load: () => Promise<SourceDocument> | SourceDocument,
  ): Promise<HeldDocument> {
    if (version === undefined) {
      this.misses += 1;
      return this.keep(await load());
    }
    for (;;) {
      const known = this.holdKnown(path, version);
      if (known) return known;
      const document = await this.#loaded(path, version, load);
      if (document && !this.#taken.has(document)) return this.keep(document);
    }
  }

  /** Holds a document: its tree stays as it is until the release. */
  keep(document: SourceDocument): HeldDocument {
    let isHeld = true;
    this.#holders.set(document, this.#holdersOf(document) + 1);
    const release = (): void => {
      if (isHeld) this.#holders.set(document, this.#holdersOf(document) - 1);
      isHeld = false;
    };
    return { document, release };
  }

  /** Gives a document's nodes away, for the next version, and forgets it; `false` while a request works with it. */
  take(path: string, document: SourceDocument): boolean {
    if (this.#holdersOf(document) > 0 || this.#taken.has(document)) return false;
    this.#taken.add(document);
    if (this.#documents.peek(path)?.document === document) this.#documents.delete(path);
    if (this.#latest?.document.deref() === document) this.#latest = undefined;
    return true;
  }

  #holdersOf(document: SourceDocument): number {
    return this.#holders.get(document) ?? 0;
  }

  /** What `load` gives; `undefined` where another request loads it, and could not. */
  async #loaded(
    path: string,
    version: string,
    load: () => Promise<SourceDocument> | SourceDocument,
  ): Promise<SourceDocument | undefined> {
    const known = this.#documents.peek(path);
    const loadingKey = `${version}:${path}`;
    const loading = this.#loading.get(loadingKey);
    if (loading) {
      try {
        const shared = await loading;
        this.hits += 1;
        return shared;
      } catch (error) {
        if (error instanceof DocumentError) throw error;
        // The request that loads it could not read that version any more; one that has it open still can.
        if (this.#loading.get(loadingKey) === loading) this.#loading.delete(loadingKey);
        return undefined;
      }
    }
    const refused = this.#refused.get(path);
    if (refused?.version === version) throw new DocumentError(refused.code, refused.message);
    this.misses += 1;
    const loaded = Promise.resolve().then(load);
    this.#loading.set(loadingKey, loaded);
    try {
      const document = await loaded;
      // An edit may have put a newer version there meanwhile.
      if (this.#documents.peek(path) === known) this.set(path, version, document);
      return document;
    } catch (error) {
      if (error instanceof DocumentError && refusals.has(error.code)) {
        this.#refused.set(path, { version, code: error.code, message: error.message });
      }
      throw error;
    } finally {
      this.#loading.delete(loadingKey);
    }
  }

  /** Runs an edit, which may take the document of a path. */
  async edit<T>(path: string, run: () => Promise<T>): Promise<T> {
    this.#edits.set(path, (this.#edits.get(path) ?? 0) + 1);
    try {
      return await run();
    } finally {
      const left = (this.#edits.get(path) ?? 0) - 1;
      if (left > 0) this.#edits.set(path, left);
      else this.#edits.delete(path);
    }
  }

  /** Whether some version of a path is known, or will be when the edit that is under way has ended. */
  has(path: string): boolean {
    return this.#documents.has(path) || this.#edits.has(path);
  }

  /** Whether an edit of a path is under way, which may have taken this version, or has made another since. */
  isOutdated(path: string, version: string): boolean {
    return this.#edits.has(path) || (this.#documents.peek(path)?.version ?? version) !== version;
  }

  /** Keeps the document that `version` of `path` is known to be: an edit has parsed its own result. */
  set(path: string, version: string, document: SourceDocument): void {
    if (this.#taken.has(document)) return; // an edit has followed
    this.#documents.set(path, { version, document });
    this.#latest = { path, version, document: new WeakRef(document) };
  }
}

type DocumentOptions = Pick<FileOptions, "maxDocumentSize" | "maxDocumentDepth" | "maxParseSteps">;

/** See {@link DocumentCache.hold}. Where it has to be parsed, that is done when there is a place for it. */
export async function holdInPlace(
  documents: DocumentCache,
  path: string,
  { version, isFresh }: StoredStat,
  client: Client,
  bytes: number,
  parse: () => Promise<SourceDocument>,
): Promise<HeldDocument> {
  let leave: (() => void) | undefined;
  try {
    const held = await documents.hold(path, isFresh ? undefined : version, async () => {
      leave ??= await placeFor(client, bytes);
      return parse();
    });
    return { ...held, leave };
  } catch (error) {
    leave?.();
    throw error;
  }
}

/** A document and what the storage knew of the file when it was read. */
export interface LoadedDocument extends HeldDocument {
  readonly stat: StoredStat;
}

interface DocumentPlace {
  readonly storage: Storage;
  readonly path: string;
  readonly stat: StoredStat;
  /** The file, if it is open already; the caller that opened it closes it. */
  readonly file?: OpenFile | undefined;
}

/** A document, from the cache or parsed. Throws 404 for a missing file, 413 `DOCUMENT_TOO_LARGE`, 416 `NOT_HTML`. */
export async function loadDocument(
  { storage, path, stat: found, file: opened }: DocumentPlace,
  documents: DocumentCache,
  options: DocumentOptions,
  client: Client,
): Promise<LoadedDocument> {
  const kind = documentKind(path);
  if (!kind) throw new HttpError(416, "NOT_HTML", "Elements are read and changed in HTML, XML and SVG documents only.");
  const known = documents.holdKnown(path, found.version);
  if (known) return Object.assign(known, { stat: found });
  const file = opened ?? (await storage.open(path, "version"));
  if (!file) throw notFound();
  try {
    const { stat } = file;
    refuseUnreadable(stat, options);
    const held = await holdInPlace(documents, path, stat, client, stat.size, async () => {
      const { parseDocument } = await import("../html/engine.ts"); // not before there is a page to parse
      return inSlices(parseDocument(kind, await file.bytes(), parseLimits(options)));
    });
    return { ...held, stat };
  } finally {
    if (file !== opened) await file.close();
  }
}

/** Throws for a document that is stored encoded, and 413 for one of more than `maxDocumentSize` bytes. */
export function refuseUnreadable({ size, fields }: StoredStat, { maxDocumentSize }: DocumentOptions): void {
  if (fields?.["content-encoding"] !== undefined) throw new StorageError("encoded");
  if (size <= maxDocumentSize) return;
  const details = `Elements are read and changed in documents of at most ${maxDocumentSize} bytes; this one has ${size}.`;
  throw new HttpError(413, "DOCUMENT_TOO_LARGE", details);
}

/** The options that bound what is parsed, as the parser knows them. */
export function parseLimits({ maxDocumentDepth, maxParseSteps }: DocumentOptions): ParseLimits {
  return { maxDepth: maxDocumentDepth, maxParseSteps };
}
