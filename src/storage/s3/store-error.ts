import { StorageError, type StorageErrorCode } from "../storage.ts";

/** Errors of stores by name. The last three are of stores that keep objects as files. */
const byName: ReadonlyMap<unknown, StorageErrorCode> = new Map([
  ["NoSuchBucket", "unavailable"],
  ["KeyTooLongError", "name-too-long"],
  ["AccessDenied", "forbidden"],
  ["EntityTooLarge", "full"],
  ["QuotaExceeded", "full"],
  ["InsufficientCapacity", "full"],
  ["SlowDown", "busy"],
  ["RequestLimitExceeded", "busy"],
  ["TooManyRequests", "busy"],
  ["ObjectParentIsFile", "not-a-directory"],
  ["ExistingObjectIsDirectory", "is-directory"],
  ["DirectoryNotEmpty", "not-empty"],
]);

const ofTheWay: ReadonlySet<unknown> = new Set([
  "TimeoutError",
  "AbortError",
  "NetworkingError",
  "CredentialsProviderError",
]);

interface Told {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
}

export function isAbsent(error: unknown): boolean {
  const { name } = toldOf(error);
  return name === "NoSuchKey" || name === "NotFound";
}

/** Whether a conditional change found something else than its maker knew, and changed nothing. */
export function isLostRace(error: unknown): boolean {
  const { name, $metadata } = toldOf(error);
  return $metadata?.httpStatusCode === 412 || name === "ConditionalRequestConflict" || name === "OperationAborted";
}

/** Whether parts that were sent have gone: an upload that ended, or that the store has given up. */
export function isUploadGone(error: unknown): boolean {
  return toldOf(error).name === "NoSuchUpload";
}

export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code === "unavailable" || code === "busy";
}

export function asStorageError(error: unknown): unknown {
  const code = codeOf(error);
  return error instanceof StorageError || code === undefined ? error : new StorageError(code, error);
}

function codeOf(error: unknown): StorageErrorCode | undefined {
  if (error instanceof StorageError) return error.code;
  const { name, code, $metadata: { httpStatusCode: status } = {} } = toldOf(error);
  const known = byName.get(name);
  if (known !== undefined) return known;
  if (status === 507) return "full";
  if (status === 429 || status === 503) return "busy";
  // 403 without a name answers HEAD where keys are wrong or have expired. A success that is an error broke off.
  if (status !== undefined) return status === 403 || status < 300 || status >= 500 ? "unavailable" : undefined;
  const isOfTheWay = ofTheWay.has(name) || /^E[A-Z_]+$/.test(String(code));
  return isOfTheWay ? "unavailable" : undefined; // anything else is a mistake of ours
}

/** Of the cause, where a {@link StorageError} was made of it. */
export function toldOf(error: unknown): Told {
  const told = error instanceof StorageError ? error.cause : error;
  return typeof told === "object" && told !== null ? told : {};
}
