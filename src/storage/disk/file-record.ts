import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { constants as system } from "node:os";
import { StorageError, type StorageErrorCode, type StoredStat } from "../storage.ts";

/** 22 characters of base64 are 132 bits: no two versions of anything ever share them by chance. */
const versionLength = 22;

/** The tick of a file system's clock, at most; where its times are no finer than milliseconds it takes two seconds. */
export const fineTickMs = 100;
export const coarseTickMs = 3000;

// In microseconds.
let lastMoment = 0;
/** More than writes without a pause get ahead of the clock. */
const setBackBy = 1_000_000;

/** Dates that HTTP and ISO 8601 can write; a disk may have others. In milliseconds. */
const earliestMs = Date.parse("0001-01-01T00:00:00Z");
const latestMs = Date.parse("9999-12-31T23:59:59Z");

/** What of a file's record tells its versions apart. */
export type VersionRecord = Pick<BigIntStats, "ino" | "size" | "mtimeNs" | "ctimeNs">;

/** What is known of a name; plain values, which can be sent to another thread. */
export interface FileRecord extends VersionRecord, Pick<BigIntStats, "dev" | "nlink"> {
  readonly type: "file" | "directory" | "link" | "other";
}

export function recordOf(stats: BigIntStats): FileRecord {
  const { dev, ino, nlink, size, mtimeNs, ctimeNs } = stats;
  const type = stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "link" : "other";
  return { type, dev, ino, nlink, size, mtimeNs, ctimeNs };
}

export function storedStat(stats: BigIntStats): StoredStat {
  return statOf(stats, stats.isFile() ? "file" : "directory");
}

/** `isOwn`: as this process has left it, with a time that no other file gets unless the clock is coarse. */
export function statOf(record: VersionRecord, type: StoredStat["type"] = "file", isOwn = false): StoredStat {
  const { ino, size, mtimeNs, ctimeNs } = record;
  let version: string | undefined;
  return {
    type,
    size: type === "file" ? Number(size) : 0,
    modified: new Date(Math.min(Math.max(Number(mtimeNs / 1_000_000n), earliestMs), latestMs)),
    // Computed when asked for: listing 100,000 names does not pay for it. Hashed: clients learn no inode number.
    // Without the number of the file system, which each machine that mounts it chooses for itself.
    get version() {
      version ??= hash("sha256", `${ino} ${size} ${mtimeNs} ${ctimeNs}`, "base64url").slice(0, versionLength);
      return version;
    },
    get isFresh() {
      const isCoarse = mtimeNs % 1_000_000n === 0n;
      const ageMs = Math.abs(Date.now() - Number(mtimeNs / 1_000_000n));
      return type === "file" && (isCoarse ? ageMs < coarseTickMs : !isOwn && ageMs < fineTickMs);
    },
  };
}

/**
 * The present in seconds, as a modification time that no file has got from here before. The kernel's own file times
 * stand still for up to 10 ms, in which a file can be replaced several times and get back an inode number it had: two
 * different contents would share one version. The digits below a millisecond are random, for other processes' sake, and
 * never 0, also where one microsecond is lost in rounding: so they tell our changes from those by a coarse clock.
 */
export function uniqueMoment(): number {
  const present = Date.now() * 1000 + 2 + Math.floor(Math.random() * 998);
  const next = lastMoment + (lastMoment % 1000 === 999 ? 3 : 1);
  // Not after the clock was set back: all files would have one date, which lies ahead, until it has caught up.
  lastMoment = present < lastMoment - setBackBy ? present : Math.max(present, next);
  return lastMoment / 1e6;
}

/** Names a file whatever paths lead to it. */
export function fileIdentity({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): string {
  return `inode:${dev}:${ino}`;
}

/** What the operating system says, in the words of the storage. Anything else is unexpected and passed on as it is. */
const storageErrors: Readonly<Record<string, StorageErrorCode>> = {
  ENOENT: "not-found",
  EEXIST: "exists",
  EISDIR: "is-directory",
  ENOTDIR: "not-a-directory",
  ENOTEMPTY: "not-empty",
  ENAMETOOLONG: "name-too-long",
  EINVAL: "invalid-name", // as one with a `?` on vfat or NTFS
  EILSEQ: "invalid-name",
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EACCES: "forbidden",
  EPERM: "forbidden",
  EROFS: "read-only",
  ELOOP: "forbidden",
  EBUSY: "forbidden", // a mount point, such as a file that a container was given by itself
  ENXIO: "forbidden", // a socket, or a FIFO without a reader
  ENODEV: "forbidden",
  EMFILE: "busy",
  ENFILE: "busy",
  ENOTCONN: "unavailable", // as are the next four, of a disk over a network or FUSE
  ESTALE: "unavailable",
  ETIMEDOUT: "unavailable",
  EHOSTDOWN: "unavailable",
  EHOSTUNREACH: "unavailable",
  EXDEV: "conflict", // the directory became another file system's while the content was received
};

/** Means "nothing to read here": no such name, a file where a directory is needed, links in a circle, a socket. */
const absent: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "ENODEV"]);

/** Names of errors by number; Node 20 has more numbers than names (EDQUOT is "Unknown system error -122"). */
const names: ReadonlyMap<number, string> = new Map(Object.entries(system.errno).map(([name, no]) => [no, name]));

/** The operating system's name of an error (`"ENOENT"`), or `""` for any other. In Jest, its class is not our `Error`. */
export function errnoOf(error: unknown): string {
  const { code, errno, syscall }: Partial<Record<"code" | "errno" | "syscall", unknown>> = Object(error);
  if (typeof code === "string" && /^E[A-Z0-9]+$/.test(code)) return code;
  return syscall === undefined ? "" : (names.get(-Number(errno)) ?? "");
}

export function meansAbsent(error: unknown): boolean {
  return absent.has(errnoOf(error));
}

/** Gives what `operation` gives; an expected error of the operating system becomes a {@link StorageError}. */
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
