import { basename, dirname } from "node:path";
import { text } from "node:stream/consumers";
import { Disk } from "../../src/storage/disk/disk.ts";
import { look, openFile } from "../../src/storage/disk/look.ts";
import { DiskPaths } from "../../src/storage/disk/paths.ts";
import type { Content, FileUpdate, OpenFile, Storage, StoredEntry, StoredStat } from "../../src/storage/storage.ts";
import { deferred } from "../helpers/deferred.ts";

/** A disk that is only looked at. */
export function lookedAt(root: string): Disk {
  return new Disk(new DiskPaths(root, "within-root"), false, false);
}

/** A file opened on the disk. */
export async function fileAt(real: string): Promise<OpenFile> {
  const file = await look(lookedAt(dirname(real)), `/${basename(real)}`, openFile);
  if (file === undefined) throw new Error(`${real} should be a file`);
  return file;
}

/** Content that arrives in these pieces. */
export async function* content(...pieces: ReadonlyArray<string | Uint8Array>): Content {
  for (const piece of pieces) yield typeof piece === "string" ? Buffer.from(piece) : piece;
}

/** Content whose end is held back until `finish` is called; `hasBegun` when its first piece was taken. */
export function slowContent(piece: string | Uint8Array): { slow: Content; hasBegun: Promise<void>; finish(): void } {
  const [begun, end] = [deferred(), deferred()];
  async function* slow(): Content {
    yield* content(piece);
    begun.resolve();
    await end.promise;
  }
  return { slow: slow(), hasBegun: begun.promise, finish: end.resolve };
}

/** Content that breaks off with this error after its first piece. */
export async function* brokenContent(piece: string, error: Error): Content {
  yield Buffer.from(piece);
  throw error;
}

/** An edit that always reads what it edits. */
export function withBytes(
  edit: (bytes: Uint8Array, stat: StoredStat) => Promise<Uint8Array | undefined> | Uint8Array | undefined,
): FileUpdate {
  return async (read, stat) => edit(await read(), stat);
}

/** The text of a stored file; `undefined` where there is none. */
export async function textAt(storage: Storage, path: string): Promise<string | undefined> {
  const file = await storage.open(path);
  if (file === undefined) return undefined;
  const stream = file.stream();
  await file.close();
  return text(stream);
}

/** All entries of a directory, by name. */
export async function entriesAt(storage: Storage, path: string): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  for await (const entry of storage.list(path)) entries.push(entry);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The names in a directory, sorted. */
export async function namesAt(storage: Storage, path: string): Promise<string[]> {
  return (await entriesAt(storage, path)).map(({ name }) => name);
}
