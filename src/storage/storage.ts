import type { Readable } from "node:stream";

/** What a storage knows of a file or directory without reading it. */
export interface StoredStat {
  readonly type: "file" | "directory";
  /** Size in bytes; 0 for a directory. */
  readonly size: number;
  readonly modified: Date;
  /**
   * Names this content: it changes whenever the file does and never comes back. Only letters, digits, `-` and `_`, so
   * that it can stand in an entity tag as it is.
   */
  readonly version: string;
}

/** One name in a directory, and what it names. */
export interface StoredEntry extends Pick<StoredStat, "type"> {
  readonly name: string;
}

/** Positions of the first and the last byte, both included, as in `Content-Range`. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * A file opened once: `stat` was measured on the open file, and whatever happens to the path meanwhile, `bytes` and
 * `stream` give just that version. A file that shrinks while it is read makes them fail, never pads them.
 */
export interface OpenFile {
  readonly stat: StoredStat;
  bytes(span?: ByteSpan): Promise<Uint8Array>;
  stream(span?: ByteSpan): Readable;
  /** Releases the file. Harmless when called twice; a stream still being read goes on to its end. */
  close(): Promise<void>;
}

/** Content to be stored, in pieces. It throws where the client sent less than it announced, or more than is allowed. */
export type Content = AsyncIterable<Uint8Array>;

/**
 * Looks at what is stored at the very moment before a change, while nothing else can change it; throws to prevent the
 * change. `undefined`: nothing is stored there.
 */
export type CommitCheck = (current: StoredStat | undefined) => void;

/** How {@link Storage.write} stores a file. */
export interface WriteOptions {
  /** Called under the file's lock, after all content was received and just before it takes the place of the old. */
  readonly check?: CommitCheck;
  /** Make missing parent directories. @default true */
  readonly createParents?: boolean;
  /** Fail with `exists` instead of replacing a file. @default false */
  readonly exclusive?: boolean;
}

/** What a change left behind. */
export interface WriteResult {
  /** Whether nothing was stored there before. */
  readonly created: boolean;
  readonly stat: StoredStat;
}

/**
 * Computes the new content of a file from the old; `undefined` leaves it as it is. Called again with newer content when
 * somebody else changed the file in between, so it must not have effects of its own. What it throws, `update` throws.
 */
export type Edit = (current: Uint8Array, stat: StoredStat) => Promise<Uint8Array | undefined> | Uint8Array | undefined;

/** Whoever follows what happens in a {@link Storage}. */
export interface StorageWatcher {
  /**
   * Told of a file that was made, changed or removed: what it is now (`undefined`: gone, or no longer a file), and whether
   * it was there before as far as the storage knows. Called while nothing changes the file through the storage; of a
   * change made through it, only after whoever made it had the result. A name that came and went may be told of as gone.
   */
  changed(path: string, stat: StoredStat | undefined, wasThere: boolean): void;
  /** Whether nobody wants to hear of a path, nor, where a directory is there, of what is in it. */
  ignores(path: string): boolean;
  /** Told of what keeps the storage from noticing changes. */
  failed(error: unknown): void;
}

/** Ends the watching; when it resolves, the watcher has been told for the last time. */
export type Unwatch = () => Promise<void>;

/**
 * Where files live. Paths are canonical request paths: they begin with `/`, are decoded, have no empty, `.` or `..`
 * segments, and may end in `/`. Changes of one file run one after the other, each whole or not at all; reads never wait
 * and see one whole version. Every method throws {@link StorageError} for what a caller can expect to happen, and rejects
 * with the underlying error otherwise.
 */
export interface Storage {
  /** Called once before the first request: checks that the storage is there and clears what a crash left behind. */
  start?(): Promise<void>;
  /** `undefined` where there is nothing, or nothing that may be seen (a link that leaves the root, a device). */
  stat(path: string): Promise<StoredStat | undefined>;
  /** Opens a file for reading; `undefined` where there is none, and for a directory. */
  open(path: string): Promise<OpenFile | undefined>;
  /**
   * The names in a directory in no particular order, a few at a time; throws `not-found` where there is none. Nothing is
   * measured: whoever shows an entry asks `stat` for the rest, which may find that it has gone.
   */
  list(path: string): AsyncIterable<StoredEntry>;
  /** Stores all of `content` as the file: created, or replaced as a whole. */
  write(path: string, content: Content, options?: WriteOptions): Promise<WriteResult>;
  /** Adds all of `content` to the end of a file that exists, or none of it. */
  append(path: string, content: Content, options?: Pick<WriteOptions, "check">): Promise<WriteResult>;
  /** The atomic read, change and write: `edit` runs under the file's lock. The result says what is stored now. */
  update(path: string, edit: Edit): Promise<WriteResult & { readonly changed: boolean }>;
  /** Removes a file, or a directory if it is empty. */
  remove(path: string, options?: Pick<WriteOptions, "check">): Promise<void>;
  /** Tries whether something could be stored now; throws where not. */
  check?(): Promise<void>;
  /** Makes the file at a location of the disk invisible to every method, wherever a path or a link leads to it. */
  protect?(location: string): Promise<void>;
  /** Tells of all changes to files from when this resolves, whoever makes them. */
  watch?(watcher: StorageWatcher): Promise<Unwatch>;
  close?(): Promise<void>;
}

/** What a caller of a {@link Storage} can expect to go wrong. */
export type StorageErrorCode =
  | "not-found"
  | "exists"
  | "is-directory"
  | "not-a-directory"
  | "no-parent"
  | "not-empty"
  | "forbidden"
  | "name-too-long"
  | "full"
  | "busy"
  | "conflict";

/** A storage could not do what it was asked; nothing was changed. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, cause?: unknown) {
    super(`storage: ${code}`, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
