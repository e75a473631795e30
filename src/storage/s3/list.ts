import { Buffer } from "node:buffer";
import { StorageError, type StoredEntry } from "../storage.ts";
import type { KeyPage, ListedObject, ListOptions } from "./object-store.ts";
import { isSpeakable, type Places, slashed, unslashed } from "./places.ts";
import type { DeletesOnCondition } from "./probe.ts";

/** Keys that the store is asked for at once: as many as it gives. */
const pageKeys = 1000;

/** Comes after every other character, in keys, too. */
const lastCharacter = "\u{10ffff}";

/** The names in a directory in key order, a page of the store at a time; with `after`, those behind that entry. */
export async function* list(
  places: Places,
  path: string,
  deletesOnCondition: DeletesOnCondition,
  after?: StoredEntry,
): AsyncGenerator<StoredEntry, void, undefined> {
  const prefix = places.keyOf(slashed(path));
  const mayHoldOnlyDeleted = !deletesOnCondition;
  let isThere = path === "/" || after !== undefined;
  let from: ListOptions = after ? { StartAfter: prefix + lastKeyOf(after) } : {};
  for (;;) {
    const page: KeyPage = await places.store.list(prefix, { MaxKeys: pageKeys, Delimiter: "/", ...from });
    isThere ||= page.objects.length > 0 || page.prefixes.length > 0;
    if (!isThere) throw new StorageError("not-found");
    for (const { key, object } of inOrder(page)) {
      const name = unslashed(key.slice(prefix.length));
      if (key === prefix || (object && (await places.isTombstone(object)))) continue;
      if (!isSpeakable(name)) places.cannotShow(path, key);
      else if (object) yield { name, type: "file" };
      else if (!mayHoldOnlyDeleted || (await places.firstBelow(slashed(path) + name)))
        yield { name, type: "directory" };
    }
    if (page.next === undefined) return;
    from = { ContinuationToken: page.next };
  }
}

function lastKeyOf({ name, type }: StoredEntry): string {
  return type === "directory" ? `${name}/${lastCharacter}` : name;
}

/** Files and directories of a page in the order of the store, which is that of the bytes of keys. */
function inOrder({ objects, prefixes }: KeyPage): readonly { readonly key: string; readonly object?: ListedObject }[] {
  const keys = [...objects.map((object) => ({ key: object.key, object })), ...prefixes.map((key) => ({ key }))];
  return keys
    .map((each) => ({ ...each, bytes: Buffer.from(each.key) }))
    .sort((one, other) => Buffer.compare(one.bytes, other.bytes));
}
