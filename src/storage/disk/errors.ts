import { constants } from "node:os";
import { StorageError, type StorageErrorCode } from "../storage.ts";

/** What the operating system says, in the words of the storage. Anything else is unexpected and passed on as it is. */
const storageErrors: Readonly<Record<string, StorageErrorCode>> = {
  ENOENT: "not-found",
  EEXIST: "exists",
  EISDIR: "is-directory",
  ENOTDIR: "not-a-directory",
  ENOTEMPTY: "not-empty",
  ENAMETOOLONG: "name-too-long",
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EACCES: "forbidden",
  EPERM: "forbidden",
  EROFS: "read-only",
  ELOOP: "forbidden",
  ENXIO: "forbidden", // a socket, or a FIFO that nobody reads
  ENODEV: "forbidden",
  EMFILE: "busy",
  ENFILE: "busy",
  EXDEV: "conflict", // the directory became another file system's while the content was received
};

/** Means "nothing to read here": no such name, a file where a directory is needed, links in a circle, a socket. */
const absent: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "ENODEV"]);

/** Names of errors by their numbers; Node knows fewer names than numbers (EDQUOT is "Unknown system error -122" in Node 20). */
const names: ReadonlyMap<number, string> = new Map(Object.entries(constants.errno).map(([name, no]) => [no, name]));

/** The operating system's name of an error (`"ENOENT"`), or `""` for any other error. */
export function errnoOf(error: unknown): string {
  if (!(error instanceof Error && "code" in error)) return "";
  const { code } = error;
  if (typeof code === "string" && /^E[A-Z0-9]+$/.test(code)) return code;
  const isUnnamed = "errno" in error && typeof error.errno === "number" && "syscall" in error;
  return isUnnamed ? (names.get(-Number(error.errno)) ?? "") : "";
}

/** Whether the error only says that there is nothing to read. */
export function meansAbsent(error: unknown): boolean {
  return absent.has(errnoOf(error));
}

/** Gives what `operation` gives; an error of the operating system that callers can expect becomes a {@link StorageError}. */
export async function withStorageErrors<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    throw asStorageError(error);
  }
}

/** The {@link StorageError} that an error of the operating system stands for; any other error as it is. */
export function asStorageError(error: unknown): unknown {
  const code = storageErrors[errnoOf(error)];
  return code === undefined ? error : new StorageError(code, error);
}
