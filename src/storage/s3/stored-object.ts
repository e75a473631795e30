import { createHash, randomBytes } from "node:crypto";
import type { StoredStat } from "../storage.ts";

/** What is known of an object. */
export interface StoredObject {
  readonly stat: StoredStat;
  /** The store's own tag, quotes included: the name of this content in conditions. */
  readonly etag: string;
  /** The writes that led to it, the last one first; none where another program wrote it. */
  readonly writes: readonly string[];
}

/** A write that is to be made. */
export interface NewWrite {
  readonly writes: readonly string[];
  readonly modified: Date;
}

/** What a store answers about an object. */
export interface ObjectHeaders {
  readonly ETag?: string | undefined;
  readonly LastModified?: Date | undefined;
  readonly Metadata?: Readonly<Record<string, string>> | undefined;
}

/** Metadata entry of objects: when it was written, and the latest writes (`x-amz-meta-filement`). */
const entryName = "filement";

/**
 * Former writes that an object remembers. A write whose answer was lost may have been followed by others before its maker
 * looks again: as long as it is found among these, it is known to have been made, and is not made twice.
 */
const maxWrites = 16;

/** A write on top of what is stored. */
export function newWrite(before: StoredObject | undefined): NewWrite {
  const id = randomBytes(6).toString("base64url");
  return { writes: [id, ...(before?.writes ?? [])].slice(0, maxWrites), modified: new Date() };
}

/** The metadata that an object of this write carries. */
export function metadataOf({ writes, modified }: NewWrite): Record<string, string> {
  return { [entryName]: [modified.getTime().toString(36), ...writes].join(" ") };
}

/** The object that a write has left. */
export function writtenObject(write: NewWrite, etag: string, size: number): StoredObject {
  const { writes, modified } = write;
  return { stat: fileStat(size, modified, etag, writes[0] ?? ""), etag, writes };
}

/** The object that the store tells of. */
export function objectOf(headers: ObjectHeaders, size: number): StoredObject {
  const { ETag: etag = "", LastModified: lastModified = new Date(0), Metadata = {} } = headers;
  const [time = "", ...writes] = (Metadata[entryName] ?? "").split(" ");
  const written = Number.parseInt(time, 36);
  if (writes.length === 0 || Number.isNaN(written)) {
    return { stat: fileStat(size, lastModified, etag, lastModified.getTime().toString(36)), etag, writes: [] };
  }
  return { stat: fileStat(size, new Date(written), etag, writes[0] ?? ""), etag, writes };
}

/** Whether an object is what a write left, or has come of it. */
export function containsWrite({ writes }: StoredObject, { writes: [id = ""] }: NewWrite): boolean {
  return writes.includes(id);
}

/** The store's tag names the content, and comes back with it; the write does not. */
function fileStat(size: number, modified: Date, etag: string, write: string): StoredStat {
  return { type: "file", size, modified, version: `${tokenOf(etag)}-${write}` };
}

const plainTag = /^"?([\w-]{1,64})"?$/;

function tokenOf(etag: string): string {
  return plainTag.exec(etag)?.[1] ?? createHash("sha256").update(etag).digest("base64url").slice(0, 32);
}

/** Directories have no versions of their own: they are prefixes. */
export function directoryStat(modified: Date): StoredStat {
  return { type: "directory", size: 0, modified, version: "directory" };
}
