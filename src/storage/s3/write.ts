import { Buffer } from "node:buffer";
import {
  type CommitCheck,
  type Content,
  StorageError,
  type StoredStat,
  type WriteOptions,
  type WriteResult,
} from "../storage.ts";
import { Draft, WaitingChanges } from "../waiting-changes.ts";
import type { Changes, Tried } from "./changes.ts";
import type { ObjectStore, Part } from "./object-store.ts";
import type { ObjectReader } from "./open-object.ts";
import { type Found, type FoundFile, objectAt } from "./places.ts";
import { earlyWrite, type NewWrite, newMark, newWrite, type StoredObject } from "./stored-object.ts";
import { Upload } from "./upload.ts";

/** Smallest part of an object that others follow: a limit of S3. Shorter files are sent again. */
const minPartBytes = 5 * 1024 * 1024;
/** The most that a store copies at once. */
const maxCopyBytes = 5 * 1024 * 1024 * 1024;

/** Stores content as a file: one request where it is short, an upload in parts where it is long. */
export async function write(
  changes: Changes,
  path: string,
  content: Content,
  options: WriteOptions = {},
): Promise<WriteResult> {
  if (path.endsWith("/")) throw new StorageError("is-directory");
  const { places } = changes;
  const key = places.keyOf(path);
  const mark = newMark();
  const upload = new Upload(places.store, key, () => unencoded(earlyWrite(mark, objectAt(places.recent(path)))));
  try {
    // Before anything is sent in vain.
    await upload.receive(content, async () => requireReplaceable(changes, path, await places.look(path), options));
    const { bytes } = upload;
    let first: Part | undefined;
    const attempt = async (found: Found): Promise<Tried<WriteResult>> => {
      const before = await requireReplaceable(changes, path, found, options);
      options.check?.(before?.object.stat);
      return changes.commit(
        { path, mark, before: objectAt(found), bytes },
        async (condition, store) => {
          if (bytes) return store.put(key, bytes, unencoded(newWrite(mark, objectAt(found))), condition);
          first ??= await upload.put(1, upload.first, store);
          return upload.complete([first], upload.size, condition, store);
        },
        ({ stat }) => ({ created: before === undefined, stat }),
      );
    };
    return await changes.run(path, attempt, mark);
  } finally {
    await upload.abort();
  }
}

function unencoded(write: NewWrite): NewWrite {
  return { ...write, properties: { ...write.properties, ContentEncoding: undefined } };
}

/** The file that would be replaced, if there is one. Throws where the options, or a directory, forbid it. */
async function requireReplaceable(
  { places }: Changes,
  path: string,
  found: Found,
  { createParents = true, exclusive = false }: WriteOptions,
): Promise<FoundFile | undefined> {
  if (found.kind === "directory") throw new StorageError("is-directory");
  if (found.kind === "nothing") return void (await places.requireParent(path, createParents));
  if (exclusive) throw new StorageError("exists");
  return found;
}

/** Adds content to the end of a file. The store copies what is there already, where that is long. */
export async function append(
  changes: Changes,
  reader: ObjectReader,
  path: string,
  content: Content,
  check: CommitCheck | undefined,
): Promise<WriteResult> {
  const { places } = changes;
  const key = places.keyOf(path);
  const recent = places.recent(path);
  const known = recent?.kind === "file" ? recent : await places.look(path);
  if (known.kind !== "file") throw await places.missing(path, known);

  const mark = newMark();
  const upload = new Upload(places.store, key, () => earlyWrite(mark, objectAt(places.recent(path))), true);
  try {
    await upload.receive(content);
    const attempt = async (found: Found): Promise<Tried<WriteResult>> => {
      if (found.kind !== "file") throw await places.missing(path, found);
      const { object } = found;
      const { stat } = object;
      check?.(stat);
      requirePlain(object);
      if (upload.size === 0) return { unchanged: { created: false, stat } };
      if (stat.size > maxCopyBytes) throw new StorageError("full", new Error("the store cannot copy the file"));

      const short = stat.size < minPartBytes ? await reader.read(path) : undefined;
      if (stat.size < minPartBytes && short?.object.stat.version !== stat.version) return "again";
      const whole = short && upload.bytes && Buffer.concat([short.bytes, upload.bytes]);
      return changes.commit(
        { path, mark, before: object, bytes: whole },
        async (condition, store) => {
          if (whole) return store.put(key, whole, newWrite(mark, object), condition);
          const before = short
            ? [await upload.put(1, Buffer.concat([short.bytes, upload.first]), store)]
            : [await upload.copy(1, object, store), await upload.put(2, upload.first, store)];
          return upload.complete(before, stat.size + upload.size, condition, store);
        },
        (stored) => ({ created: false, stat: stored.stat }),
      );
    };
    return await changes.run(path, attempt, mark);
  } finally {
    await upload.abort();
  }
}

/** Stores updates that wait together at once: reads, edits and puts, again if the file was changed in between. */
export function waitingUpdates(changes: Changes, reader: ObjectReader): WaitingChanges {
  const { places } = changes;
  return new WaitingChanges(async (path, group) => {
    const key = places.keyOf(path);
    const look = async (store: ObjectStore): Promise<Found> =>
      (path.endsWith("/") ? undefined : await reader.read(path, store)) ?? places.look(path, store);
    const attempt = async (found: Found, mark: string): Promise<Tried<StoredStat | undefined>> => {
      if (found.kind !== "file") throw await places.missing(path, found);
      const current = found.bytes ? found : await reader.read(path);
      if (!current?.bytes) return "again";
      const { object, bytes } = current;
      requirePlain(object);
      const draft = new Draft(object.stat, async () => new Uint8Array(bytes));
      await group.apply(draft);
      if (!draft.outcome) return { unchanged: undefined };
      const content = Buffer.from(await draft.bytes());
      return changes.commit(
        { path, mark, before: object, bytes: content },
        (condition, store) => store.put(key, content, newWrite(mark, object), condition),
        ({ stat }) => stat,
      );
    };
    await group.done(await changes.run(path, attempt, newMark(), look));
  });
}

/** Throws for an object whose content is stored in a coding: a part of it cannot be changed. */
function requirePlain({ properties }: StoredObject): void {
  if (properties.ContentEncoding !== undefined) throw new StorageError("encoded");
}
