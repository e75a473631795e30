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
  EROFS: "forbidden",
  ELOOP: "forbidden",
  ENXIO: "forbidden", // a socket, or a FIFO that nobody reads
  ENODEV: "forbidden",
  EMFILE: "busy",
  ENFILE: "busy",
  EXDEV: "conflict", // the directory became another file system's while the content was received
};

/** Means "nothing to read here": no such name, a file where a directory is needed, links in a circle, a socket. */
const absent: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "ENODEV"]);

/** The operating system's name of an error (`"ENOENT"`), or `""` for any other error. */
export function errnoOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : "";
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
