import type { Client } from "../event-loop/fair-queue.ts";
import type { ParseLimits } from "../html/document/parse-budget.ts";
import { parseDocument } from "../html/document/parse-document.ts";
import type { SourceDocument } from "../html/document/source-document.ts";
import { documentKind } from "../http/content-type.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import type { FileOptions } from "../server/site.ts";
import type { OpenFile, Storage, StoredStat } from "../storage/storage.ts";
import type { DocumentCache } from "./document-cache.ts";

/** The options that bound what is parsed. */
export type DocumentOptions = Pick<FileOptions, "maxDocumentSize" | "maxDocumentDepth" | "maxParseSteps">;

/** A document and what the storage knew of the file when it was read. */
export interface LoadedDocument {
  readonly document: SourceDocument;
  readonly stat: StoredStat;
}

/** Where a document is to be found. */
export interface DocumentPlace {
  readonly storage: Storage;
  readonly path: string;
  /** The file, if it is open already; whoever opened it closes it. */
  readonly file?: OpenFile;
}

/**
 * A document, from the cache where its version is there. Throws 404 where the file is gone by now, and 413
 * `DOCUMENT_TOO_LARGE`.
 */
export async function loadDocument(
  { storage, path, file: opened }: DocumentPlace,
  documents: DocumentCache,
  options: DocumentOptions,
  client: Client,
): Promise<LoadedDocument> {
  const kind = requireDocument(path);
  const file = opened ?? (await storage.open(path));
  if (!file) throw notFound();
  try {
    const { stat } = file;
    refuseTooLarge(stat.size, options);
    const document = await documents.get(path, stat.version, async () =>
      parseDocument(kind, await file.bytes(), parseLimits(options, client)),
    );
    return { document, stat };
  } finally {
    if (file !== opened) await file.close();
  }
}

/** How a file is parsed. Throws 416 for one without elements. */
function requireDocument(path: string): "html" | "xml" {
  const kind = documentKind(path);
  if (kind) return kind;
  throw new HttpError(416, "NOT_HTML", "Elements are read and changed in HTML, XML and SVG documents only.");
}

/** Throws 413 for a document of more than `maxDocumentSize` bytes. */
export function refuseTooLarge(size: number, { maxDocumentSize }: DocumentOptions): void {
  if (size <= maxDocumentSize) return;
  const details = `Elements are read and changed in documents of at most ${maxDocumentSize} bytes; this one has ${size}.`;
  throw new HttpError(413, "DOCUMENT_TOO_LARGE", details);
}

/** The options that bound what is parsed, as the parser knows them. */
export function parseLimits({ maxDocumentDepth, maxParseSteps }: DocumentOptions, client: Client): ParseLimits {
  return { maxDepth: maxDocumentDepth, maxParseSteps, client };
}
