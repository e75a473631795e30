import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import {
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
import { closeDirectory, createIn, type Directory, Elsewhere, openDirectory } from "./directory.ts";
import type { Disk } from "./disk.ts";
import { errnoOf } from "./file-record.ts";
import type { ReceivedContent } from "./jobs.ts";
import { attempted, call, inPool, recordAt, writeAll } from "./system-calls.ts";
import { temporaryFileName } from "./temporary-names.ts";
import { modeOfSuccessor } from "./write-programs.ts";

/** Content up to here is held in memory; more is received into a temporary file. */
const maxHeldBytes = 64 * 1024;

/** Stores content as a file, or appends it. It is received first: a slow sender delays no other change. */
export async function write(
  disk: Disk,
  changes: DiskChanges,
  path: string,
  content: Content,
  {
    check,
    createParents = true,
    exclusive = false,
    isAppend = false,
  }: WriteOptions & { readonly isAppend?: boolean } = {},
): Promise<WriteResult> {
  const isDirectory = path.endsWith("/");
  if (isDirectory && !isAppend) throw new StorageError("is-directory");
  /** Throws where what is there forbids it: asked before much content is received, too. */
  const judge = (isThere: boolean, hasParent: boolean): void => {
    if (isAppend && (isDirectory || !isThere)) throw new StorageError("not-found");
    if (exclusive && isThere) throw new StorageError("exists");
    if (!createParents && !hasParent) throw new StorageError("no-parent");
  };
  const changeTo =
    (received: Uint8Array | ReceivedContent): Change =>
    (draft) => {
      judge(draft.stat !== undefined, draft.hasParent);
      check?.(draft.stat);
      if (!isAppend) draft.replace(received);
      else if (received.byteLength > 0) draft.append(received);
    };
  const held: Uint8Array[] = [];
  let length = 0;
  let upload: Upload | undefined;
  const cleanUp = async (): Promise<void> => {
    const ended = upload;
    upload = undefined;
    await ended?.close();
  };
  try {
    for await (const piece of content) {
      held.push(piece);
      length += piece.byteLength;
      if (length <= maxHeldBytes) continue;
      upload ??= await beginUpload(disk, path, judge, isAppend);
      for (const each of held.splice(0)) await upload.add(each);
    }
    if (upload) return await changes.run(path, changeTo(await upload.end(disk.sync && !isAppend)), cleanUp);
    return await changes.run(path, changeTo(held.length === 1 && held[0] ? held[0] : Buffer.concat(held)));
  } finally {
    await cleanUp();
  }
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

/** Checks whether something could be stored now, by a byte under a name that clients do not see; throws if not. */
export async function check({ paths, sync }: Disk): Promise<void> {
  await paths.requireRoot();
  const upload = await Upload.begin(paths.root, 0o600, 0);
  try {
    await upload.add(Buffer.of(0));
    await upload.end(sync);
  } finally {
    await upload.close();
  }
}

async function beginUpload(
  { paths }: Disk,
  path: string,
  judge: (isThere: boolean, hasParent: boolean) => void,
  isAppend: boolean,
): Promise<Upload> {
  const { real, directory, missing } = await paths.target(path);
  const there = missing.length > 0 ? undefined : await inPool(recordAt(real));
  judge(there !== undefined, missing.length === 0);
  return isAppend ? Upload.begin(directory, 0o600, recordBytes) : Upload.begin(directory, modeOfSuccessor(there), 0);
}

/** Content that is received into a temporary file: in the target's own directory, so that it can be renamed. */
class Upload {
  readonly #directory: Directory;
  readonly #path: string;
  readonly #file: number;
  /** Where the content begins. */
  readonly #start: number;
  #byteLength = 0;
  #checksum = 0;
  #isOpen = true;

  private constructor(directory: Directory, name: string, file: number, start: number) {
    this.#directory = directory;
    this.#path = directory.at(name);
    this.#file = file;
    this.#start = start;
  }

  static async begin(real: string, mode: number, start: number): Promise<Upload> {
    const directory = await inPool(openDirectory(real));
    const name = temporaryFileName();
    try {
      return new Upload(directory, name, await inPool(createIn(directory, name, mode)), start);
    } catch (error) {
      await inPool(closeDirectory(directory));
      throw errnoOf(error) === "ENOENT" ? new Elsewhere() : error; // removed since it was opened
    }
  }

  async add(piece: Uint8Array): Promise<void> {
    await inPool(writeAll(this.#file, piece, this.#start + this.#byteLength));
    this.#byteLength += piece.byteLength;
    if (this.#start > 0) this.#checksum = crc32(piece, this.#checksum); // of an append: its note has that
  }

  async end(isSynced: boolean): Promise<ReceivedContent> {
    if (isSynced) await inPool(call.fsync(this.#file));
    this.#isOpen = false;
    await inPool(call.close(this.#file)); // some file systems tell only now that they could not keep the content
    return { temporary: this.#path, byteLength: this.#byteLength, checksum: this.#checksum };
  }

  /** Removes the file where it still has its name. Never rejects: what stays is invisible, and goes at a start. */
  async close(): Promise<void> {
    if (this.#isOpen) await inPool(attempted(call.close(this.#file)));
    await inPool(attempted(call.unlink(this.#path)));
    await inPool(closeDirectory(this.#directory));
  }
}
