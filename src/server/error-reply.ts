import { DocumentError, type DocumentErrorCode } from "../html/document-error.ts";
import { escapeHtml } from "../http/escape-html.ts";
import { type ErrorCode, HttpError, type ReplyHeaders } from "../http/http-error.ts";
import { preferredType } from "../http/negotiation.ts";
import { StorageError, type StorageErrorCode } from "../storage/storage.ts";
import type { Exchange } from "./exchange.ts";
import { htmlPage } from "./html-page.ts";
import { jsonReply, type Reply } from "./reply.ts";

/** The reply for anything thrown; a failure of the server itself is reported to `config.onError`, and not told. */
export function errorReply(exchange: Exchange, thrown: unknown): Reply {
  const error = toHttpError(thrown, exchange.id);
  const { status, code } = error;
  // The server is not to blame for what it does not support (501), nor where it is busy or closing (503).
  if (status >= 500 && status !== 501 && (status !== 503 || code === "STORAGE_UNAVAILABLE"))
    exchange.site.report(error.cause ?? error, exchange, status);
  // No cache may guess how long an error lives: what is missing now may be there after the next PUT.
  const headers = { "cache-control": "no-cache", vary: "accept", ...error.headers };
  const type = preferredType(exchange.headers.accept, ["application/json", "text/html"]);
  if (type === "text/html") {
    return { status: error.status, headers: { ...headers, ...pageHeaders }, body: errorPage(error, exchange), error };
  }
  const body = { error: error.reason, details: error.message, code: error.code, index: error.index };
  return { ...jsonReply(error.status, body, headers), error };
}

const storageErrors: Record<StorageErrorCode, readonly [status: number, code: ErrorCode, details: string]> = {
  "not-found": [404, "NOT_FOUND", "There is no such file or directory."],
  exists: [409, "FILE_EXISTS", "A file of that name exists already; nothing was written."],
  "is-directory": [405, "IS_DIRECTORY", "The path is a directory."],
  "not-a-directory": [409, "NOT_A_DIRECTORY", "A parent of the path is a file."],
  "no-parent": [409, "NO_PARENT", "The parent directory does not exist."],
  "not-empty": [409, "DIRECTORY_NOT_EMPTY", "The directory is not empty; nothing was deleted."],
  forbidden: [403, "FORBIDDEN_PATH", "The server may not do this to that path."],
  "invalid-name": [400, "INVALID_PATH", 'The system here has no names with <, >, ", |, ? or *.'],
  "name-too-long": [400, "INVALID_PATH", "A name in the path is too long."],
  "too-deep": [400, "INVALID_PATH", "Too many of the directories in the path do not exist: 32 are made at a time."],
  encoded: [415, "UNSUPPORTED_ENCODING", "The file is stored compressed: replace all of it to change it."],
  full: [507, "INSUFFICIENT_STORAGE", "There is no space left to store this; nothing was changed."],
  "read-only": [507, "INSUFFICIENT_STORAGE", "The disk is mounted to be read only; nothing was changed."],
  unavailable: [503, "STORAGE_UNAVAILABLE", "The files are out of reach at the moment; try again later."],
  "outcome-unknown": [
    503,
    "STORAGE_UNAVAILABLE",
    "The store did not say whether the change was made; look before you make it again.",
  ],
  busy: [503, "OVERLOADED", "Too many files are open, or the file is being changed; try again shortly."],
  conflict: [409, "WRITE_CONFLICT", "The file kept changing while it was edited; nothing was written. Try again."],
};

const documentErrors: Record<DocumentErrorCode, number> = {
  DOCUMENT_TOO_COSTLY: 422,
  DOCUMENT_TOO_DEEP: 422,
  EDIT_PRECONDITION_FAILED: 412,
  INVALID_EDIT: 400,
  INVALID_HTML: 400,
  INVALID_SELECTOR: 400,
  INVALID_TARGET: 400,
  NOT_UTF8: 422,
  NOT_WELL_FORMED: 422,
  RESULT_TOO_LARGE: 413,
  SELECTOR_TOO_COSTLY: 503, // without `Retry-After`: it costs the same the next time
  TOO_MANY_EDITS: 400,
  TOO_MANY_MATCHES: 400,
  UNSUPPORTED_ENCODING: 415,
};

/** The error for what was thrown, where it is about the request or the document. */
export function knownHttpError(thrown: unknown): HttpError | undefined {
  if (thrown instanceof HttpError) return thrown;
  if (!(thrown instanceof DocumentError)) return undefined;
  const { code, message, index } = thrown;
  return new HttpError(documentErrors[code], code, message, { index });
}

/** The error for anything thrown. What is not known becomes a 500 with the request's id. */
export function toHttpError(thrown: unknown, requestId: string): HttpError {
  const known = knownHttpError(thrown);
  if (known) return known;
  if (thrown instanceof StorageError) {
    const [status, code, details] = storageErrors[thrown.code];
    const headers: ReplyHeaders = status === 503 ? { "retry-after": "1" } : {};
    return new HttpError(status, code, details, { cause: thrown, headers });
  }
  const details = `The server failed to answer request ${requestId}.`;
  return new HttpError(500, "INTERNAL_ERROR", details, { cause: thrown });
}

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
};

/** The colours are those of listings. */
const pageStyle = `:root{color-scheme:light dark;--paper:#fdfcfa;--ink:#22252b;--soft:#646871}
@media(prefers-color-scheme:dark){:root{--paper:#17191d;--ink:#e6e4df;--soft:#9a9da5}}
body{max-width:34rem;margin:18vh auto;padding:0 1.5rem;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:1.6rem;line-height:1.2}code,.user{color:var(--soft)}`;

function errorPage(error: HttpError, { user }: Exchange): string {
  const title = `${error.status} ${error.reason}`;
  const isAboutRights = error.status === 401 || error.status === 403;
  const signedIn = user ? `You are signed in as ${escapeHtml(user.name)}.` : "You are not signed in.";
  const body = `<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(error.message)}</p>
${isAboutRights ? `<p class="user">${signedIn}</p>\n` : ""}<p><code>${escapeHtml(error.code)}</code></p>`;
  return htmlPage(title, pageStyle, body);
}
