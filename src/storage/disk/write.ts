import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import {
  type CommitCheck,
  type Content,
  type FileUpdate,
  StorageError,
  type StoredStat,
  type WriteOptions,
  type WriteResult,
} from "../storage.ts";
import type { Change, ChangeResult } from "../waiting-changes.ts";
import { recordBytes } from "./append.ts";
import type { DiskChanges } from "./changes.ts";
import { closeDirectory, type Directory, openDirectory, openIn } from "./directory.ts";
import type { Disk } from "./disk.ts";
import { errnoOf, uniqueMoment } from "./file-record.ts";
import { createFlags, type ReceivedContent } from "./jobs.ts";
import { attempted, call, inPool, type Program, recordAt, writeAll } from "./system-calls.ts";
import { temporaryFileName } from "./temporary-names.ts";
import { inDirectory, modeOfSuccessor } from "./write-programs.ts";

/** Content up to here is held in memory; more is received into a temporary file. */
const maxHeldBytes = 64 * 1024;

type Received = Uint8Array | ReceivedContent;

interface Storing {
  readonly isAppend: boolean;
  /** Throws where what is there forbids it: asked before much content is received. */
  judge(isThere: boolean, hasParent: boolean): void;
  changeTo(received: Received): Change;
}

/** Stores content as a file: received first, so that a slow sender delays no other change. */
export async function write(
  disk: Disk,
  changes: DiskChanges,
  path: string,
  content: Content,
  { check, createParents = true, exclusive = false }: WriteOptions,
): Promise<WriteResult> {
  if (path.endsWith("/")) throw new StorageError("is-directory");
  const judge = (isThere: boolean, hasParent: boolean): void => {
    if (exclusive && isThere) throw new StorageError("exists");
    if (!createParents && !hasParent) throw new StorageError("no-parent");
  };
  const changeTo: Storing["changeTo"] = (received) => (draft) => {
    judge(draft.stat !== undefined, draft.hasParent);
    check?.(draft.stat);
    draft.replace(received);
  };
  return store(disk, changes, path, content, { isAppend: false, judge, changeTo });
}

/** Adds content to the end of a file, which stays the same file. */
export async function append(
  disk: Disk,
  changes: DiskChanges,
  path: string,
  content: Content,
  check: CommitCheck | undefined,
): Promise<WriteResult> {
  const judge = (isThere: boolean): void => {
    if (!isThere || path.endsWith("/")) throw new StorageError("not-found");
  };
  const changeTo: Storing["changeTo"] = (received) => (draft) => {
    judge(draft.stat !== undefined);
    check?.(draft.stat);
    if (received.byteLength > 0) draft.append(received);
  };
  return store(disk, changes, path, content, { isAppend: true, judge, changeTo });
}

/** Reads, edits and replaces a file under its lock; redone where another program changed the file in between. */
export async function update(
  changes: DiskChanges,
  path: string,
  edit: FileUpdate,
  made?: (stat: StoredStat) => void,
): Promise<ChangeResult> {
  return changes.run(path, async (draft) => {
    if (!draft.stat || path.endsWith("/")) throw new StorageError("not-found");
    const edited = await edit(() => draft.bytes(), draft.stat);
    if (!edited) return;
    const after = draft.replace(edited);
    made?.(after);
  });
}

async function store(
  disk: Disk,
  changes: DiskChanges,
  path: string,
  content: Content,
  storing: Storing,
): Promise<WriteResult> {
  const { isAppend, changeTo } = storing;
  const held: Uint8Array[] = [];
  let length = 0;
  let upload: Upload | undefined;
  try {
    for await (const piece of content) {
      held.push(piece);
      length += piece.byteLength;
      if (length <= maxHeldBytes) continue;
      upload ??= await Upload.begin(disk, path, storing);
      for (const each of held.splice(0)) await upload.add(each);
    }
    if (upload) return await changes.run(path, changeTo(await upload.end(disk.sync && !isAppend)), true);
    return await changes.run(path, changeTo(held.length === 1 && held[0] ? held[0] : Buffer.concat(held)));
  } finally {
    await upload?.close();
  }
}

/** Content that is received into a temporary file: in the target's own directory, so that it can be renamed. */
class Upload {
  readonly #directory: Directory;
  readonly #path: string;
  readonly #file: number;
  #byteLength = 0;
  #checksum = 0;

  private constructor(directory: Directory, name: string, file: number) {
    this.#directory = directory;
    this.#path = directory.at(name);
    this.#file = file;
  }

  static async begin(disk: Disk, path: string, { isAppend, judge }: Storing): Promise<Upload> {
    const target = await disk.paths.target(path);
    const there = target.exists ? await inPool(recordAt(target.real)) : undefined;
    judge(there !== undefined, target.missing.length === 0);
    const directory = await inPool(openDirectory(target.directory));
    if (!directory) throw new StorageError("conflict");
    const name = temporaryFileName();
    try {
      const file = await inPool(openIn(directory, name, createFlags, isAppend ? 0o600 : modeOfSuccessor(there)));
      if (isAppend) await inPool(writeAll(file, Buffer.alloc(recordBytes), null));
      return new Upload(directory, name, file);
    } catch (error) {
      await inPool(closeDirectory(directory));
      throw errnoOf(error) === "ENOENT" ? new StorageError("conflict", error) : error; // removed since it was opened
    }
  }

  async add(piece: Uint8Array): Promise<void> {
    await inPool(writeAll(this.#file, piece, null));
    this.#byteLength += piece.byteLength;
    this.#checksum = crc32(piece, this.#checksum);
  }

  async end(isSynced: boolean): Promise<ReceivedContent> {
    const moment = uniqueMoment();
    // It may have been removed with its directory, which is found out where it is to be stored.
    await inPool(attempted(call.utimes(this.#path, moment, moment)));
    if (isSynced) await inPool(call.fsync(this.#file));
    return { temporary: this.#path, byteLength: this.#byteLength, checksum: this.#checksum };
  }

  /** Removes the file where it still has its name. Never rejects: what stays is invisible, and goes at a start. */
  async close(): Promise<void> {
    await inPool(attempted(call.close(this.#file)));
    await inPool(attempted(call.unlink(this.#path)));
    await inPool(closeDirectory(this.#directory));
  }
}

/** Checks whether something could be stored now, by a byte under a name that clients do not see; throws if not. */
export async function check({ paths, sync }: Disk): Promise<void> {
  await paths.requireRoot();
  const outcome = await inPool(inDirectory(paths.root, (directory) => tryOut(directory, sync)));
  if (outcome) throw new StorageError("unavailable");
}

function* tryOut(directory: Directory, isSynced: boolean): Program<void> {
  const name = temporaryFileName();
  const file = yield* openIn(directory, name, createFlags, 0o600);
  try {
    yield* writeAll(file, Buffer.of(0), null);
    if (isSynced) yield* call.fsync(file);
  } finally {
    yield* attempted(call.close(file));
    yield* attempted(call.unlink(directory.at(name)));
  }
}
