import { StorageError, type StoredEntry } from "../storage.ts";
import type { KeyPage } from "./object-store.ts";
import { isSpeakable, type Places, slashed, unslashed } from "./places.ts";
import type { DeletesOnCondition } from "./probe.ts";

/** Keys that the store is asked for at once: as many as it gives. */
const pageKeys = 1000;

/** The names in a directory, a page of the store at a time. */
export async function* list(
  places: Places,
  path: string,
  deletesOnCondition: DeletesOnCondition,
): AsyncGenerator<StoredEntry, void, undefined> {
  const prefix = places.keyOf(slashed(path));
  const nameOf = (key: string): string => unslashed(key.slice(prefix.length));
  const mayHoldOnlyDeleted = !deletesOnCondition;
  let isThere = path === "/";
  let next: string | undefined;
  do {
    const how = { MaxKeys: pageKeys, Delimiter: "/", ...(next !== undefined && { ContinuationToken: next }) } as const;
    const page: KeyPage = await places.store.list(prefix, how);
    isThere ||= page.objects.length > 0 || page.prefixes.length > 0;
    if (!isThere) throw new StorageError("not-found");
    for (const object of page.objects) {
      const name = nameOf(object.key);
      if (object.key === prefix || (await places.isTombstone(object))) continue;
      if (isSpeakable(name)) yield { name, type: "file" };
      else places.cannotShow(path, object.key);
    }
    for (const key of page.prefixes) {
      const name = nameOf(key);
      if (!isSpeakable(name)) places.cannotShow(path, key);
      else if (!mayHoldOnlyDeleted || (await places.firstBelow(slashed(path) + name)))
        yield { name, type: "directory" };
    }
    next = page.next;
  } while (next !== undefined);
}
