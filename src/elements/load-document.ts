import type { ElementRequest } from "../files/file-request.ts";
import { parseDocument } from "../html/document/parse-document.ts";
import type { SourceDocument } from "../html/document/source-document.ts";
import { documentKind } from "../http/content-type.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import type { StoredStat } from "../storage/storage.ts";
import { parseLimits } from "./document-limits.ts";

/** A document and what the storage knew of the file when it was read. */
export interface LoadedDocument {
  readonly document: SourceDocument;
  readonly stat: StoredStat;
}

/**
 * The document that a request is about, from the cache where its version is there. Throws 404 where the file is gone by
 * now, and 413 `DOCUMENT_TOO_LARGE`.
 */
export async function loadDocument(request: ElementRequest): Promise<LoadedDocument> {
  const { storage, documents, path, options } = request;
  const kind = requireDocument(path);
  const file = request.file ?? (await storage.open(path));
  if (!file) throw notFound();
  try {
    const { stat } = file;
    refuseTooLarge(request, stat.size);
    const document = await documents.get(path, stat.version, async () =>
      parseDocument(kind, await file.bytes(), parseLimits(options)),
    );
    return { document, stat };
  } finally {
    if (file !== request.file) await file.close();
  }
}

/** How a file is parsed. Throws 416 for one without elements. */
function requireDocument(path: string): "html" | "xml" {
  const kind = documentKind(path);
  if (kind) return kind;
  throw new HttpError(416, "NOT_HTML", "Elements are read and changed in HTML, XML and SVG documents only.");
}

/** Throws 413 for a document of more than `maxDocumentSize` bytes. */
export function refuseTooLarge({ options }: ElementRequest, size: number): void {
  const { maxDocumentSize } = options;
  if (size <= maxDocumentSize) return;
  const details = `Elements are read and changed in documents of at most ${maxDocumentSize} bytes; this one has ${size}.`;
  throw new HttpError(413, "DOCUMENT_TOO_LARGE", details);
}
