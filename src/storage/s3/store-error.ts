import { StorageError, type StorageErrorCode } from "../storage.ts";

/** Errors of stores by name. The last three are of stores that keep objects as files. */
const byName: Readonly<Record<string, StorageErrorCode>> = {
  NoSuchBucket: "unavailable",
  KeyTooLongError: "name-too-long",
  AccessDenied: "forbidden",
  EntityTooLarge: "full",
  QuotaExceeded: "full",
  InsufficientCapacity: "full",
  SlowDown: "busy",
  RequestLimitExceeded: "busy",
  TooManyRequests: "busy",
  ObjectParentIsFile: "not-a-directory",
  ExistingObjectIsDirectory: "is-directory",
  DirectoryNotEmpty: "not-empty",
};

export function isAbsent(error: unknown): boolean {
  return nameOf(error) === "NoSuchKey" || nameOf(error) === "NotFound";
}

/** Whether a conditional change found something else than its maker knew, and changed nothing. */
export function isLostRace(error: unknown): boolean {
  const name = nameOf(error);
  return statusOf(error) === 412 || name === "ConditionalRequestConflict" || name === "OperationAborted";
}

/** Whether parts that were sent have gone: an upload that ended, or that the store has given up. */
export function isUploadGone(error: unknown): boolean {
  return nameOf(error) === "NoSuchUpload";
}

/** Whether the store did not answer, or said that it cannot now. */
export function isOutage(error: unknown): boolean {
  const code = storageCodeOf(error);
  return code === "unavailable" || code === "busy";
}

/** Whether the store, or something on the way to it, has answered at all. */
export function isAnswer(error: unknown): boolean {
  const answer = error instanceof StorageError ? error.cause : error;
  return statusOf(answer) !== undefined;
}

/** Whether the store may have done what it was asked to do, for all that is known. */
export function isUnknownOutcome(error: unknown): boolean {
  return storageCodeOf(error) === "unavailable";
}

export function asStorageError(error: unknown): unknown {
  if (error instanceof StorageError) return error;
  const code = storageCodeOf(error);
  return code === undefined ? error : new StorageError(code, error);
}

function storageCodeOf(error: unknown): StorageErrorCode | undefined {
  if (error instanceof StorageError) return error.code;
  const known = byName[nameOf(error)];
  if (known !== undefined) return known;
  const status = statusOf(error);
  if (status === 507) return "full";
  if (status === 429 || status === 503) return "busy";
  // 403 without a name is the answer to HEAD: keys that are wrong, or have expired.
  // A success that is an error broke off.
  if (status === 403 || status === undefined || status < 300 || status >= 500)
    return isOfStore(error) ? "unavailable" : undefined;
  return undefined;
}

/** Whether the store, or the way to it, failed; anything else is a mistake of ours. */
function isOfStore(error: unknown): boolean {
  if (statusOf(error) !== undefined) return true;
  const code = memberOf(error, "code");
  return (typeof code === "string" && /^E[A-Z_]+$/.test(code)) || ofTheWay.has(nameOf(error));
}

const ofTheWay: ReadonlySet<string> = new Set([
  "TimeoutError",
  "AbortError",
  "NetworkingError",
  "CredentialsProviderError",
]);

function nameOf(error: unknown): string {
  const name = memberOf(error, "name");
  return typeof name === "string" ? name : "";
}

function statusOf(error: unknown): number | undefined {
  const status = memberOf(memberOf(error, "$metadata"), "httpStatusCode");
  return typeof status === "number" ? status : undefined;
}

/** How often a request was sent, as far as its answer, or its error, tells. */
export function attemptsOf(answer: unknown): number {
  const told = answer instanceof StorageError ? answer.cause : answer;
  const attempts = memberOf(memberOf(told, "$metadata"), "attempts");
  return typeof attempts === "number" ? attempts : 1;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
