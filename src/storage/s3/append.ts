import { Buffer } from "node:buffer";
import type { ByteSpan, CommitCheck, Content, WriteResult } from "../storage.ts";
import { type Changes, requirePlain, type Tried } from "./changes.ts";
import type { Part } from "./object-store.ts";
import type { ObjectReader } from "./open-object.ts";
import { type Found, objectAt } from "./places.ts";
import { earlyWrite, newMark, newWrite, type StoredObject } from "./stored-object.ts";
import { Upload } from "./upload.ts";

/** Smallest part of an object that others follow: a limit of S3. Shorter files are sent again. */
const minPartBytes = 5 * 1024 * 1024;
const maxCopyBytes = 4 * 1024 * 1024 * 1024;

const noContent = new Uint8Array();

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
  const look = (): Promise<Found> => places.look(path);
  const recent = places.recent(path);
  const known = recent?.kind === "file" ? recent : await look();
  if (known.kind !== "file") throw await places.missing(path, known);

  const mark = newMark();
  const upload = new Upload(places.store, key, () => earlyWrite(mark, objectAt(places.recent(path))));
  try {
    await upload.receive(content);
    const attempt = async (found: Found): Promise<Tried<WriteResult>> => {
      if (found.kind !== "file") throw await places.missing(path, found);
      const { object } = found;
      check?.(object.stat);
      requirePlain(object);
      const { stat } = object;
      if (upload.size === 0) return { unchanged: { created: false, stat } };

      const short = stat.size < minPartBytes ? await reader.read(path) : undefined;
      if (stat.size < minPartBytes && short?.object.stat.version !== stat.version) return { again: await look() };
      const whole = short && upload.bytes && Buffer.concat([short.bytes ?? noContent, upload.bytes]);
      return changes.commit(
        { path, mark, before: object, bytes: whole },
        async (condition) => {
          if (whole) return places.store.put(key, whole, newWrite(mark, object), condition);
          const before = await partsBefore(upload, object, short?.bytes);
          return upload.complete(before, stat.size + upload.size, condition);
        },
        (stored) => ({ created: false, stat: stored.stat }),
      );
    };
    return await changes.run(path, look, attempt, mark);
  } finally {
    await upload.abort();
  }
}

/** The parts that go before the rest of the content: the file as it is, and the first part of what is added. */
async function partsBefore(upload: Upload, object: StoredObject, bytes: Uint8Array | undefined): Promise<Part[]> {
  if (bytes) return [await upload.put(1, Buffer.concat([bytes, upload.first]))];
  const parts: Part[] = [];
  for (const span of spansOf(object.stat.size)) parts.push(await upload.copy(parts.length + 1, object, span));
  return [...parts, await upload.put(parts.length + 1, upload.first)];
}

/** Spans of about the same length, none of them too long, or too short, to be a part. */
function spansOf(size: number): ByteSpan[] {
  const count = Math.ceil(size / maxCopyBytes);
  const length = Math.ceil(size / count);
  return Array.from({ length: count }, (_, index) => ({
    start: index * length,
    end: Math.min(size, (index + 1) * length) - 1,
  }));
}
