import { Buffer } from "node:buffer";
import {
  type Content,
  type FileUpdate,
  StorageError,
  type StoredStat,
  type WriteOptions,
  type WriteResult,
} from "../storage.ts";
import { Draft, WaitingChanges } from "../waiting-changes.ts";
import { type Changes, requirePlain, type Tried } from "./changes.ts";
import type { Part } from "./object-store.ts";
import type { ObjectReader } from "./open-object.ts";
import { type Found, type FoundFile, objectAt } from "./places.ts";
import { earlyWrite, type NewWrite, newMark, newWrite } from "./stored-object.ts";
import { Upload } from "./upload.ts";

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
  const look = (): Promise<Found> => places.look(path);
  const replaceable = (found: Found): Promise<FoundFile | undefined> =>
    requireReplaceable(changes, path, found, options);

  const mark = newMark();
  const ahead = (): NewWrite => unencoded(earlyWrite(mark, objectAt(places.recent(path))));
  const upload = new Upload(places.store, key, ahead);
  try {
    await upload.receive(content, async () => replaceable(await look())); // before anything is sent in vain
    const { bytes } = upload;
    let first: Part | undefined;
    const attempt = async (found: Found): Promise<Tried<WriteResult>> => {
      const before = await replaceable(found);
      options.check?.(before?.object.stat);
      return changes.commit(
        { path, mark, before: objectAt(found), bytes },
        async (condition) => {
          if (bytes) return places.store.put(key, bytes, unencoded(newWrite(mark, objectAt(found))), condition);
          first ??= await upload.put(1, upload.first);
          return upload.complete([first], upload.size, condition);
        },
        ({ stat }) => ({ created: before === undefined, stat }),
      );
    };
    return await changes.run(path, look, attempt, mark);
  } finally {
    await upload.abort();
  }
}

/** New content is stored as it came. */
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
  const file = found.kind === "file" ? found : undefined;
  if (file && exclusive) throw new StorageError("exists");
  if (!file) await places.requireParent(path, createParents);
  return file;
}

/** Stores updates that wait together at once: reads, edits and puts, again if the file was changed in between. */
export function waitingUpdates(changes: Changes, reader: ObjectReader): WaitingChanges {
  const { places } = changes;
  return new WaitingChanges(async (path, group) => {
    const key = places.keyOf(path);
    const look = async (): Promise<Found> =>
      (path.endsWith("/") ? undefined : await reader.read(path)) ?? places.look(path);
    const stored = await changes.run(path, look, async (found, mark): Promise<Tried<StoredStat | undefined>> => {
      if (found.kind !== "file") throw await places.missing(path, found);
      const current = found.bytes ? found : await reader.read(path);
      if (!current?.bytes) return { again: { kind: "nothing" } };
      const { object, bytes } = current;
      requirePlain(object);
      const draft = new Draft(object.stat, async () => new Uint8Array(bytes));
      await group.apply(draft);
      if (!draft.outcome) return { unchanged: undefined };
      const content = Buffer.from(await draft.bytes());
      return changes.commit(
        { path, mark, before: object, bytes: content },
        (condition) => places.store.put(key, content, newWrite(mark, object), condition),
        ({ stat }) => stat,
      );
    });
    await group.done(stored);
  });
}

export function update(
  updates: WaitingChanges,
  path: string,
  edit: FileUpdate,
  made?: (stat: StoredStat) => void,
): Promise<WriteResult & { readonly changed: boolean }> {
  return updates.run(path, async (draft) => {
    const { stat } = draft;
    const edited = stat && (await edit(() => draft.bytes(), stat));
    if (!edited) return;
    const after = draft.replace(edited);
    made?.(after);
  });
}
