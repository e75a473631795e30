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
import { recordBytes } from "./append-note.ts";
import type { DiskChanges } from "./changes.ts";
import type { Disk } from "./disk.ts";
import { attempted, recordAt } from "./file-calls.ts";
import { errnoOf, regularFile, uniqueMoment } from "./file-record.ts";
import { maxAttempts } from "./locked-target.ts";
import { enterDirectory, leaveDirectory, type OpenDirectory } from "./open-directory.ts";
import { call, inPool } from "./system-calls.ts";
import { TemporaryFile } from "./temporary-file.ts";
import { modeOfSuccessor, type ReceivedContent } from "./write-programs.ts";

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
  const changeTo =
    (received: Received): Change =>
    (draft) => {
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
  const changeTo =
    (received: Received): Change =>
    (draft) => {
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
  const { changeTo } = storing;
  const pieces = content[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let length = 0;
  for (let next = await pieces.next(); ; next = await pieces.next()) {
    if (next.done) return changes.run(path, changeTo(held.length === 1 && held[0] ? held[0] : Buffer.concat(held)));
    held.push(next.value);
    length += next.value.byteLength;
    if (length > maxHeldBytes) break;
  }
  let checksum = crc32(Buffer.concat(held));
  async function* all(): Content {
    yield* held;
    for await (const piece of { [Symbol.asyncIterator]: () => pieces }) {
      checksum = crc32(piece, checksum);
      yield piece;
    }
  }
  const { directory, file } = await beginUpload(disk, path, storing);
  try {
    const byteLength = await file.receive(all());
    const moment = uniqueMoment();
    // It may have been removed with its directory, which is found out where it is to be stored.
    await inPool(attempted(call.utimes(file.path, moment, moment)));
    if (disk.sync && !storing.isAppend) await inPool(call.fsync(file.file));
    return await changes.run(path, changeTo({ temporary: file.path, byteLength, checksum }), true);
  } finally {
    await file.remove();
    await leaveDirectory(directory);
  }
}

async function beginUpload(
  disk: Disk,
  path: string,
  { isAppend, judge }: Storing,
): Promise<{ directory: OpenDirectory; file: TemporaryFile }> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const target = await disk.paths.target(path);
    const there = regularFile(target.exists ? await inPool(recordAt(target.real)) : undefined);
    judge(there !== undefined, target.missing.length === 0);
    const directory = await enterDirectory(target.directory);
    if (!directory) continue;
    try {
      const file = await TemporaryFile.create(directory, isAppend ? undefined : modeOfSuccessor(there));
      if (isAppend) await file.receive([Buffer.alloc(recordBytes)]);
      return { directory, file };
    } catch (error) {
      await leaveDirectory(directory);
      if (errnoOf(error) !== "ENOENT") throw error; // otherwise it was removed since it was opened
    }
  }
  throw new StorageError("conflict");
}
