import { type CommitCheck, StorageError } from "../storage.ts";
import { type Changes, judge, type Tried } from "./changes.ts";
import { type Found, type Places, parentOf, slashed, unslashed } from "./places.ts";
import { attemptsOf, isAbsent, isLostRace } from "./store-error.ts";
import { newWrite } from "./stored-object.ts";

const noContent = new Uint8Array();

/** Removes a file, or a directory that holds nothing. */
export async function remove(changes: Changes, path: string, check: CommitCheck | undefined): Promise<void> {
  if (path === "/") throw new StorageError("forbidden");
  const { places } = changes;
  const look = (): Promise<Found> => places.look(path);
  await changes.run(unslashed(path), look, async (found): Promise<Tried<void>> => {
    if (found.kind === "nothing") throw new StorageError("not-found");
    if (found.kind === "directory") {
      await removeDirectory(places, path, () => check?.(found.stat));
    } else {
      if (path.endsWith("/")) throw new StorageError("not-found");
      judge(check, found);
      await keepDirectory(places, parentOf(path));
      try {
        await places.store.remove(places.keyOf(path), found.object);
      } catch (error) {
        const isGone = isAbsent(error);
        if (!isGone && !isLostRace(error)) throw error;
        // Sent more than once, it was most likely the first that has removed it.
        if (!isGone || attemptsOf(error) === 1) return { again: await look() };
      }
    }
    places.saw(path, { kind: "nothing" });
    return { made: undefined };
  });
}

/** A directory is there as long as something in it is, or its marker. */
async function removeDirectory(places: Places, path: string, check: () => void): Promise<void> {
  const marker = places.keyOf(slashed(path));
  const { objects } = await places.store.list(marker, { MaxKeys: 2 });
  if (objects.some(({ key }) => key !== marker)) throw new StorageError("not-empty");
  check();
  await keepDirectory(places, parentOf(path));
  // Whatever is put into it meanwhile keeps it.
  await places.store.remove(marker);
}

/** Makes the marker of a directory, which outlives what is in it. */
async function keepDirectory(places: Places, path: string): Promise<void> {
  if (path === "/") return;
  try {
    await places.store.put(places.keyOf(slashed(path)), noContent, newWrite(undefined), { IfNoneMatch: "*" });
  } catch (error) {
    if (!isLostRace(error)) throw error; // it is there already
  }
}
