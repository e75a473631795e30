import { StorageError } from "../storage.ts";
import type { ObjectStore } from "./object-store.ts";
import { isAbsent, isLostRace, isOutage } from "./store-error.ts";
import { newMark, newWrite } from "./stored-object.ts";

export const otherTag = '"00000000000000000000000000000000"';
const content = Buffer.from("tried out");

/**
 * Tries out each condition that changes rely on. Throws where one is ignored without which changes would be lost. Gives
 * whether the store refuses to delete another version than the one named; if not, a file cannot just be deleted.
 */
export async function probe(store: ObjectStore, key: string): Promise<boolean> {
  const write = newWrite(newMark(), undefined);
  const other = { IfMatch: otherTag };
  const none = { IfNoneMatch: "*" } as const;
  const absentKey = `${key}-absent`;
  const made = await store.put(key, content, write, none);
  try {
    await requireRefusal("PUT with If-None-Match", store.put(key, content, write, none));
    await requireRefusal("PUT with If-Match", store.put(key, content, write, other));
    const replacing = store.put(absentKey, content, write, other).then(() => store.remove(absentKey));
    await requireRefusal("PUT with If-Match where there is nothing", replacing);
    const stale = { ...made, etag: otherTag };
    const reading = store.getSpan(key, { start: 0, end: 0 }, stale).then((body) => void body.destroy());
    await requireRefusal("GET with If-Match", reading);
    const upload = await store.beginUpload(key, write, false);
    try {
      const copying = store.copyPart(upload, 1, stale);
      await requireRefusal("UploadPartCopy with x-amz-copy-source-if-match", copying);
      await store.learnOfCopies(store.copyPart(upload, 1, made));
      const parts = [await store.uploadPart(upload, 1, content)];
      const name = "CompleteMultipartUpload with If-";
      await requireRefusal(`${name}None-Match`, store.completeUpload(upload, parts, none));
      await requireRefusal(`${name}Match`, store.completeUpload(upload, parts, other));
    } finally {
      await store.abortUpload(upload).catch(() => {}); // ended, where the store made an object of it
    }
    return await isRefused(store.remove(key, stale), (error) => !isOutage(error) && !isForbidden(error));
  } finally {
    await store.remove(key);
  }
}

async function requireRefusal(what: string, request: Promise<unknown>): Promise<void> {
  if (await isRefused(request, () => false)) return;
  throw new Error(`it ignores the condition of ${what}, without which changes would be lost`);
}

/** Whether a request failed because of its condition. `isUnable`: other errors of stores without conditions. */
async function isRefused(request: Promise<unknown>, isUnable: (error: unknown) => boolean): Promise<boolean> {
  try {
    await request;
    return false;
  } catch (error) {
    if (isLostRace(error) || isAbsent(error)) return true;
    if (isUnable(error)) return false;
    throw error;
  }
}

export function isForbidden(error: unknown): boolean {
  return error instanceof StorageError && error.code === "forbidden";
}
