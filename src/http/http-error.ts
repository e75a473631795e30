import { STATUS_CODES } from "node:http";
import type { DocumentErrorCode } from "../html/document-error.ts";

/** The closed list of `code` values in error bodies; `docs/errors.md` says what each means and what to do. */
export type ErrorCode =
  | DocumentErrorCode
  | "BODY_CONSUMED"
  | "CLIENT_LEFT"
  | "CLOSING"
  | "CROSS_SITE"
  | "DIRECTORY_NOT_EMPTY"
  | "DIRECTORY_TOO_LARGE"
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
  | "INVALID_PATH"
  | "INVALID_QUERY"
  | "INVALID_RANGE"
  | "IS_DIRECTORY"
  | "LISTING_DISABLED"
  | "MAINTENANCE"
  | "METHOD_NOT_ALLOWED"
  | "MISSING_FILENAME"
  | "NOT_A_DIRECTORY"
  | "NOT_FOUND"
  | "NOT_HTML"
  | "NO_MATCH"
  | "NO_PARENT"
  | "OVERLOADED"
  | "PRECONDITION_FAILED"
  | "RANGE_LOST"
  | "RANGE_NOT_SATISFIABLE"
  | "RATE_LIMITED"
  | "ROOT_DIRECTORY"
  | "STORAGE_UNAVAILABLE"
  | "UNAUTHORIZED"
  | "UNKNOWN_HOST"
  | "UNSUPPORTED_TRANSFER_CODING"
  | "UNSUPPORTED_TYPE"
  | "UPGRADE_REQUIRED"
  | "UPGRADE_WITH_CONTENT"
  | "WRITE_CONFLICT";

/** Header fields of a reply: lower-case names; an array is sent as several fields (`set-cookie`). */
export type ReplyHeaders = Record<string, string | readonly string[]>;

/** Options of an {@link HttpError}. */
export interface HttpErrorOptions {
  /** Header fields of the reply, for instance `allow` or `retry-after`. */
  readonly headers?: ReplyHeaders;
  /** The underlying error; goes to `config.onError` for a 5xx, never to the client. */
  readonly cause?: unknown;
  /** Which edit of a list it is about, counted from 0; the reply names it. */
  readonly index?: number | undefined;
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
  readonly index: number | undefined;

  /**
   * `details` is text for the client: no stack trace, no path of the server's disk. Throws a `RangeError` for a status
   * outside 400 to 599.
   */
  constructor(status: number, code: ErrorCode | (string & {}), details: string, options: HttpErrorOptions = {}) {
    super(details, options.cause === undefined ? undefined : { cause: options.cause });
    if (!(Number.isInteger(status) && status >= 400 && status <= 599)) {
      throw new RangeError(`an HttpError has a status from 400 to 599, not ${status}`);
    }
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.index = options.index;
  }

  /** The reason phrase of the status: `"Not Found"`. */
  get reason(): string {
    return STATUS_CODES[this.status] ?? "Error";
  }
}

/** Makes an error without a stack trace, which takes as long as all else of a refusal. */
export function withoutTrace(make: () => HttpError): HttpError {
  const { stackTraceLimit } = Error;
  Reflect.set(Error, "stackTraceLimit", 0); // which does not throw where a host program has frozen it
  try {
    return make();
  } finally {
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  }
}

/** The 405 of a resource; `allow` lists what it supports for this user. */
export function methodNotAllowed(allow: string): HttpError {
  return new HttpError(405, "METHOD_NOT_ALLOWED", `Supported here: ${allow}.`, { headers: { allow } });
}

/** The 404 of a path that leads to nothing. */
export function notFound(): HttpError {
  return withoutTrace(() => new HttpError(404, "NOT_FOUND", "There is no such file or directory."));
}
