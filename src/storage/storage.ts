import type { Readable } from "node:stream";

/** The properties of a stored file or directory. */
export interface StoredStat {
  readonly type: "file" | "directory";
  /** Size in bytes; 0 for a directory. */
  readonly size: number;
  readonly modified: Date;
  /**
   * Names this content: it changes whenever the file does and never comes back. Only letters, digits, `-` and `_`, so
   * that it can be used as an entity tag. No directory has that of another one in it, unless a link leads back.
   */
  readonly version: string;
  /**
   * Whether a further change could leave `version` as it is, because it may come within the same tick of the file
   * system's clock: nothing that is made of the content is kept then. @default false
   */
  readonly isFresh?: boolean | undefined;
  /** Header fields stored with the file by another program; sent unless the host's options say otherwise. */
  readonly fields?: StoredFields | undefined;
}

/** Header fields that some storages keep with a file, by their names in lower case. */
export type StoredFields = Readonly<
  Partial<
    Record<"content-type" | "content-encoding" | "content-language" | "content-disposition" | "cache-control", string>
  >
>;

/** One name in a directory, and what it names. */
export interface StoredEntry extends Pick<StoredStat, "type"> {
  readonly name: string;
  /** Whether it is a link to a file or directory of that type, or may be one. @default false */
  readonly isLink?: boolean;
}

/** Positions of the first and the last byte, both included, as in `Content-Range`. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * A file opened once: `stat` was measured on the open file, and `bytes` and `stream` return exactly that version, even
 * if the path changes meanwhile. If the file shrinks while it is read, they fail; they never pad.
 */
export interface OpenFile {
  readonly stat: StoredStat;
  /**
   * All of the content, where it is in memory, and the file need not be closed. Must not be written to.
   */
  readonly content?: Uint8Array | undefined;
  /** Not to be written to: others may be given the same bytes. */
  bytes(span?: ByteSpan): Promise<Uint8Array>;
  stream(span?: ByteSpan): Readable;
  /** Releases the file. Harmless when called twice; a stream still being read goes on to its end. */
  close(): Promise<void>;
}

/**
 * A stream of {@link OpenFile} that can also give its content without the machinery of streams. For those who write it
 * on at once, such as to a socket; others read the stream.
 */
export interface PieceStream extends Readable {
  /**
   * Gives all of the content in large pieces, each when the promise of the one before is fulfilled. A piece is good
   * until then: its memory is used again. At the end, and where a promise is rejected, the stream is destroyed.
   */
  eachPiece(take: (piece: Uint8Array) => Promise<void>): Promise<void>;
}

/** Whether a stream is a {@link PieceStream}. */
export function isPieceStream(stream: Readable): stream is PieceStream {
  return "eachPiece" in stream;
}

/**
 * What a file is opened for: all of its `"content"`; its `"properties"`, and perhaps a part; or its `"version"`, and
 * its content only where that is a new one. What is opened is the same: a storage that is far away fetches no more than
 * that.
 */
export type OpenFor = "content" | "properties" | "version";

/** How many directories one request may make: on a disk each costs an inode, a block, and a sync. */
export const maxMissing = 32;

/** Content to be stored, in pieces. It throws if the client sends less than announced, or more than allowed. */
export type Content = AsyncIterable<Uint8Array>;

/**
 * Sees what is stored right before a change, while nothing else can change it; throws to prevent the change.
 * `undefined`: nothing is stored there.
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

/** See what a {@link Storage.move} is about, right before it is made. */
export interface MoveChecks {
  readonly check?: CommitCheck;
  /** Of what is at the new path. */
  readonly checkTarget?: CommitCheck;
  /** Called once it is made, before watchers see it. */
  readonly moved?: () => Promise<void>;
}

/** What a change left behind. */
export interface WriteResult {
  /** Whether nothing was stored there before. */
  readonly created: boolean;
  readonly stat: StoredStat;
}

/**
 * Computes the new content of a file from the old, which it reads unless it knows that version; `undefined` leaves it
 * as it is. Called again with newer content if another program changed the file in between, so it must not have side
 * effects. `update` rethrows its errors.
 */
export type FileUpdate = (
  read: () => Promise<Uint8Array>,
  stat: StoredStat,
) => Promise<Uint8Array | undefined> | Uint8Array | undefined;

/** Follows the changes of a {@link Storage}. */
export interface StorageWatcher {
  /**
   * Called for a file that was created, changed or removed, with what it is now (`undefined`: gone, or no longer a
   * file), and whether it was there before as far as the storage knows. Called while nothing changes the file through
   * the storage; of a change made through it, only after its maker had the result. A name that came and went may
   * be told of as gone.
   */
  changed(path: string, stat: StoredStat | undefined, wasThere: boolean): void;
  /** Whether changes of a path, and of what is below it, are of no interest. */
  ignores(path: string): boolean;
  /** Called with an error that keeps the storage from noticing changes. */
  failed(error: unknown): void;
}

