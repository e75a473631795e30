import { Buffer } from "node:buffer";
import type { BigIntStats } from "node:fs";
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
import { errnoOf, regularFile, uniqueMoment } from "./file-record.ts";
import { maxAttempts, openPlace, type Place } from "./locked-target.ts";
import { leaveDirectory } from "./open-directory.ts";
import { call, inPool } from "./system-calls.ts";
import { TemporaryFile } from "./temporary-file.ts";
import { modeOfSuccessor, type ReceivedContent } from "./write-programs.ts";

/** Content up to here is held in memory; more is received into a temporary file. */
const maxHeldBytes = 64 * 1024;

/** Stores content as a file: received first, so that a slow sender keeps nobody waiting. */
export async function write(
  disk: Disk,
  changes: DiskChanges,
  path: string,
  content: Content,
  { check, createParents = true, exclusive = false }: WriteOptions,
): Promise<WriteResult> {
  if (path.endsWith("/")) throw new StorageError("is-directory");
  const refuse = (isThere: boolean, hasParent: boolean): void => {
    if (exclusive && isThere) throw new StorageError("exists");
    if (!createParents && !hasParent) throw new StorageError("no-parent");
  };
  const changeTo =
    (received: Uint8Array | ReceivedContent): Change =>
    (draft) => {
      refuse(draft.stat !== undefined, draft.hasParent);
      check?.(draft.stat);
      draft.replace(received);
    };
  const begin = async (place: Place): Promise<TemporaryFile> => {
    const replaced = regularFile(place.found);
    refuse(replaced !== undefined, place.hasParent);
    return TemporaryFile.create(place.directory, modeOfSuccessor(replaced));
  };
  return stored(disk, changes, path, content, changeTo, begin, async (file) => {
    const moment = uniqueMoment();
    await inPool(call.utimes(file.path, moment, moment)).catch(ignoreAbsence);
    if (disk.sync) await inPool(call.fsync(file.file));
  });
}

/** Adds content to the end of a file, which stays the same file. */
export async function append(
  disk: Disk,
  changes: DiskChanges,
  path: string,
  content: Content,
  check: CommitCheck | undefined,
): Promise<WriteResult> {
  const changeTo =
    (received: Uint8Array | ReceivedContent): Change =>
    (draft) => {
      requireFile(path, draft.stat);
      check?.(draft.stat);
      if (received.byteLength > 0) draft.append(received);
    };
  const begin = async ({ directory, found }: Place): Promise<TemporaryFile> => {
    requireFile(path, regularFile(found));
    const file = await TemporaryFile.create(directory);
    await file.receive([Buffer.alloc(recordBytes)]);
    return file;
  };
  return stored(disk, changes, path, content, changeTo, begin, async () => {});
}

function requireFile<File extends StoredStat | BigIntStats>(path: string, file: File | undefined): File {
  if (file === undefined || path.endsWith("/")) throw new StorageError("not-found");
  return file;
}

/** Reads, edits and replaces a file under its lock; redone where another program changed the file in between. */
export async function update(
  changes: DiskChanges,
  path: string,
  edit: FileUpdate,
  made?: (stat: StoredStat) => void,
): Promise<ChangeResult> {
  return changes.run(path, async (draft) => {
    const edited = await edit(() => draft.bytes(), requireFile(path, draft.stat));
    if (!edited) return;
    const after = draft.replace(edited);
    made?.(after);
  });
}

/** It was removed with its directory, which is found out where it is to be stored. */
function ignoreAbsence(error: unknown): void {
  if (errnoOf(error) !== "ENOENT") throw error;
}

type ChangeTo = (received: Uint8Array | ReceivedContent) => Change;

async function stored(
  disk: Disk,
  changes: DiskChanges,
  path: string,
  content: Content,
  changeTo: ChangeTo,
  begin: (place: Place) => Promise<TemporaryFile>,
  finish: (file: TemporaryFile) => Promise<void>,
): Promise<WriteResult> {
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
  const { directory, file } = await beginUpload(disk, path, begin);
  try {
    const byteLength = await file.receive(all());
    await finish(file);
    return await changes.run(path, changeTo({ temporary: file.path, byteLength, checksum }), true);
  } finally {
    await file.remove();
    await leaveDirectory(directory);
  }
}

async function beginUpload(
  disk: Disk,
  path: string,
  begin: (place: Place) => Promise<TemporaryFile>,
): Promise<{ directory: Place["directory"]; file: TemporaryFile }> {
  for (let attempt = 1; ; attempt += 1) {
    const place = await openPlace(disk, path);
    try {
      return { directory: place.directory, file: await begin(place) };
    } catch (error) {
      await leaveDirectory(place.directory);
      // The directory was removed since it was opened.
      if (errnoOf(error) !== "ENOENT" || attempt === maxAttempts) throw error;
    }
  }
}
