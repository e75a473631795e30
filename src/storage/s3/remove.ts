import { type CommitCheck, StorageError } from "../storage.ts";
import type { Changes, Sending, Tried } from "./changes.ts";
import { type Found, type Places, parentOf, slashed, unslashed } from "./places.ts";
import { isLostRace } from "./store-error.ts";
import { isKnownSince, newMark, newWrite, type StoredObject } from "./stored-object.ts";

const noContent = new Uint8Array();

/** Removes a file, or a directory that holds nothing. */
export async function remove(changes: Changes, path: string, check: CommitCheck | undefined): Promise<void> {
  if (path === "/") throw new StorageError("forbidden");
  const { places } = changes;
  const look = (): Promise<Found> => places.look(path);
  await changes.run(unslashed(path), look, async (found): Promise<Tried<void>> => {
    if (found.kind === "nothing") throw new StorageError("not-found");
    if (found.kind === "directory") await requireEmpty(places, path);
    else if (path.endsWith("/")) throw new StorageError("not-found");
    check?.(found.kind === "file" ? found.object.stat : found.stat);
    return removal(places, path, found.kind === "file" ? found.object : undefined);
  });
}

/** A request that removes a file, or without one the marker of a directory: what is put into that meanwhile keeps it. */
function removal(places: Places, path: string, file: StoredObject | undefined): Sending<void> {
  return {
    async send() {
      await keepDirectory(places, parentOf(path));
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

/** A directory is there as long as something in it is, or its marker. */
async function requireEmpty(places: Places, path: string): Promise<void> {
  const marker = places.keyOf(slashed(path));
  const { objects } = await places.store.list(marker, { MaxKeys: 2 });
  if (objects.some(({ key }) => key !== marker)) throw new StorageError("not-empty");
}

/** Makes the marker of a directory, which outlives what is in it. */
async function keepDirectory(places: Places, path: string): Promise<void> {
  if (path === "/") return;
  try {
    await places.store.put(places.keyOf(slashed(path)), noContent, newWrite(newMark(), undefined), {
      IfNoneMatch: "*",
    });
  } catch (error) {
    if (!isLostRace(error)) throw error; // it is there already
  }
}
