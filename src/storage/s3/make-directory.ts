import { StorageError } from "../storage.ts";
import { type Places, parentOf, slashed, unslashed } from "./places.ts";
import { isLostRace } from "./store-error.ts";
import { newMark, newWrite } from "./stored-object.ts";

/** Makes the marker of a directory that is not there, in one that is. */
export async function makeDirectory(places: Places, path: string): Promise<void> {
  if ((await places.look(unslashed(path))).kind !== "nothing") throw new StorageError("exists");
  const parent = parentOf(unslashed(path));
  const above = parent === "/" ? "directory" : (await places.look(unslashed(parent))).kind;
  if (above !== "directory") throw new StorageError(above === "file" ? "not-a-directory" : "no-parent");
  const write = newWrite(newMark(), undefined);
  try {
    await places.store.put(places.keyOf(slashed(path)), new Uint8Array(), write, { IfNoneMatch: "*" });
  } catch (error) {
    throw isLostRace(error) ? new StorageError("exists", error) : error;
  }
}
