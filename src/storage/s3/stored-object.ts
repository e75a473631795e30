import { createHash, randomBytes } from "node:crypto";
import { contentTypeTable } from "../../http/content-type.ts";
import type { StoredFields, StoredStat } from "../storage.ts";

/** What an object has beside its content, by the names in the store's commands. It outlives changes of content. */
export interface Properties {
  readonly ContentType?: string | undefined;
  readonly ContentEncoding?: string | undefined;
  readonly ContentLanguage?: string | undefined;
  readonly ContentDisposition?: string | undefined;
  readonly CacheControl?: string | undefined;
  readonly Metadata?: Readonly<Record<string, string>> | undefined;
}

export interface StoredObject {
  readonly stat: StoredStat;
  /** The store's own tag, quotes included: the name of this content in conditions. */
  readonly etag: string;
  /** The writes that led to it, the last one first; empty if another program wrote it. See {@link newWrite}. */
  readonly writes: readonly string[];
  /** Whether it stands for a file that was deleted, in a store that cannot delete on a condition. */
  readonly isTombstone?: boolean;
  readonly properties: Properties;
}

export interface NewWrite extends Pick<StoredObject, "writes" | "isTombstone" | "properties"> {
  readonly modified: Date;
}

export interface ObjectHeaders extends Properties {
  readonly ETag?: string | undefined;
  readonly LastModified?: Date | undefined;
}

const typeOf = contentTypeTable({});
/** What stores and tools say where they know no type. */
const unknownTypes: ReadonlySet<string> = new Set(["binary/octet-stream", "application/octet-stream", ""]);
/** No codings of the content; the first is what some stores keep of how it was sent. */
const noCodings: ReadonlySet<string> = new Set(["aws-chunked", "identity", ""]);

/** Metadata entry of objects: when it was written, and the latest writes (`x-amz-meta-filement`). */
const entryName = "filement";
/** Metadata entry of tombstones (`x-amz-meta-filement-deleted`). */
const deletedName = "filement-deleted";
/** Content of tombstones, for those who find one with another tool. */
export const tombstone: Uint8Array = Buffer.from(
  "A file was deleted here. This stays because the store has no conditional DELETE.\n",
);

/** Former writes that an object remembers: so many may follow one whose answer was lost before its maker looks. */
const maxWrites = 32;
/** Stands before writes that others may have come between. */
const unknownWrites = "~";

/** The mark of a change: all writes by which it is tried have the same one. */
export function newMark(): string {
  return randomBytes(6).toString("base64url");
}

export function newWrite(mark: string, before: StoredObject | undefined): NewWrite {
  const former = before?.writes.length ? before.writes : [startOf(before)];
  return { writes: [mark, ...former].slice(0, maxWrites), modified: new Date(), properties: before?.properties ?? {} };
}

/** A write that is named before it is known what it is on top of, which is likely `before`, or what has come of it. */
export function earlyWrite(mark: string, before: StoredObject | undefined): NewWrite {
  const writes = [mark, unknownWrites, ...(before?.writes ?? [])].slice(0, maxWrites);
  return { writes, modified: new Date(), properties: before?.properties ?? {} };
}

/** What the first write is on top of: nothing, or what another program wrote. */
function startOf(before: StoredObject | undefined): string {
  return before ? `=${createHash("sha256").update(before.stat.version).digest("base64url").slice(0, 8)}` : "-";
}

export function propertiesWith({ properties, writes, modified, isTombstone }: NewWrite, key: string): Properties {
  const own = { [entryName]: [modified.getTime().toString(36), ...writes].join(" ") };
  const Metadata = { ...properties.Metadata, ...own, ...(isTombstone && { [deletedName]: "true" }) };
  return { ...properties, ContentType: properties.ContentType ?? typeOf(key), Metadata };
}

export function writtenObject(write: NewWrite, etag: string, size: number): StoredObject {
  const { writes, modified, isTombstone = false, properties } = write;
  return { stat: fileStat(size, modified, etag, writes[0] ?? "", properties), etag, writes, isTombstone, properties };
}

export function objectOf(headers: ObjectHeaders, size: number, key: string): StoredObject {
  const { ETag: etag = "", LastModified: lastModified = new Date(0), Metadata = {} } = headers;
  const properties = propertiesOf(headers, key);
  const [time = "", ...writes] = (Metadata[entryName] ?? "").split(" ");
  const modified = new Date(Number.parseInt(time, 36));
  if (writes.length > 0 && !Number.isNaN(modified.getTime())) {
    return writtenObject({ writes, modified, isTombstone: deletedName in Metadata, properties }, etag, size);
  }
  const name = lastModified.getTime().toString(36);
  return { stat: fileStat(size, lastModified, etag, name, properties), etag, writes: [], properties };
}

/** Whether all that happened since a version is known: each change since then is on top of the one before. */
export function isKnownSince(before: StoredObject | undefined, now: StoredObject): boolean {
  if (before?.stat.version === now.stat.version) return true;
  const known = now.writes.includes(unknownWrites)
    ? now.writes.slice(0, now.writes.indexOf(unknownWrites))
    : now.writes;
  return known.includes(before?.writes[0] ?? startOf(before));
}

/** The store's tag names the content, and comes back with it; the write does not. */
function fileStat(size: number, modified: Date, etag: string, write: string, properties: Properties): StoredStat {
  const fields = fieldsOf(properties);
  const [, plain] = /^"?([\w-]{1,64})"?$/.exec(etag) ?? [];
  const content = plain ?? createHash("sha256").update(etag).digest("base64url").slice(0, 32);
  return { type: "file", size, modified, version: `${content}-${write}`, ...(fields && { fields }) };
}

/** Directories have no versions of their own: they are prefixes. */
export function directoryStat(path: string, modified: Date): StoredStat {
  return { type: "directory", size: 0, modified, version: createHash("sha256").update(path).digest("base64url") };
}

/** What another program has stored with an object: a type only where it is not the one that the key has anyway. */
function propertiesOf(answer: Properties, key: string): Properties {
  const { ContentType = "", ContentEncoding = "", Metadata = {} } = answer;
  const { ContentLanguage, ContentDisposition, CacheControl } = answer;
  const codings = ContentEncoding.split(",").filter((coding) => !noCodings.has(coding.trim().toLowerCase()));
  return {
    ContentType: unknownTypes.has(ContentType) || ContentType === typeOf(key) ? undefined : ContentType,
    ContentEncoding: codings.length > 0 ? codings.join(",").trim() : undefined,
    ContentLanguage,
    ContentDisposition,
    CacheControl,
    Metadata: Object.fromEntries(Object.entries(Metadata).filter(([name]) => !name.startsWith(entryName))),
  };
}

function fieldsOf(properties: Properties): StoredFields | undefined {
  const fields = {
    "content-type": properties.ContentType,
    "content-encoding": properties.ContentEncoding,
    "content-language": properties.ContentLanguage,
    "content-disposition": properties.ContentDisposition,
    "cache-control": properties.CacheControl,
  };
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}
