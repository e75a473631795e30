import { type CommitCheck, StorageError } from "../storage.ts";
import type { Changes, Sending, Tried } from "./changes.ts";
import type { Condition } from "./object-store.ts";
import { type Found, type Places, parentOf, slashed, unslashed } from "./places.ts";
import type { DeletesOnCondition } from "./probe.ts";
import { isKnownSince, newWrite, type StoredObject, tombstone } from "./stored-object.ts";

export async function remove(
  changes: Changes,
  path: string,
  check: CommitCheck | undefined,
  deletesOnCondition: () => Promise<DeletesOnCondition>,
): Promise<void> {
  if (path === "/") throw new StorageError("forbidden");
  const { places } = changes;
  const look = (): Promise<Found> => places.look(path);
  await changes.run(unslashed(path), look, async (found, mark): Promise<Tried<void>> => {
    if (found.kind === "nothing") throw new StorageError("not-found");
    const isFull = found.kind === "directory" && (await places.firstBelow(path, false)) !== undefined;
    if (isFull) throw new StorageError("not-empty");
    check?.(found.kind === "file" ? found.object.stat : found.stat);
    if (found.kind === "directory") return removal(places, path, undefined);
    if (await deletesOnCondition()) return removal(places, path, found.object);
    // What comes between a look and a DELETE would be lost. A tombstone stays: others may write in its place at any
    // time.
    const write = { ...newWrite(mark, found.object), isTombstone: true, properties: {} };
    const bury = async (condition: Condition): Promise<StoredObject> => {
      await places.makeMarker(parentOf(path)); // it outlives what is in it
      return places.store.put(places.keyOf(path), tombstone, write, condition);
    };
    return changes.commit({ path, mark, before: found.object }, bury, () => undefined);
  });
}

/** Removes a file, or without one the marker of a directory: what is put into it meanwhile keeps it. */
function removal(places: Places, path: string, file: StoredObject | undefined): Sending<void> {
  return {
    async send() {
      await places.makeMarker(parentOf(path)); // it outlives what is in it
      await places.store.remove(places.keyOf(file ? path : slashed(path)), file);
      places.saw(path, { kind: "nothing" });
    },
    outcome(now, said) {
      if (now.kind === "nothing") return said === "refused" ? "not-made" : { made: undefined };
      if (now.kind === "directory" || !file) return "unknown";
      return isKnownSince(file, now.object) ? "not-made" : "unknown";
    },
  };
}