/** Ends the watching; when it resolves, the watcher is not called any more. */
export type Unwatch = () => Promise<void>;

/**
 * Where files live. Paths are canonical request paths: they begin with `/`, are decoded, have no empty, `.` or `..`
 * segments, and may end in `/`. Changes of one file run one after the other, each whole or not at all; reads never wait
 * and see one whole version. Every method throws {@link StorageError} for failures that a caller can expect, and
 * rejects with the underlying error otherwise.
 */
export interface Storage {
  /**
   * Called once before the first request: checks that the storage is there and clears what a crash left behind.
   * `report` is told from then on of what goes wrong without making an operation fail: a change that was made, and may
   * not outlive a power failure. `warn` is told of what its operator should know from the start. What is not
   * `isWritten` is not cleared either.
   */
  start?(report?: (problem: unknown) => void, warn?: (message: string) => void, isWritten?: boolean): Promise<void>;
  /** `undefined` if nothing is there, or nothing that clients may see (a link that leaves the root, a device). */
  stat(path: string): Promise<StoredStat | undefined>;
  /**
   * The path by which the storage lists what is at a path, where it finds that by other spellings, too, as disks do
   * that ignore case; `undefined` for what it lists by no other spelling. All other methods take paths for what they
   * say. @default the path itself
   */
  listedPath?(path: string): string | Promise<string | undefined>;
  /** Opens a file for reading; `undefined` if the path has no file. @param purpose default `"content"` */
  open(path: string, purpose?: OpenFor): Promise<OpenFile | undefined>;
  /**
   * The names in a directory in no particular order, a few at a time; throws `not-found` without a directory. Nothing
   * is measured: a listing that shows an entry asks `stat` for the rest, which may find that it has gone. With `after`,
   * only those behind that entry: of a storage that {@link listsInOrder}.
   */
  list(path: string, after?: StoredEntry): AsyncIterable<StoredEntry>;
  /** Whether `list` has an order that is the same whatever is there, and can begin anywhere. @default false */
  readonly listsInOrder?: boolean;
  /** Stores all of `content` as the file: created, or replaced as a whole. */
  write(path: string, content: Content, options?: WriteOptions): Promise<WriteResult>;
  /** Adds all of `content` to the end of a file that exists, or nothing. */
  append(path: string, content: Content, options?: Pick<WriteOptions, "check">): Promise<WriteResult>;
  /**
   * The atomic read, change and write: `edit` runs under the file's lock. The result says what the edit has made of the
   * file; others that waited may have changed that since. `made` is called with it before they see it, and before it is
   * stored.
   */
  update(
    path: string,
    edit: FileUpdate,
    made?: (stat: StoredStat) => void,
  ): Promise<WriteResult & { readonly changed: boolean }>;
  /** Removes a file, or a directory if it is empty. */
  remove(path: string, options?: Pick<WriteOptions, "check">): Promise<void>;
  /** Makes a directory in one that exists. Throws `exists` if anything is there. @default clients cannot make one */
  makeDirectory?(path: string): Promise<void>;
  /**
   * Gives a file another path in one step, in place of a file that may be there, after both checks; or a directory with
   * all in it, whose paths end in `/`, where nothing is. `undefined` where that takes a copy, and nothing was done.
   * Throws `forbidden` where a part of a directory has to stay. @default always
   */
  move?(from: string, to: string, checks?: MoveChecks): Promise<WriteResult | undefined>;
  /** Checks whether something could be stored now; throws if not. */
  check?(): Promise<void>;
  /**
   * Makes the file at a location of the disk invisible to every method, wherever a path or a link leads to it. `names`
   * are those that it has there, where the caller knows them.
   */
  protect?(location: string, names?: readonly string[]): Promise<void>;
  /** Whether nothing can ever be stored at a path at which nothing is seen, such as a protected location. */
  refuses?(path: string): Promise<boolean>;
  /** Reports all changes of files, by this server and by others, from when this resolves. */
  watch?(watcher: StorageWatcher): Promise<Unwatch>;
  close?(): Promise<void>;
}

/** The failures that a caller of a {@link Storage} can expect. */
export type StorageErrorCode =
  | "not-found"
  | "exists"
  | "is-directory"
  | "not-a-directory"
  | "no-parent"
  | "not-empty"
  | "forbidden"
  | "name-too-long"
  | "invalid-name"
  | "too-deep"
  | "encoded"
  | "full"
  | "read-only"
  | "unavailable"
  | "outcome-unknown"
  | "busy"
  | "conflict";

/** A storage could not do what it was asked to do; nothing was changed, except perhaps with `outcome-unknown`. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, cause?: unknown) {
    super(`storage: ${code}`, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
