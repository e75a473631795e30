import { STATUS_CODES } from "node:http";
import type { ReplyHeaders } from "../server/reply.ts";
import { StorageError, type StorageErrorCode } from "../storage/storage.ts";

/** The closed list of `code` values in error bodies; `docs/errors.md` says what each means and what to do. */
export type ErrorCode =
  | "BODY_CONSUMED"
  | "CLIENT_LEFT"
  | "CLOSING"
  | "CROSS_SITE"
  | "DIRECTORY_NOT_EMPTY"
  | "DOCUMENT_TOO_COSTLY"
  | "DOCUMENT_TOO_DEEP"
  | "DOCUMENT_TOO_LARGE"
  | "FILE_EXISTS"
  | "FILE_TOO_LARGE"
  | "FORBIDDEN"
  | "FORBIDDEN_PATH"
  | "FRAGMENT_REFUSED"
  | "ID_CHANGED"
  | "INCOMPLETE_BODY"
  | "INSUFFICIENT_STORAGE"
  | "INTERNAL_ERROR"
  | "INVALID_FILENAME"
  | "INVALID_HANDSHAKE"
  | "INVALID_HOST"
  | "INVALID_HTML"
  | "INVALID_PATH"
  | "INVALID_QUERY"
  | "INVALID_RANGE"
  | "INVALID_SELECTOR"
  | "INVALID_TARGET"
  | "IS_DIRECTORY"
  | "LISTING_DISABLED"
  | "MAINTENANCE"
  | "METHOD_NOT_ALLOWED"
  | "MISSING_FILENAME"
  | "NOT_A_DIRECTORY"
  | "NOT_FOUND"
  | "NOT_HTML"
  | "NOT_UTF8"
  | "NOT_WELL_FORMED"
  | "NO_MATCH"
  | "NO_PARENT"
  | "OVERLOADED"
  | "PRECONDITION_FAILED"
  | "RANGE_LOST"
  | "RANGE_NOT_SATISFIABLE"
  | "RATE_LIMITED"
  | "RESULT_TOO_LARGE"
  | "ROOT_DIRECTORY"
  | "SELECTOR_TOO_COSTLY"
  | "TOO_MANY_MATCHES"
  | "UNAUTHORIZED"
  | "UNKNOWN_HOST"
  | "UNSUPPORTED_ENCODING"
  | "UPGRADE_REQUIRED"
  | "UPGRADE_WITH_CONTENT"
  | "WRITE_CONFLICT";

/** What an {@link HttpError} may carry besides status, code and details. */
export interface HttpErrorOptions {
  /** Header fields of the reply, for instance `allow` or `retry-after`. */
  readonly headers?: ReplyHeaders;
  /** What went wrong underneath; goes to `config.onError` for a 5xx, never to the client. */
  readonly cause?: unknown;
}

/**
 * A request that cannot be met. Thrown anywhere below the pipeline, it becomes the reply: `status`, and a JSON body
 * `{ "error", "details", "code" }`, where `error` is the reason phrase and `details` says what the client can change.
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly code: ErrorCode | (string & {});
  readonly headers: ReplyHeaders;

  /**
   * `details` is text for the client: no stack trace, no path of the server's disk. Throws a `RangeError` for a status that
   * is none of an error, 400 to 599.
   */
  constructor(status: number, code: ErrorCode | (string & {}), details: string, options: HttpErrorOptions = {}) {
    super(details, options.cause === undefined ? undefined : { cause: options.cause });
    if (!(Number.isInteger(status) && status >= 400 && status <= 599)) {
      throw new RangeError(`an HttpError has a status from 400 to 599, not ${status}`);
    }
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
  }

  /** The reason phrase of the status: `"Not Found"`. */
  get reason(): string {
    return STATUS_CODES[this.status] ?? "Error";
  }
}

/** The 404 of a path that leads to nothing. */
export function notFound(): HttpError {
  return new HttpError(404, "NOT_FOUND", "There is no such file or directory.");
}

const storageErrors: Record<StorageErrorCode, readonly [status: number, code: ErrorCode, details: string]> = {
  "not-found": [404, "NOT_FOUND", "There is no such file or directory."],
  exists: [409, "FILE_EXISTS", "A file of that name exists already; nothing was written."],
  "is-directory": [405, "IS_DIRECTORY", "The path is a directory."],
  "not-a-directory": [409, "NOT_A_DIRECTORY", "A parent of the path is a file."],
  "no-parent": [409, "NO_PARENT", "The parent directory does not exist."],
  "not-empty": [409, "DIRECTORY_NOT_EMPTY", "The directory is not empty; nothing was deleted."],
  forbidden: [403, "FORBIDDEN_PATH", "The server may not do this to that path."],
  "name-too-long": [400, "INVALID_PATH", "A name in the path is too long."],
  full: [507, "INSUFFICIENT_STORAGE", "There is no space left to store this; nothing was changed."],
  busy: [503, "OVERLOADED", "Too many files are open; try again shortly."],
  conflict: [409, "WRITE_CONFLICT", "The file kept changing while it was edited; nothing was written. Try again."],
};

/** Whatever was thrown, as the error that the client is told; what is not known is a 500 with the request's id. */
export function toHttpError(thrown: unknown, requestId: string): HttpError {
  if (thrown instanceof HttpError) return thrown;
  if (thrown instanceof StorageError) {
    const [status, code, details] = storageErrors[thrown.code];
    const headers: ReplyHeaders = status === 503 ? { "retry-after": "1" } : {};
    return new HttpError(status, code, details, { cause: thrown, headers });
  }
  const details = `The server failed to answer request ${requestId}.`;
  return new HttpError(500, "INTERNAL_ERROR", details, { cause: thrown });
}
