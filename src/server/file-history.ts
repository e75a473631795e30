import type { Storage } from "../storage/storage.ts";

/** What a file was after a change. */
export interface Version {
  /** Name of the commit. */
  readonly commit: string;
  /** Canonical path. */
  readonly path: string;
  /** When the change was made, to the second. */
  readonly time: Date;
  /** Name of the user who made it; `undefined` where that is not known. */
  readonly user: string | undefined;
  /** What was done: `PUT #kite in /to-do.html`. */
  readonly summary: string;
  /** Selector of the elements that were edited. */
  readonly selector: string | undefined;
  /** In bytes; `undefined` where the file was deleted. */
  readonly size: number | undefined;
  /** Entity tag of this version in the history; `undefined` where the file was deleted. */
  readonly etag: string | undefined;
}

/** Some of the versions of a file, newest first. */
export interface VersionList {
  readonly versions: readonly Version[];
  /** The commit to go on after; `undefined` at the end. */
  readonly next: string | undefined;
}

/** The versions of the files of a host. */
export interface FileHistory {
  /** The path below which HTTP shows them; it ends in `/`. */
  readonly base: string;
  /** Whether changes of a file are kept. */
  covers(path: string): boolean;
  /** Whether there are versions of a file. */
  has(path: string): Promise<boolean>;
  /** Those of a file, `limit` at most, before the commit `after`. */
  list(path: string, limit: number, after?: string): Promise<VersionList>;
  /** A file at a moment, or after a commit; `undefined` if there was no file. Throws 404 for an unknown commit. */
  storageAt(path: string, at: Date | string): Promise<Storage | undefined>;
  /** A file without the change of a commit, or as that left it; `undefined` for no file. Throws 404 and 409. */
  restored(
    path: string,
    commit: string,
    how: "without" | "as",
    now: Uint8Array | undefined,
  ): Promise<Uint8Array | undefined>;
}
